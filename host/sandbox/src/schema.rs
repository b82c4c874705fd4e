//! Checks JSON against a tool's schema: every problem, each with its JSON Pointer.

use bulkhead_domain::Problem;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Problems that one answer lists. A model repairs a call from the first few.
const MAX_PROBLEMS: usize = 32;
/// Characters of one problem's text; a schema may quote the whole input in it.
const MAX_MESSAGE: usize = 400;

/// A compiled schema.
pub(crate) struct InputCheck(Validator);

impl InputCheck {
    /// Compiles a schema (JSON Schema 2020-12). References to other documents are refused,
    /// and patterns run in linear time, because schemas come from guests.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        jsonschema::draft202012::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    /// Every problem of a JSON text, up to a limit.
    pub(crate) fn check_text(&self, text: &str) -> Result<Value, Vec<Problem>> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            vec![Problem {
                at: String::new(),
                message: format!("not valid JSON: {error}"),
            }]
        })?;
        self.check(&value)?;
        Ok(value)
    }

    /// Every problem of a value, up to a limit.
    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        let problems = self.0.iter_errors(value).take(MAX_PROBLEMS).map(|error| {
            let mut message = error.to_string();
            if message.len() > MAX_MESSAGE {
                message.truncate(message.floor_char_boundary(MAX_MESSAGE));
                message.push('…');
            }
            Problem {
                at: error.instance_path().to_string(),
                message,
            }
        });
        Err(problems.collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check() -> InputCheck {
        InputCheck::new(&json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "items": {"type": "string"}}
            },
            "required": ["n"],
            "additionalProperties": false
        }))
        .expect("a valid schema")
    }

    #[test]
    fn every_problem_is_named_with_its_pointer() {
        let problems = check()
            .check_text(r#"{"n": 0, "tags": ["a", 1], "x": 1}"#)
            .expect_err("bad");
        let at: Vec<_> = problems.iter().map(|problem| problem.at.as_str()).collect();
        assert!(
            at.contains(&"/n") && at.contains(&"/tags/1") && at.contains(&""),
            "{problems:?}"
        );
    }

    #[test]
    fn text_that_is_no_json_is_a_problem_of_the_whole_input() {
        let problems = check().check_text("{").expect_err("bad");
        assert_eq!(problems[0].at, "");
    }

    #[test]
    fn a_reference_to_another_document_is_refused() {
        assert!(InputCheck::new(&json!({"$ref": "http://127.0.0.1:1/schema.json"})).is_err());
        assert!(InputCheck::new(&json!({"$ref": "file:///etc/passwd"})).is_err());
    }

    #[test]
    fn a_pattern_that_would_backtrack_for_ever_answers_at_once() {
        let check = InputCheck::new(&json!({"type": "string", "pattern": "^(a+)+$"}));
        let input = format!("\"{}!\"", "a".repeat(10_000));
        assert!(check.expect("a valid schema").check_text(&input).is_err());
    }
}
