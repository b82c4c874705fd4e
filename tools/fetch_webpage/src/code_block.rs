//! A `<pre>` as a fenced block with its language.

use crate::dom::{Data, Dom, NodeId, Step};
use crate::main_content::MainContent;
use crate::spans::longest_run;

/// What class names put before a language, longest first.
const PREFIXES: [&str; 6] = [
    "highlight-source-",
    "highlight-text-",
    "highlight-",
    "sourceCode-",
    "language-",
    "lang-",
];
/// How far above a `<pre>` its language may stand; generators nest two or three elements.
const ANCESTORS: usize = 3;
/// A longer word is no language's name.
const MAX_NAME: usize = 32;

/// The block; empty if it holds nothing.
pub(crate) fn fenced(dom: &Dom, main: &MainContent, pre: NodeId) -> String {
    let text = text(dom, main, pre);
    let text = text.trim_matches('\n').trim_end();
    if text.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let language = language(dom, pre).unwrap_or_default();
    format!("{fence}{language}\n{text}\n{fence}")
}

/// The text as it stands, with a line for each element that is a line of its own.
pub(crate) fn text(dom: &Dom, main: &MainContent, top: NodeId) -> String {
    let mut out = String::new();
    let mut line_due = false;
    dom.walk(top, |step| match step {
        Step::Enter(id) => {
            if !main.shows(id) {
                return false;
            }
            match dom.data(id) {
                Data::Text(text) => {
                    if std::mem::take(&mut line_due) && !text.starts_with('\n') {
                        out.push('\n');
                    }
                    out.extend(
                        text.chars()
                            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t')),
                    );
                }
                Data::Element { name, .. } if &*name.local == "br" => out.push('\n'),
                Data::Element { .. } => {
                    line_due |= id != top && is_line(dom.name(id)) && breaks(&out);
                }
                Data::Other => {}
            }
            true
        }
        Step::Leave(id) => {
            line_due |= id != top && is_line(dom.name(id)) && breaks(&out);
            true
        }
    });
    out
}

fn is_line(name: &str) -> bool {
    matches!(name, "div" | "p" | "li" | "tr")
}

fn breaks(out: &str) -> bool {
    !out.is_empty() && !out.ends_with('\n')
}

fn language(dom: &Dom, pre: NodeId) -> Option<String> {
    let code = dom.find(pre, "code");
    let above = std::iter::successors(dom.parent(pre), |id| dom.parent(*id)).take(ANCESTORS);
    code.into_iter()
        .chain([pre])
        .chain(above)
        .find_map(|id| named(dom, id))
}

fn named(dom: &Dom, id: NodeId) -> Option<String> {
    let classes = dom.attribute(id, "class").unwrap_or("");
    let by_class = classes.split_whitespace().find_map(|class| {
        PREFIXES
            .iter()
            .find_map(|prefix| class.strip_prefix(prefix))
            .and_then(name)
    });
    by_class
        .or_else(|| dom.attribute(id, "data-lang").and_then(name))
        .or_else(|| dom.attribute(id, "data-language").and_then(name))
}

/// The word, if it may be the name of a language.
fn name(word: &str) -> Option<String> {
    let word = word.trim().to_ascii_lowercase();
    let fits = !word.is_empty()
        && word.len() <= MAX_NAME
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-#._".contains(&b));
    (fits && !matches!(&*word, "default" | "none" | "text" | "plaintext")).then_some(word)
}
