//! One document: its title and its text.

use crate::dom::{Dom, NodeId, ROOT, Step};
use crate::link::Base;
use crate::main_content::MainContent;
use crate::{parse, render};

/// Characters of a title; longer ones are no titles.
const MAX_TITLE: usize = 300;

/// What a reader gets of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// The title; empty if it has none.
    pub(crate) title: String,
    /// Markdown, or the text as it is.
    pub(crate) text: String,
    /// Whether the document was too large to be read to its end.
    pub(crate) cut: bool,
}

/// Reads an HTML page that came from `url`.
pub(crate) fn from_html(html: &str, url: &str) -> Page {
    let parsed = parse::parse(html);
    let dom = &parsed.dom;
    let main = MainContent::find(dom);
    let base = Base::of(url, dom);
    let (text, cut) = render::markdown(render::Page {
        dom,
        main: &main,
        base: &base,
    });
    Page {
        title: title(dom),
        text,
        cut: cut || parsed.cut,
    }
}

/// Takes a text as it is, without control characters.
pub(crate) fn from_text(text: &str) -> Page {
    let text = text.replace("\r\n", "\n");
    let keep = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(keep).collect();
    Page {
        title: String::new(),
        text: text.trim_end().to_owned(),
        cut: false,
    }
}

/// The title of the page, else the one that it has for sharing, else its first heading.
fn title(dom: &Dom) -> String {
    let of = |id: NodeId| {
        let mut text = String::new();
        dom.walk(id, |step| {
            if let Step::Enter(id) = step
                && let crate::dom::Data::Text(part) = dom.data(id)
            {
                text.push_str(part);
            }
            true
        });
        line(&text)
    };
    // A `<title>` in a drawing is none of the page.
    let head = dom.find(ROOT, "head").unwrap_or(ROOT);
    let candidates = [
        dom.find(head, "title").map(of),
        shared_title(dom, head).map(line),
        dom.find(ROOT, "h1").map(of),
    ];
    candidates
        .into_iter()
        .flatten()
        .find(|title| !title.is_empty())
        .unwrap_or_default()
}

fn shared_title(dom: &Dom, head: NodeId) -> Option<&str> {
    let mut found = None;
    dom.walk(head, |step| {
        if let Step::Enter(id) = step
            && found.is_none()
            && dom.name(id) == "meta"
            && dom.attribute(id, "property") == Some("og:title")
        {
            found = dom.attribute(id, "content");
        }
        true
    });
    found
}

/// The text as one line.
fn line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !c.is_control()));
    }
    line.chars().take(MAX_TITLE).collect()
}
