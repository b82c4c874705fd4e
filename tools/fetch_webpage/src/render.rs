//! From the tree to Markdown.

use std::rc::Rc;

use crate::blocks::Blocks;
use crate::dom::{Data, Dom, NodeId, Step};
use crate::link::Base;
use crate::main_content::MainContent;
use crate::spans::{Marks, Place, Spans};
use crate::{code_block, table::Table};

/// Bytes of Markdown of one page. Repeated addresses can make it longer than the page itself;
/// more than this is no text for a reader.
const MAX_MARKDOWN: usize = 4 << 20;
/// Exponents longer than this are notes.
const MAX_EXPONENT: usize = 4;

/// A page to render.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page<'a> {
    /// The tree.
    pub(crate) dom: &'a Dom,
    /// Its content.
    pub(crate) main: &'a MainContent,
    /// Where its addresses start from.
    pub(crate) base: &'a Base,
}

/// The page's content as Markdown, and whether it was cut for its length.
pub(crate) fn markdown(page: Page<'_>) -> (String, bool) {
    let mut renderer = Renderer::new(page, Place::Paragraph, 0);
    renderer.render(page.main.top);
    let cut = renderer.is_full();
    (renderer.blocks.finish(), cut)
}

struct List {
    /// The number of the next item; none for a list without numbers.
    next: Option<i64>,
}

/// The state of a walk through the tree.
struct Renderer<'a> {
    page: Page<'a>,
    /// `Cell` for a renderer of one cell of a table, where blocks are lines.
    place: Place,
    blocks: Blocks,
    spans: Spans,
    marks: Marks,
    /// Marks outside of an element that changed them, and how many spans there were.
    outside: Vec<(NodeId, Marks, usize)>,
    lists: Vec<List>,
    heading: Option<usize>,
    /// The node that was not gone into; its end is no event.
    passed: Option<NodeId>,
    /// Bytes written so far, repeated ones included.
    spent: usize,
}

impl<'a> Renderer<'a> {
    fn new(page: Page<'a>, place: Place, spent: usize) -> Self {
        Self {
            page,
            place,
            blocks: Blocks::default(),
            spans: Spans::default(),
            marks: Marks::default(),
            outside: Vec::new(),
            lists: Vec::new(),
            heading: None,
            passed: None,
            spent,
        }
    }

    fn render(&mut self, top: NodeId) {
        let dom = self.page.dom;
        dom.walk(top, |step| match step {
            Step::Enter(id) => {
                let inside = self.enter(id);
                if !inside {
                    self.passed = Some(id);
                }
                inside
            }
            Step::Leave(id) => {
                if self.passed.take() != Some(id) {
                    self.leave(id);
                }
                true
            }
        });
        if self.place != Place::Cell {
            self.flush();
        }
    }

    fn is_full(&self) -> bool {
        self.spent + self.blocks.len() >= MAX_MARKDOWN
    }

