//! Documentation comments: which belongs to what, and what stands in it.

use oxc_ast::ast::Program;

/// The documentation comments of a program.
pub(crate) struct Comments<'p> {
    /// Where what is documented begins, and the comment's content.
    found: Vec<(u32, &'p str)>,
}

impl<'p> Comments<'p> {
    pub(crate) fn new(program: &'p Program<'p>) -> Self {
        let text = program.source_text;
        let found = program.comments.iter().filter(|comment| comment.is_jsdoc());
        let found = found.filter_map(|comment| {
            let span = comment.content_span();
            let content = text.get(span.start as usize..span.end as usize)?;
            Some((comment.attached_to, content))
        });
        Self {
            found: found.collect(),
        }
    }

    /// The comment before what begins at `start`; the last of several.
    pub(crate) fn at(&self, start: u32) -> Option<Doc> {
        let mut found = self.found.iter().rev();
        let (_, content) = found.find(|(at, _)| *at == start)?;
        Some(Doc::parse(content))
    }

    /// The description before what begins at `start`; empty without one.
    pub(crate) fn description_at(&self, start: u32) -> String {
        self.at(start)
            .map_or_else(String::new, |doc| doc.description)
    }
}

/// What a documentation comment says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Doc {
    pub(crate) description: String,
    pub(crate) parameters: Vec<Documented>,
}

/// `@param {kind} [path=default] - description`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Documented {
    /// The parameter's name, or with dots a property of it.
    pub(crate) path: String,
    pub(crate) kind: Option<String>,
    pub(crate) optional: bool,
    pub(crate) description: String,
}

impl Doc {
    /// Reads the content of a comment.
    pub(crate) fn parse(content: &str) -> Self {
        let mut doc = Self::default();
        let mut description = String::new();
        let mut tag: Option<String> = None;
        for line in content.trim_start_matches('*').lines() {
            let line = line.trim();
            let line = line.strip_prefix('*').map_or(line, str::trim_start);
            if line.starts_with('@') {
                doc.end_tag(tag.replace(line.to_owned()), &mut description);
            } else if let Some(tag) = &mut tag {
                tag.push('\n');
                tag.push_str(line);
            } else {
                description.push_str(line);
                description.push('\n');
            }
        }
        doc.end_tag(tag, &mut description);
        doc.description = description.trim().to_owned();
        doc
    }

    fn end_tag(&mut self, tag: Option<String>, description: &mut String) {
        let Some(tag) = tag else {
            return;
        };
        let (name, rest) = tag
            .split_once(char::is_whitespace)
            .unwrap_or((tag.as_str(), ""));
        match name {
            "@param" | "@arg" | "@argument" => self.parameters.extend(parameter(rest)),
            "@description" | "@desc" | "@summary" => {
                description.push_str(rest);
                description.push('\n');
            }
            _ => {}
        }
    }

    /// What is said of a parameter, or of a property of one.
    pub(crate) fn parameter(&self, path: &str) -> Option<&Documented> {
        self.parameters.iter().find(|it| it.path == path)
    }

    /// What is said of the properties of a parameter: their names, and the entry.
    pub(crate) fn properties<'d>(&'d self, path: &str) -> Vec<(&'d str, &'d Documented)> {
        let inner = |it: &'d Documented| {
            let name = it.path.strip_prefix(path)?;
            let name = name.strip_prefix("[]").unwrap_or(name).strip_prefix('.')?;
            (!name.contains('.')).then_some((name, it))
        };
        self.parameters.iter().filter_map(inner).collect()
    }
}

fn parameter(text: &str) -> Option<Documented> {
    let mut rest = text.trim_start();
    let mut found = Documented::default();
    if rest.starts_with('{') {
        let end = closing(rest, '{', '}')?;
        found.kind = Some(rest[1..end].trim().to_owned());
        rest = rest[end + 1..].trim_start();
    }
    if rest.starts_with('[') {
        let end = closing(rest, '[', ']')?;
        let inner = &rest[1..end];
        let name = inner.split_once('=').map_or(inner, |(name, _)| name);
        found.path = name.trim().to_owned();
        found.optional = true;
        rest = &rest[end + 1..];
    } else {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        found.path = rest[..end].to_owned();
        rest = &rest[end..];
    }
    let description = rest.trim_start();
    let description = description.strip_prefix('-').unwrap_or(description);
    found.description = description.trim().to_owned();
    (!found.path.is_empty()).then_some(found)
}

/// Where the bracket that `text` begins with is closed.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Doc, Documented};

    #[test]
    fn a_comment_has_a_description_and_parameters() {
        let doc = Doc::parse(
            "*\n * Adds.\n *\n * Twice.\n * @param {number} a - the first\n *   of two\n * @param {{x: string}} [b={}] more\n * @param c.d text\n * @returns {number} the sum\n ",
        );
        assert_eq!(doc.description, "Adds.\n\nTwice.");
        assert_eq!(doc.parameters.len(), 3);
        assert_eq!(
            doc.parameter("a").expect("a").description,
            "the first\nof two"
        );
        let expected = Documented {
            path: "b".to_owned(),
            kind: Some("{x: string}".to_owned()),
            optional: true,
            description: "more".to_owned(),
        };
        assert_eq!(doc.parameter("b"), Some(&expected));
        assert_eq!(doc.properties("c")[0].0, "d");
    }

    #[test]
    fn a_broken_tag_is_no_parameter() {
        assert_eq!(Doc::parse("* @param {number a\n * @param").parameters, []);
    }
}
