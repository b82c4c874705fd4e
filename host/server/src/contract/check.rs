//! Values against the schemas of `bodies.json`, with the faults of the contract's own validator
//! (pydantic's: types, messages and places), and with what that validator converts.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::repr;

/// The schemas of all request bodies, by name; references are names.
static BODIES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    // A part of the binary: the tests read it too.
    serde_json::from_str(include_str!("bodies.json")).unwrap_or_default()
});

/// Nesting of bodies that is looked at; JSON itself is read no deeper.
const MAX_DEPTH: usize = 128;
/// Faults that one answer lists.
const MAX_FAULTS: usize = 50;

/// Something wrong, as pydantic says it.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    kind: &'static str,
    /// Where, from the body down: names as strings, places in lists as numbers.
    place: Vec<Value>,
    message: String,
    input: Value,
    context: Option<Value>,
}

impl Fault {
    /// As it stands in the list of faults, which clients get as one text.
    pub(super) fn repr(&self) -> String {
        let place: Vec<_> = self.place.iter().map(repr::repr).collect();
        let comma = if place.len() == 1 { "," } else { "" };
        let context = self.context.as_ref().map_or_else(String::new, |context| {
            format!(", 'ctx': {}", repr::repr(context))
        });
        format!(
            "{{'type': '{}', 'loc': ({}{comma}), 'msg': {}, 'input': {}{context}}}",
            self.kind,
            place.join(", "),
            repr::repr(&json!(self.message)),
            repr::repr(&self.input)
        )
    }
}

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

struct Checker {
    faults: Vec<Fault>,
}

impl Checker {
    fn fault(&mut self, kind: &'static str, place: &[Value], message: &str, input: &Value) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault {
                kind,
                place: place.to_vec(),
                message: message.to_owned(),
                input: input.clone(),
                context: None,
            });
        }
    }

    fn bound(
        &mut self,
        kind: &'static str,
        place: &[Value],
        words: &str,
        key: &str,
        bound: &Value,
        input: &Value,
    ) {
        self.fault(
            kind,
            place,
            &format!("Input should be {words} {bound}"),
            input,
        );
        if let Some(fault) = self.faults.last_mut() {
            fault.context = Some(json!({ key: bound }));
        }
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
            let schema = BODIES.get(name).unwrap_or(&Value::Bool(true));
            return self.value(schema, value, place, depth + 1);
        }
        if let Some(variants) = schema["anyOf"].as_array() {
            return self.any_of(variants, value, place, depth);
        }
        if let Some(choices) = schema["enum"].as_array() {
            return self.choice(choices, value, place);
        }
        match schema["type"].as_str() {
            Some("string") => self.string(schema, value, place),
            Some("integer") => self.integer(schema, value, place),
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

    /// The first variant that fits; null where it is one; the faults of the others otherwise.
    fn any_of(
        &mut self,
        variants: &[Value],
        value: &Value,
        place: &mut Vec<Value>,
        depth: usize,
    ) -> Value {
        if value.is_null() && variants.iter().any(|variant| variant["type"] == "null") {
            return Value::Null;
        }
        let variants: Vec<_> = variants
            .iter()
            .filter(|variant| variant["type"] != "null")
            .collect();
        let mut faults = Vec::new();
        for variant in &variants {
            let mut checker = Self { faults: Vec::new() };
            if variants.len() > 1
                && let Some(name) = variant["$ref"].as_str()
            {
                place.push(json!(name));
            }
            let depth_before = place.len();
            let found = checker.value(variant, value, place, depth + 1);
            debug_assert_eq!(depth_before, place.len());
            if variants.len() > 1 && variant["$ref"].is_string() {
                place.pop();
            }
            if checker.faults.is_empty() {
                return found;
            }
            faults.extend(checker.faults);
        }
        faults.truncate(MAX_FAULTS.saturating_sub(self.faults.len()));
        self.faults.extend(faults);
        Value::Null
    }

    fn choice(&mut self, choices: &[Value], value: &Value, place: &[Value]) -> Value {
        if choices.contains(value) {
            return value.clone();
        }
        let names: Vec<_> = choices.iter().map(repr::repr).collect();
        let expected = match names.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [others @ .., last] => format!("{} or {last}", others.join(", ")),
        };
        self.fault("enum", place, &format!("Input should be {expected}"), value);
        if let Some(fault) = self.faults.last_mut() {
            fault.context = Some(json!({ "expected": expected }));
        }
        Value::Null
    }

    fn string(&mut self, schema: &Value, value: &Value, place: &[Value]) -> Value {
        let Some(text) = value.as_str() else {
            self.fault(
                "string_type",
                place,
                "Input should be a valid string",
                value,
            );
            return Value::Null;
        };
        let minimum = schema["minLength"].as_u64().unwrap_or(0);
        if (text.chars().count() as u64) < minimum {
            let plural = if minimum == 1 { "" } else { "s" };
            let message = format!("String should have at least {minimum} character{plural}");
            self.fault("string_too_short", place, &message, value);
            if let Some(fault) = self.faults.last_mut() {
                fault.context = Some(json!({ "min_length": minimum }));
            }
        }
        value.clone()
    }

    fn integer(&mut self, schema: &Value, value: &Value, place: &[Value]) -> Value {
        let number = match value {
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Ok(number),
                (None, Some(float)) if float.fract() == 0.0 && float.abs() < 9e15 => {
                    Ok(float as i64)
                }
                _ => Err((
                    "int_from_float",
                    "Input should be a valid integer, got a number with a fractional part",
                )),
            },
            Value::Bool(bool) => Ok(i64::from(*bool)),
            Value::String(text) => text.trim().parse().map_err(|_| {
                (
                    "int_parsing",
                    "Input should be a valid integer, unable to parse string as an integer",
                )
            }),
            _ => Err(("int_type", "Input should be a valid integer")),
        };
        let number = match number {
            Ok(number) => number,
            Err((kind, message)) => {
                self.fault(kind, place, message, value);
                return Value::Null;
            }
        };
        if let Some(minimum) = schema["minimum"].as_i64()
            && number < minimum
        {
            self.bound(
                "greater_than_equal",
                place,
                "greater than or equal to",
                "ge",
                &json!(minimum),
                value,
            );
        }
        if let Some(maximum) = schema["maximum"].as_i64()
            && number > maximum
        {
            self.bound(
                "less_than_equal",
                place,
                "less than or equal to",
                "le",
                &json!(maximum),
                value,
            );
        }
        json!(number)
    }

    fn boolean(&mut self, value: &Value, place: &[Value]) -> Value {
        let found = match value {
            Value::Bool(bool) => Some(*bool),
            Value::Number(number) => match number.as_i64() {
                Some(0) => Some(false),
                Some(1) => Some(true),
                _ => None,
            },
            Value::String(text) => match text.to_lowercase().as_str() {
                "true" | "t" | "yes" | "y" | "on" | "1" => Some(true),
                "false" | "f" | "no" | "n" | "off" | "0" => Some(false),
                _ => None,
            },
            _ => {
                self.fault("bool_type", place, "Input should be a valid boolean", value);
                return Value::Null;
            }
        };
        found.map_or_else(
            || {
                let message = "Input should be a valid boolean, unable to interpret input";
                self.fault("bool_parsing", place, message, value);
                Value::Null
            },
            Value::Bool,
        )
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
