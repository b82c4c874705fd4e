//! Which part of a page is its content.
//!
//! A simple heuristic, the same for every site:
//!
//! 1. What nobody sees is dropped: scripts, styles, templates, embedded objects, form
//!    controls, `hidden`, `aria-hidden="true"`, `display:none`, `visibility:hidden`.
//! 2. What frames a page is dropped: `nav`, `footer`, `aside`, `form`, `dialog`, a `header`
//!    that belongs to no article and has no `h1`, and the ARIA roles for these. An element
//!    with more than half of the page's text is no frame, whatever it is called (whole pages
//!    stand in a `<form>`).
//! 3. The content is the largest `main` (or `role="main"`), else the largest `article` if it
//!    has most of the articles' text (else it is one of a list of teasers), else `body`.
//! 4. A content that is tiny is a mistake: below [`MIN_CONTENT`] characters `body` is taken
//!    if it has [`MIN_GAIN`] times as many, and if that is tiny too, rule 2 is taken back.

use crate::dom::{Data, Dom, NodeId, ROOT, Step};

/// Characters that a page's content has at least; less is a slogan or a loading message.
const MIN_CONTENT: u32 = 200;
/// How many times as much text the next larger choice must have to be taken instead.
const MIN_GAIN: u32 = 3;

/// What is known about a node before it is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Content,
    /// Rule 2: belongs to the page's frame.
    Frame,
    /// Rule 1: never shown.
    Hidden,
}

/// The content of a page.
#[derive(Debug)]
pub(crate) struct MainContent {
    /// The element to render.
    pub(crate) top: NodeId,
    kinds: Vec<Kind>,
    keep_frame: bool,
}

impl MainContent {
    /// Finds the content.
    pub(crate) fn find(dom: &Dom) -> Self {
        let mut kinds = vec![Kind::Content; dom.len()];
        let body = dom.find(ROOT, "body").unwrap_or(ROOT);
        let visible = weigh(dom, |id| {
            if is_hidden(dom, id) {
                kinds[id as usize] = Kind::Hidden;
            }
            kinds[id as usize] == Kind::Content
        });
        let total = visible[body as usize];
        let kept = weigh(dom, |id| {
            if kinds[id as usize] == Kind::Content
                && visible[id as usize] <= total / 2
                && is_frame(dom, id)
            {
                kinds[id as usize] = Kind::Frame;
            }
            kinds[id as usize] == Kind::Content
        });

        let mut top = candidate(dom, &kept, &kinds).unwrap_or(body);
        if is_tiny(kept[top as usize], kept[body as usize]) {
            top = body;
        }
        let keep_frame = top == body && is_tiny(kept[body as usize], total);
        Self {
            top,
            kinds,
            keep_frame,
        }
    }

    /// Whether a node is rendered.
    pub(crate) fn shows(&self, id: NodeId) -> bool {
        match self.kinds.get(id as usize) {
            Some(Kind::Hidden) => false,
            Some(Kind::Frame) => self.keep_frame,
            _ => true,
        }
    }
}

fn is_tiny(size: u32, next: u32) -> bool {
    size < MIN_CONTENT && next > size.saturating_mul(MIN_GAIN)
}

/// Characters of text in each node, white space and what `include` refuses left out.
fn weigh(dom: &Dom, mut include: impl FnMut(NodeId) -> bool) -> Vec<u32> {
    let mut weights = vec![0u32; dom.len()];
    dom.walk(ROOT, |step| match step {
        Step::Enter(id) => {
            let included = include(id);
            if included && let Data::Text(text) = dom.data(id) {
                let count = text.chars().filter(|c| !c.is_whitespace()).count();
                weights[id as usize] = u32::try_from(count).unwrap_or(u32::MAX);
            }
            included
        }
        Step::Leave(id) => {
            if let Some(parent) = dom.parent(id) {
                let weight = weights[id as usize];
                let sum = &mut weights[parent as usize];
                *sum = sum.saturating_add(weight);
            }
            true
        }
    });
    weights
}

