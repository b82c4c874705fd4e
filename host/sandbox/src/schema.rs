//! Checks JSON against a tool's schema: every problem, each with its JSON Pointer.

mod cost;
mod unique;

use bulkhead_domain::Problem;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Problems that one answer lists. A model repairs a call from the first few.
const MAX_PROBLEMS: usize = 32;
/// Characters of one problem's text; a schema may quote the whole input in it.
const MAX_MESSAGE: usize = 400;

/// Bytes of one compiled pattern and of the cache that it runs with. The default of 10 MiB each,
/// times the patterns of a hostile schema, is gigabytes.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// Bytes of one compiled part: a keyword's validator with its place in the schema.
const PART_BYTES: u64 = 512;

/// A compiled schema.
#[derive(Debug)]
pub struct InputCheck {
    validator: Validator,
    /// Levels of a value that may be checked: a schema that refers to itself costs the more the
    /// deeper the value is.
    max_depth: usize,
    weight: u64,
}

impl InputCheck {
    /// Compiles a schema (JSON Schema 2020-12). References to other documents are refused,
    /// patterns run in linear time, and what checking can cost is bounded, because schemas come
    /// from guests and are checked outside of their fuel. The error says why it is refused.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let cost = cost::of(schema)?;
        let patterns = PatternOptions::regex()
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES);
        let validator = jsonschema::draft202012::options()
            .with_pattern_options(patterns)
            .build(schema)
            .map_err(|error| error.to_string())?;
        let patterns = cost.patterns.saturating_mul(2 * MAX_PATTERN_BYTES as u64);
        Ok(Self {
            validator,
            max_depth: cost.max_depth,
            weight: cost
                .parts
                .saturating_mul(PART_BYTES)
                .saturating_add(patterns),
        })
    }

    /// Bytes of memory that it takes at most, estimated, for whoever keeps many.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Every problem of a JSON text, up to a limit.
    pub fn check_text(&self, text: &str) -> Result<Value, Vec<Problem>> {
        let value = unique::from_str(text).map_err(|error| {
            vec![Problem {
                at: String::new(),
                message: format!("not valid JSON: {error}"),
            }]
        })?;
        self.check(&value)?;
        Ok(value)
    }

    /// Every problem of a value, up to a limit.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        if !cost::is_within_depth(value, self.max_depth) {
            let message = format!("nested deeper than {} levels", self.max_depth);
            return Err(vec![Problem {
                at: String::new(),
                message,
            }]);
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let problems = self
            .validator
            .iter_errors(value)
            .take(MAX_PROBLEMS)
            .map(|error| {
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
    fn a_key_that_stands_twice_is_refused() {
        let problems = check().check_text(r#"{"n": 1, "n": 0}"#);
        let problems = problems.expect_err("a guest might read the other one");
        assert!(
            problems[0].message.contains("\"n\" stands twice"),
            "{problems:?}"
        );
    }

    #[test]
    fn a_reference_to_another_document_is_refused() {
        assert!(InputCheck::new(&json!({"$ref": "http://127.0.0.1:1/schema.json"})).is_err());
        assert!(InputCheck::new(&json!({"$ref": "file:///etc/passwd"})).is_err());
    }

    #[test]
    fn a_schema_that_doubles_at_every_level_is_refused() {
        let mut definitions = serde_json::Map::new();
        for at in 0..40 {
            let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
            definitions.insert(format!("a{at}"), json!({"allOf": [next.clone(), next]}));
        }
        definitions.insert("a40".to_owned(), json!({"type": "object"}));
        let schema = json!({"type": "object", "$ref": "#/$defs/a0", "$defs": definitions});
        assert!(InputCheck::new(&schema).is_err());
    }

    #[test]
    fn a_chain_of_references_that_would_overflow_the_stack_is_refused() {
        let mut definitions = serde_json::Map::new();
        for at in 0..1_300 {
            let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
            definitions.insert(format!("a{at}"), json!({"allOf": [next, true]}));
        }
        definitions.insert("a1300".to_owned(), json!({"items": {"$ref": "#/$defs/a0"}}));
        let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a0"}},
            "$defs": definitions});
        assert!(InputCheck::new(&schema).is_err());
    }

    #[test]
    fn a_recursive_schema_works_and_limits_how_deep_its_values_are() {
        let schema = json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/tree"}},
            "$defs": {"tree": {"type": "object", "properties":
                {"l": {"$ref": "#/$defs/tree"}, "r": {"$ref": "#/$defs/tree"}}}}});
        let check = InputCheck::new(&schema).expect("trees are fine");
        let tree = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"l": inner}));
        assert!(check.check(&json!({"root": tree(10)})).is_ok());
        let problems = check
            .check(&json!({"root": tree(100)}))
            .expect_err("too deep");
        assert!(problems[0].message.contains("deeper"), "{problems:?}");
    }

    #[test]
    fn a_pattern_that_would_backtrack_for_ever_answers_at_once() {
        let check = InputCheck::new(&json!({"type": "string", "pattern": "^(a+)+$"}));
        let input = format!("\"{}!\"", "a".repeat(10_000));
        assert!(check.expect("a valid schema").check_text(&input).is_err());
    }
}
