//! The input: JSON into a tool's type, with the place of every problem.

use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};

use crate::Error;

/// Reads a tool's input. The host has checked it against the schema already; what is left are
/// rules that only the type knows.
pub fn parse_input<T: DeserializeOwned>(input: &str) -> Result<T, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(input);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let at = pointer(error.path());
        Error::invalid(at, without_position(error.inner()))
    })?;
    deserializer
        .end()
        .map_err(|error| Error::invalid("", without_position(&error)))?;
    Ok(value)
}

/// The path as a JSON Pointer. A path ends where it is unknown: the pointer then names the
/// nearest known place.
fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Enum { .. } => {}
            Segment::Unknown => break,
        }
    }
    pointer
}

/// serde_json's text without its line and column, which say nothing to a model that sees a value.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position)
        .map_or(text.clone(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::parse_input;
    use crate::Error;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[serde(rename = "a/b~c")]
        _items: Vec<Item>,
    }

    #[derive(Debug, Deserialize)]
    struct Item {
        _count: u8,
    }

    fn fault(input: &str) -> Error {
        parse_input::<Order>(input).expect_err("the input is wrong")
    }

    #[test]
    fn a_problem_has_its_json_pointer() {
        let error = fault(r#"{"a/b~c": [{"_count": 1}, {"_count": 256}]}"#);
        assert_eq!(
            error,
            Error::invalid(
                "/a~1b~0c/1/_count",
                "invalid value: integer `256`, expected u8"
            )
        );
    }

    #[test]
    fn a_missing_field_is_reported_where_it_is_missing() {
        assert_eq!(
            fault(r#"{"a/b~c": [{}]}"#),
            Error::invalid("/a~1b~0c/0", "missing field `_count`")
        );
    }

    #[test]
    fn text_after_the_input_is_refused() {
        assert_eq!(
            fault(r#"{"a/b~c": []} x"#),
            Error::invalid("", "trailing characters")
        );
    }
}
