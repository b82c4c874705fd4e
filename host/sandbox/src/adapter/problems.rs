//! What is wrong with an input, each with the place where it is wrong.

use std::fmt::Write as _;

use bulkhead_domain::Problem;
use serde_json::Value;

/// A caller repairs an input from the first few; a list of a million wrong numbers would only
/// be a second large document.
const MAX_PROBLEMS: usize = 64;
/// Bytes of one name that the input chose, where it is repeated in a problem.
const MAX_SEGMENT_BYTES: usize = 128;
/// Names that a problem lists as allowed; a longer list is in the schema.
const MAX_NAMES_LISTED: usize = 16;

#[derive(Debug, Clone, Copy)]
enum Segment<'a> {
    Name(&'a str),
    Index(usize),
}

/// Collects problems while the input is walked.
#[derive(Debug, Default)]
pub(super) struct Problems<'a> {
    path: Vec<Segment<'a>>,
    found: Vec<Problem>,
    /// Whether there were more than are kept.
    more: bool,
}

impl<'a> Problems<'a> {
    /// Walks on into the property `name`, until [`Self::leave`].
    pub(super) fn enter(&mut self, name: &'a str) {
        self.path.push(Segment::Name(name));
    }

    /// Walks on into the item at `index`, until [`Self::leave`].
    pub(super) fn enter_item(&mut self, index: usize) {
        self.path.push(Segment::Index(index));
    }

    /// Walks back out.
    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    /// Adds a problem with the value at hand.
    pub(super) fn add(&mut self, message: impl Into<String>) {
        if self.found.len() < MAX_PROBLEMS {
            let at = pointer(&self.path);
            self.found.push(Problem {
                at,
                message: message.into(),
            });
        } else {
            self.more = true;
        }
    }

    /// Whether no further problem would be kept, so that looking for one is idle.
    pub(super) fn is_full(&self) -> bool {
        self.more
    }

    /// All problems in the order in which they were found.
    pub(super) fn into_vec(mut self) -> Vec<Problem> {
        if self.more {
            let message = format!("there are more problems than the {MAX_PROBLEMS} listed");
            self.found.push(Problem {
                at: String::new(),
                message,
            });
        }
        self.found
    }
}

/// JSON Pointer (RFC 6901).
fn pointer(path: &[Segment<'_>]) -> String {
    let mut text = String::new();
    for segment in path {
        text.push('/');
        match segment {
            Segment::Name(name) => {
                text.push_str(&shorten(name).replace('~', "~0").replace('/', "~1"));
            }
            Segment::Index(index) => {
                // Writing to a string can't fail.
                let _ = write!(text, "{index}");
            }
        }
    }
    text
}

/// `text`, cut where it is long.
pub(super) fn shorten(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= MAX_SEGMENT_BYTES {
        return text.into();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_SEGMENT_BYTES)]).into()
}

/// What is there, in words.
pub(super) fn found(json: &Value) -> String {
    match json {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => shorten(&number.to_string()).into_owned(),
        Value::String(text) => format!("the string {}", Value::from(shorten(text))),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// The names as alternatives.
pub(super) fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names = names.map(|name| format!("`{name}`"));
    let mut listed: Vec<_> = names.by_ref().take(MAX_NAMES_LISTED).collect();
    let more = names.count();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    match listed.as_slice() {
        [] => "nothing".into(),
        [only] => only.clone(),
        listed => format!("one of {}", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_json_pointer_with_its_escapes() {
        let mut problems = Problems::default();
        problems.enter("a/b");
        problems.enter_item(3);
        problems.enter("~");
        problems.add("wrong");
        let found = problems.into_vec();
        assert_eq!(found[0].at, "/a~1b/3/~0");
    }

    #[test]
    fn a_flood_of_problems_is_cut_and_says_so() {
        let mut problems = Problems::default();
        for _ in 0..10 * MAX_PROBLEMS {
            problems.add("wrong");
        }
        assert!(problems.is_full());
        let found = problems.into_vec();
        assert_eq!(found.len(), MAX_PROBLEMS + 1);
        assert!(found[MAX_PROBLEMS].message.contains("more problems"));
    }

    #[test]
    fn a_long_name_of_the_input_is_not_repeated_whole() {
        let long = "é".repeat(1_000);
        assert!(shorten(&long).len() <= MAX_SEGMENT_BYTES + '…'.len_utf8());
        assert_eq!(shorten("short"), "short");
    }
}