/// Rule 3, without `body`.
fn candidate(dom: &Dom, weights: &[u32], kinds: &[Kind]) -> Option<NodeId> {
    let mut main: Option<NodeId> = None;
    let mut article: Option<NodeId> = None;
    let mut articles = 0u32;
    let mut depth_in_article = 0u32;
    let larger = |id: NodeId, than: Option<NodeId>| {
        than.is_none_or(|than| weights[id as usize] > weights[than as usize])
    };
    dom.walk(ROOT, |step| match step {
        Step::Enter(id) => {
            if kinds[id as usize] != Kind::Content {
                return false;
            }
            let name = dom.name(id);
            if (name == "main" || role(dom, id) == "main") && larger(id, main) {
                main = Some(id);
            }
            if name == "article" {
                if depth_in_article == 0 {
                    articles = articles.saturating_add(weights[id as usize]);
                    if larger(id, article) {
                        article = Some(id);
                    }
                }
                depth_in_article += 1;
            }
            true
        }
        Step::Leave(id) => {
            if dom.name(id) == "article" && kinds[id as usize] == Kind::Content {
                depth_in_article = depth_in_article.saturating_sub(1);
            }
            true
        }
    });
    main.or_else(|| article.filter(|id| weights[*id as usize] > articles / 2))
}

fn role(dom: &Dom, id: NodeId) -> &str {
    dom.attribute(id, "role").unwrap_or("").trim()
}

/// Rule 1.
fn is_hidden(dom: &Dom, id: NodeId) -> bool {
    let name = dom.name(id);
    if matches!(name, "html" | "body" | "main" | "") {
        return false;
    }
    if matches!(
        name,
        "script"
            | "style"
            | "template"
            | "head"
            | "object"
            | "embed"
            | "iframe"
            | "frame"
            | "noframes"
            | "noembed"
            | "applet"
            | "canvas"
            | "audio"
            | "video"
            | "svg"
            | "map"
            | "input"
            | "select"
            | "textarea"
            | "datalist"
            | "option"
    ) {
        return true;
    }
    // Questions of a list of questions and answers are often buttons in headings.
    if name == "button" && !has_ancestor(dom, id, &["h1", "h2", "h3", "h4", "h5", "h6", "summary"])
    {
        return true;
    }
    let is_true = |value: &str| value.trim().eq_ignore_ascii_case("true");
    dom.attribute(id, "hidden").is_some()
        || dom.attribute(id, "aria-hidden").is_some_and(is_true)
        || dom.attribute(id, "style").is_some_and(hides)
}

/// Whether an inline style takes the element off the page.
fn hides(style: &str) -> bool {
    style.split(';').any(|declaration| {
        let Some((property, value)) = declaration.split_once(':') else {
            return false;
        };
        let value = value.trim().to_ascii_lowercase();
        let value = value.trim_end_matches("!important").trim_end();
        match property.trim().to_ascii_lowercase().as_str() {
            "display" => value == "none",
            "visibility" => value == "hidden" || value == "collapse",
            _ => false,
        }
    })
}

/// Rule 2, without its exception for large elements.
fn is_frame(dom: &Dom, id: NodeId) -> bool {
    let by_name = match dom.name(id) {
        "" | "html" | "body" | "main" | "article" => return false,
        "nav" | "footer" | "aside" | "form" | "dialog" | "menu" => true,
        "header" => {
            !has_ancestor(dom, id, &["article", "main", "section"]) && dom.find(id, "h1").is_none()
        }
        _ => false,
    };
    by_name
        || matches!(
            role(dom, id),
            "navigation"
                | "contentinfo"
                | "complementary"
                | "search"
                | "dialog"
                | "alertdialog"
                | "menu"
                | "menubar"
                | "toolbar"
        )
}

/// How far up an ancestor is looked for: names that matter stand close, and a page of
/// nothing but deep nesting must not cost the square of its size.
const ANCESTORS: usize = 64;

fn has_ancestor(dom: &Dom, id: NodeId, names: &[&str]) -> bool {
    std::iter::successors(dom.parent(id), |id| dom.parent(*id))
        .take(ANCESTORS)
        .any(|id| names.contains(&dom.name(id)))
}