    /// Whether to go into the node.
    fn enter(&mut self, id: NodeId) -> bool {
        if !self.page.main.shows(id) || self.is_full() {
            return false;
        }
        let dom = self.page.dom;
        let name = match dom.data(id) {
            Data::Text(text) => {
                self.spent += text.len();
                self.spans.push_text(&self.marks, text);
                return false;
            }
            Data::Element { name, .. } => &*name.local,
            Data::Other => return true,
        };
        match name {
            "br" => self.line_break(),
            "hr" => {
                self.flush();
                if self.place != Place::Cell {
                    self.blocks.block("---");
                }
            }
            "img" => self.image(id),
            "math" => return self.formula(id),
            "pre" if self.place != Place::Cell => {
                self.flush();
                self.blocks
                    .block(&code_block::fenced(dom, self.page.main, id));
                return false;
            }
            "table" if self.place != Place::Cell => {
                self.flush();
                return !self.table(id);
            }
            "a" if self.heading.is_some() && self.is_permalink(id) => return false,
            "a" => {
                let target = dom
                    .attribute(id, "href")
                    .and_then(|href| self.page.base.link(href));
                self.spent += target.as_ref().map_or(0, String::len);
                self.mark(id, |marks| marks.link = target.map(Rc::from));
            }
            "b" | "strong" => self.mark(id, |marks| marks.strong = true),
            "dt" | "summary" => {
                self.flush();
                self.mark(id, |marks| marks.strong = true);
            }
            "i" | "em" | "var" | "dfn" | "cite" => self.mark(id, |marks| marks.emphasis = true),
            "figcaption" | "caption" => {
                self.flush();
                self.mark(id, |marks| marks.emphasis = true);
            }
            "s" | "del" | "strike" => self.mark(id, |marks| marks.struck = true),
            "code" | "kbd" | "samp" | "tt" => self.mark(id, |marks| marks.code = true),
            "q" => self.spans.push_text(&self.marks, "“"),
            "sup" => self.exponent(id),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                self.heading = name[1..].parse().ok();
            }
            "ul" | "ol" | "menu" | "dir" => {
                self.flush();
                self.open_list(id, name == "ol");
            }
            "li" | "dd" => {
                self.flush();
                self.open_item(id, name);
            }
            "blockquote" => {
                self.flush();
                self.blocks.open_quote();
            }
            _ if is_block(name) => self.flush(),
            _ => {}
        }
        true
    }

    fn leave(&mut self, id: NodeId) {
        let name = self.page.dom.name(id);
        match name {
            "a" => {
                let start = self.outside.last().map_or(0, |(_, _, start)| *start);
                self.name_link(id, start);
            }
            "q" => self.spans.push_text(&self.marks, "”"),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                self.heading = None;
            }
            "ul" | "ol" | "menu" | "dir" => {
                self.flush();
                self.lists.pop();
            }
            "li" | "dd" | "blockquote" => {
                self.flush();
                self.blocks.close();
            }
            "dt" | "summary" | "figcaption" | "caption" => self.flush(),
            _ if is_block(name) => self.flush(),
            _ => {}
        }
        if self
            .outside
            .last()
            .is_some_and(|(changed, _, _)| *changed == id)
            && let Some((_, marks, _)) = self.outside.pop()
        {
            self.marks = marks;
        }
    }

    /// Changes the marks until the element's end.
    fn mark(&mut self, id: NodeId, change: impl FnOnce(&mut Marks)) {
        self.outside
            .push((id, self.marks.clone(), self.spans.len()));
        change(&mut self.marks);
    }

    /// Ends the block that is being written.
    fn flush(&mut self) {
        if self.place == Place::Cell {
            self.spans.push_break();
            return;
        }
        let place = if self.heading.is_some() {
            Place::Heading
        } else {
            Place::Paragraph
        };
        let mut text = self.spans.take(place);
        if text.is_empty() {
            return;
        }
        // A block in an unclosed heading is no part of it: only the first is the heading.
        if let Some(level) = self.heading.take() {
            text.insert_str(0, &format!("{} ", "#".repeat(level)));
        }
        self.blocks.block(&text);
        // A link that goes on is written once more.
        self.spent += self.marks.link.as_ref().map_or(0, |link| link.len());
    }

    fn line_break(&mut self) {
        self.spent += self.marks.link.as_ref().map_or(0, |link| link.len());
        if self.spans.push_break() && self.heading.is_none() {
            self.flush();
        }
    }

    fn image(&mut self, id: NodeId) {
        let dom = self.page.dom;
        let attribute = |name| {
            dom.attribute(id, name)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        // An image without a text is decoration.
        let Some(alt) = attribute("alt").or_else(|| attribute("title")) else {
            return;
        };
        // Pages that load images late keep the address in another attribute.
        let source = ["src", "data-src", "data-original"]
            .into_iter()
            .find_map(|name| self.page.base.image(attribute(name)?));
        self.spent += alt.len() + source.as_ref().map_or(0, String::len);
        match source {
            Some(source) => self.spans.push_image(&self.marks, alt, source),
            None => self.spans.push_text(&self.marks, alt),
        }
    }

    /// A formula has its source as text.
    fn formula(&mut self, id: NodeId) -> bool {
        let Some(source) = self.page.dom.attribute(id, "alttext") else {
            return true;
        };
        self.spent += source.len();
        let marks = Marks {
            code: true,
            ..self.marks.clone()
        };
        self.spans.push_text(&marks, source);
        false
    }

    /// A link that shows nothing is named by what it has for people who can't see it.
    fn name_link(&mut self, id: NodeId, start: usize) {
        if self.marks.link.is_none() || self.spans.shows_since(start) {
            return;
        }
        let dom = self.page.dom;
        if let Some(name) = dom
            .attribute(id, "aria-label")
            .or_else(|| dom.attribute(id, "title"))
        {
            self.spent += name.len();
            self.spans.push_text(&self.marks, name);
        }
    }

    /// Whether a link in a heading is the sign that links to the heading itself.
    fn is_permalink(&self, id: NodeId) -> bool {
        let text = code_block::text(self.page.dom, self.page.main, id);
        matches!(text.trim(), "¶" | "#" | "§" | "🔗")
    }

    fn exponent(&mut self, id: NodeId) {
        let text = code_block::text(self.page.dom, self.page.main, id);
        let text = text.trim();
        let short = !text.is_empty() && text.chars().count() <= MAX_EXPONENT;
        if short
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || "+-−".contains(c))
            && self.spans.ends_in_word()
        {
            self.spans.push_text(&self.marks, "^");
        }
    }

    fn open_list(&mut self, id: NodeId, ordered: bool) {
        let start = self
            .page
            .dom
            .attribute(id, "start")
            .and_then(|start| start.trim().parse().ok());
        self.lists.push(List {
            next: ordered.then(|| start.unwrap_or(1)),
        });
        if self.blocks.in_item() {
            self.blocks.tight();
        }
    }

    fn open_item(&mut self, id: NodeId, name: &str) {
        let numbered = name == "li";
        let next = self
            .lists
            .last_mut()
            .filter(|_| numbered)
            .and_then(|list| list.next.as_mut());
        let marker = match next {
            Some(next) => {
                let value = self
                    .page
                    .dom
                    .attribute(id, "value")
                    .and_then(|value| value.trim().parse().ok());
                let number = value.unwrap_or(*next);
                *next = number.saturating_add(1);
                format!("{number}. ")
            }
            None => "- ".to_owned(),
        };
        if self.place == Place::Cell {
            self.spans.push_text(&self.marks, &marker);
        }
        if !numbered || self.follows_item(id) {
            self.blocks.tight();
        }
        self.blocks.open_item(marker);
    }

    /// Whether the element before is an item, too.
    fn follows_item(&self, id: NodeId) -> bool {
        let dom = self.page.dom;
        std::iter::successors(dom.previous(id), |id| dom.previous(*id))
            .find(|id| !dom.name(*id).is_empty())
            .is_some_and(|id| dom.name(id) == "li")
    }

    /// Whether the table is one of data, and written.
    fn table(&mut self, id: NodeId) -> bool {
        let Some(table) = Table::read(self.page.dom, self.page.main, id) else {
            return false;
        };
        if let Some(caption) = table.caption {
            let text = self.cell(caption);
            self.blocks.block(&text);
        }
        let text = table.write(|cell| self.cell(cell));
        self.blocks.block(&text);
        true
    }

    fn cell(&mut self, id: NodeId) -> String {
        let mut cell = Renderer::new(self.page, Place::Cell, self.spent + self.blocks.len());
        cell.render(id);
        let text = cell.spans.take(Place::Cell);
        self.spent += text.len();
        text
    }
}

/// Elements that begin and end a block and mean nothing else here.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "body"
            | "div"
            | "p"
            | "section"
            | "article"
            | "main"
            | "header"
            | "footer"
            | "nav"
            | "aside"
            | "address"
            | "figure"
            | "form"
            | "fieldset"
            | "legend"
            | "details"
            | "dl"
            | "center"
            | "hgroup"
            | "dialog"
            | "search"
            | "table"
            | "thead"
            | "tbody"
            | "tfoot"
            | "tr"
            | "td"
            | "th"
            | "pre"
            | "listing"
            | "xmp"
            | "plaintext"
            | "noscript"
            | "optgroup"
            | "frameset"
            | "template"
    )
}
