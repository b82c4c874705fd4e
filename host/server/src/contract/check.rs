//! Values against the schemas of `bodies.json`, with the faults of the contract's own validator
//! (pydantic's: types, messages and places), and with what that validator converts.
//!
//! - `text`: strings, points in time, ids. `number`: integers, numbers, truths.
//! - `union`: values of one of several schemas.

mod number;
mod text;
mod union;

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::{fault::Fault, repr};

/// The schemas of all request bodies, by name; references are names.
static BODIES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    // A part of the binary: the tests read it too.
    serde_json::from_str(include_str!("bodies.json")).unwrap_or_default()
});

/// Nesting of bodies that is looked at; JSON itself is read no deeper.
const MAX_DEPTH: usize = 128;
/// Faults that one answer lists.
const MAX_FAULTS: usize = 50;

/// Checks a body against the schema `name` and gives it with defaults left out and values
/// converted, or every fault.
pub(super) fn check(name: &str, body: &Value) -> Result<Value, Vec<Fault>> {
    let mut checker = Checker { faults: Vec::new() };
    let mut place = vec![json!("body")];
    let value = checker.value(&json!({ "$ref": name }), body, &mut place, 0);
    if checker.faults.is_empty() {
        Ok(value)
    } else {
        Err(checker.faults)
    }
}

/// The schema of this name; one that is not there takes everything.
fn named(name: &str) -> &'static Value {
    BODIES.get(name).unwrap_or(&Value::Bool(true))
}

struct Checker {
    faults: Vec<Fault>,
}

impl Checker {
    fn note(&mut self, fault: Fault) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }

    fn fault(&mut self, kind: &'static str, place: &[Value], message: &str, input: &Value) {
        self.note(Fault::new(kind, place.to_vec(), message, input.clone()));
    }

    fn value(
        &mut self,
        schema: &Value,
        value: &Value,
        place: &mut Vec<Value>,
        depth: usize,
    ) -> Value {
        if depth > MAX_DEPTH {
            self.fault(
                "recursion_loop",
                place,
                "Input is nested too deeply",
                &Value::Null,
            );
            return Value::Null;
        }
        if let Some(name) = schema["$ref"].as_str() {
            let schema = named(name);
            // What has a name of its own is a type; choices at the field itself are literals.
            return match schema["enum"].as_array() {
                Some(choices) => self.choice("enum", choices, value, place),
                None => self.value(schema, value, place, depth + 1),
            };
        }
        if let Some(variants) = schema["anyOf"].as_array() {
            return self.any_of(variants, value, place, depth);
        }
        if let Some(variants) = schema["oneOf"].as_array() {
            let tag = schema["discriminator"].as_str().unwrap_or_default();
            return self.one_of(tag, variants, value, place, depth);
        }
        if let Some(choices) = schema["enum"].as_array() {
            return self.choice("literal_error", choices, value, place);
        }
        if let Some(constant) = schema.get("const") {
            let choices = std::slice::from_ref(constant);
            return self.choice("literal_error", choices, value, place);
        }
        match schema["type"].as_str() {
            Some("string") if schema["format"] == "date-time" => self.date(value, place),
            Some("string") => self.string(schema, value, place),
            Some("integer") => self.integer(schema, value, place),
            Some("number") => self.number(value, place),
            Some("boolean") => self.boolean(value, place),
            Some("array") => self.array(schema, value, place, depth),
            Some("object") => self.object(schema, value, place, depth),
            Some("null") if !value.is_null() => {
                self.fault("none_required", place, "Input should be None", value);
                Value::Null
            }
            _ => value.clone(),
        }
    }

    fn choice(
        &mut self,
        kind: &'static str,
        choices: &[Value],
        value: &Value,
        place: &[Value],
    ) -> Value {
        if choices.contains(value) {
            return value.clone();
        }
        let names: Vec<_> = choices.iter().map(repr::repr).collect();
        self.note(Fault::no_choice(
            kind,
            place.to_vec(),
            &names,
            value.clone(),
        ));
        Value::Null
    }

    fn array(
        &mut self,
        schema: &Value,
        value: &Value,
        place: &mut Vec<Value>,
        depth: usize,
    ) -> Value {
        let Some(items) = value.as_array() else {
            self.fault("list_type", place, "Input should be a valid list", value);
            return Value::Null;
        };
        let mut checked = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            place.push(json!(at));
            checked.push(self.value(&schema["items"], item, place, depth + 1));
            place.pop();
        }
        Value::Array(checked)
    }

    fn object(
        &mut self,
        schema: &Value,
        value: &Value,
        place: &mut Vec<Value>,
        depth: usize,
    ) -> Value {
        let Some(entries) = value.as_object() else {
            let (kind, message) = if schema["properties"].is_object() {
                (
                    "model_attributes_type",
                    "Input should be a valid dictionary or object to extract fields from",
                )
            } else {
                ("dict_type", "Input should be a valid dictionary")
            };
            self.fault(kind, place, message, value);
            return Value::Null;
        };
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        for required in schema["required"].as_array().into_iter().flatten() {
            let name = required.as_str().unwrap_or_default();
            if !entries.contains_key(name) {
                place.push(required.clone());
                self.fault("missing", place, "Field required", value);
                place.pop();
            }
        }
        let mut checked = Map::new();
        for (name, item) in entries {
            place.push(json!(name));
            let known = properties.get(name);
            match (known, &schema["additionalProperties"]) {
                (Some(schema), _) | (None, schema @ Value::Object(_)) => {
                    checked.insert(name.clone(), self.value(schema, item, place, depth + 1));
                }
                (None, Value::Bool(false)) => {
                    self.fault(
                        "extra_forbidden",
                        place,
                        "Extra inputs are not permitted",
                        item,
                    );
                }
                (None, _) if properties.is_empty() => {
                    checked.insert(name.clone(), item.clone());
                }
                // Ignored, as the contract says of bodies that forbid nothing.
                (None, _) => {}
            }
            place.pop();
        }
        Value::Object(checked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: &str, body: &Value) -> Vec<String> {
        let faults = check(name, body).expect_err("wrong");
        faults.iter().map(Fault::repr).collect()
    }

    #[test]
    fn every_reference_is_there() {
        assert!(BODIES.len() > 5);
        let text = include_str!("bodies.json");
        for part in text.split("\"$ref\": \"").skip(1) {
            let name = part.split('"').next().expect("a quote");
            assert!(BODIES.contains_key(name), "{name}");
        }
    }

    #[test]
    fn every_pattern_is_that_of_an_id() {
        let text = include_str!("bodies.json");
        for part in text.split("\"pattern\": \"").skip(1) {
            let pattern = part.split('"').next().expect("a quote");
            assert!(text::prefix(pattern).is_some(), "{pattern}");
        }
    }

    #[test]
    fn faults_are_said_as_the_contract_says_them() {
        assert_eq!(
            faults("ToolCreate", &json!({})),
            [
                "{'type': 'missing', 'loc': ('body', 'source_code'), 'msg': 'Field required', 'input': {}}"
            ]
        );
        assert_eq!(
            faults("ToolCreate", &json!({"source_code": "x", "name": "a"})),
            [
                "{'type': 'extra_forbidden', 'loc': ('body', 'name'), 'msg': 'Extra inputs are not permitted', 'input': 'a'}"
            ]
        );
        assert_eq!(
            faults(
                "ToolCreate",
                &json!({"source_code": 1, "return_char_limit": 0})
            )[1],
            "{'type': 'string_type', 'loc': ('body', 'source_code'), 'msg': 'Input should be a valid string', 'input': 1}"
        );
        let limit = &faults(
            "ToolCreate",
            &json!({"source_code": "", "return_char_limit": 0}),
        )[0];
        assert!(
            limit.contains(
                "'msg': 'Input should be greater than or equal to 1', 'input': 0, 'ctx': {'ge': 1}"
            ),
            "{limit}"
        );
        let tags = &faults("ToolCreate", &json!({"source_code": "", "tags": ["a", 1]}))[0];
        assert!(tags.contains("('body', 'tags', 1)"), "{tags}");
        assert_eq!(
            faults("ToolCreate", &json!([]))[0],
            "{'type': 'model_attributes_type', 'loc': ('body',), 'msg': 'Input should be a valid dictionary or object to extract fields from', 'input': []}"
        );
    }

    #[test]
    fn a_tagged_union_is_checked_as_the_variant_of_its_tag() {
        let rules = |rule: Value| faults("UpdateAgent", &json!({ "tool_rules": [rule] }));
        assert_eq!(
            rules(json!({})),
            [
                "{'type': 'union_tag_not_found', 'loc': ('body', 'tool_rules', 0), 'msg': \"Unable to extract tag using discriminator 'type'\", 'input': {}, 'ctx': {'discriminator': \"'type'\"}}"
            ]
        );
        let unknown = &rules(json!({ "type": "never" }))[0];
        assert!(
            unknown.contains("\"Input tag 'never' found using 'type' does not match any of the expected tags: 'constrain_child_tools', 'run_first', "),
            "{unknown}"
        );
        assert_eq!(
            rules(json!({ "type": "exit_loop", "x": 1 })),
            [
                "{'type': 'missing', 'loc': ('body', 'tool_rules', 0, 'exit_loop', 'tool_name'), 'msg': 'Field required', 'input': {'type': 'exit_loop', 'x': 1}}",
                "{'type': 'extra_forbidden', 'loc': ('body', 'tool_rules', 0, 'exit_loop', 'x'), 'msg': 'Extra inputs are not permitted', 'input': 1}"
            ]
        );
        assert_eq!(
            rules(json!("x")),
            [
                "{'type': 'model_attributes_type', 'loc': ('body', 'tool_rules', 0), 'msg': 'Input should be a valid dictionary or object to extract fields from', 'input': 'x'}"
            ]
        );
    }

    #[test]
    fn ids_numbers_and_dates_are_told_as_the_contract_tells_them() {
        let id = "block-00000000-0000-4000-8000-000000000000";
        assert!(check("UpdateAgent", &json!({ "block_ids": [id] })).is_ok());
        for (body, expected) in [
            (
                json!({ "block_ids": ["x"] }),
                "{'type': 'string_too_short', 'loc': ('body', 'block_ids', 0), 'msg': 'String should have at least 42 characters', 'input': 'x', 'ctx': {'min_length': 42}}",
            ),
            (
                json!({ "last_run_completion": "x" }),
                "{'type': 'datetime_from_date_parsing', 'loc': ('body', 'last_run_completion'), 'msg': 'Input should be a valid datetime or date, input is too short', 'input': 'x', 'ctx': {'error': 'input is too short'}}",
            ),
            (
                json!({ "compaction_settings": { "sliding_window_percentage": "x" } }),
                "{'type': 'float_parsing', 'loc': ('body', 'compaction_settings', 'sliding_window_percentage'), 'msg': 'Input should be a valid number, unable to parse string as a number', 'input': 'x'}",
            ),
            (
                json!({ "compaction_settings": { "mode": "x" } }),
                "{'type': 'literal_error', 'loc': ('body', 'compaction_settings', 'mode'), 'msg': \"Input should be 'all', 'sliding_window', 'self_compact_all' or 'self_compact_sliding_window'\", 'input': 'x', 'ctx': {'expected': \"'all', 'sliding_window', 'self_compact_all' or 'self_compact_sliding_window'\"}}",
            ),
        ] {
            assert_eq!(faults("UpdateAgent", &body), [expected]);
        }
        let wrong = id.replace("block-0", "block-x");
        let wrong = &faults("UpdateAgent", &json!({ "block_ids": [wrong] }))[0];
        assert!(wrong.contains("'string_pattern_mismatch'"), "{wrong}");
        let date = json!({ "last_run_completion": "2026-01-31" });
        let expected = json!({ "last_run_completion": "2026-01-31T00:00:00.000000Z" });
        assert_eq!(check("UpdateAgent", &date), Ok(expected));
    }

    #[test]
    fn a_value_keeps_its_type_where_one_of_several_has_it() {
        for value in [json!(true), json!(1), json!(1.5), json!("1"), json!({})] {
            let body = json!({ "key": "k", "type": "string", "value": value });
            assert_eq!(check("IdentityProperty", &body), Ok(body));
        }
    }

    #[test]
    fn what_the_contract_converts_is_converted() {
        let body = json!({"source_code": "x", "return_char_limit": "7", "enable_parallel_execution": "yes", "tags": null});
        let expected = json!({"source_code": "x", "return_char_limit": 7, "enable_parallel_execution": true, "tags": null});
        assert_eq!(check("ToolCreate", &body), Ok(expected));
        let ignored = json!({"name": "x", "version": "1", "other": 1});
        assert_eq!(
            check("PipRequirement", &ignored),
            Ok(json!({"name": "x", "version": "1"}))
        );
    }
}
