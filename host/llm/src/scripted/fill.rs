//! The smallest value that fits a JSON Schema: arguments of calls that are forced and that no script
//! wrote. Deterministic, and honest about being made up.

use serde_json::{Map, Value, json};

/// Schemas nested deeper than this are answered with null: they refer to themselves.
const MAX_DEPTH: usize = 16;

/// Values in one object. A schema that refers to itself twice would double them with each level.
const MAX_VALUES: usize = 500;

/// Elements, or characters, that a schema can ask for; more are not made up.
const MAX_LENGTH: usize = 64;

/// The text that stands where a schema wants one.
const TEXT: &str = "text";

/// An object with the required properties of `schema`.
pub(super) fn object(schema: &Value) -> Map<String, Value> {
    let mut filler = Filler {
        root: schema,
        left: MAX_VALUES,
    };
    match filler.value(schema, 0) {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

struct Filler<'a> {
    /// What references point into.
    root: &'a Value,
    /// Values that may still be made.
    left: usize,
}

impl Filler<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > MAX_DEPTH || self.left == 0 {
            return Value::Null;
        }
        self.left -= 1;
        if let Some(value) = given(schema) {
            return value;
        }
        let depth = depth + 1;
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            let found = target.strip_prefix('#').and_then(|at| root.pointer(at));
            return found.map_or(Value::Null, |schema| self.value(schema, depth));
        }
        for choice in ["anyOf", "oneOf", "allOf"] {
            if let Some(choices) = schema.get(choice).and_then(Value::as_array) {
                let useful = choices.iter().find(|one| kind(one) != Some("null"));
                return useful.map_or(Value::Null, |schema| self.value(schema, depth));
            }
        }
        match kind(schema) {
            Some("string") => Value::String(text(schema)),
            Some("integer") => json!(least(schema).ceil() as i64),
            Some("number") => json!(least(schema)),
            Some("boolean") => Value::Bool(false),
            Some("array") => {
                let items = schema.get("items");
                let item = items.map_or(Value::Null, |schema| self.value(schema, depth));
                Value::Array(vec![item; length(schema, "minItems")])
            }
            Some("object") => Value::Object(self.properties(schema, depth)),
            None if schema.get("properties").is_some() => {
                Value::Object(self.properties(schema, depth))
            }
            _ => Value::Null,
        }
    }

    fn properties(&mut self, schema: &Value, depth: usize) -> Map<String, Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        names
            .take(MAX_VALUES)
            .map(|name| {
                let schema = schema.get("properties").and_then(|all| all.get(name));
                let value = schema.map_or(Value::Null, |schema| self.value(schema, depth));
                (name.to_owned(), value)
            })
            .collect()
    }
}

/// What the schema itself offers.
fn given(schema: &Value) -> Option<Value> {
    ["const", "default"]
        .iter()
        .find_map(|key| schema.get(key))
        .or_else(|| schema.get("enum").and_then(|values| values.get(0)))
        .cloned()
}

/// Its type; of several the first that is not null.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").or(Some("null"))
        }
        _ => None,
    }
}

fn text(schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str);
    match format {
        Some("date-time") => "2000-01-01T00:00:00Z".to_owned(),
        Some("date") => "2000-01-01".to_owned(),
        Some("time") => "00:00:00Z".to_owned(),
        Some("email") => "nobody@example.com".to_owned(),
        Some("uri" | "url") => "https://example.com/".to_owned(),
        Some("uuid") => "00000000-0000-4000-8000-000000000000".to_owned(),
        _ => {
            let least = length(schema, "minLength");
            let most = schema.get("maxLength").and_then(Value::as_u64);
            let most = most.map_or(MAX_LENGTH, |most| {
                usize::try_from(most).unwrap_or(MAX_LENGTH)
            });
            TEXT.chars()
                .cycle()
                .take(least.max(TEXT.len()).min(most))
                .collect()
        }
    }
}

fn least(schema: &Value) -> f64 {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let low = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|low| low + 1.0));
    let high = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|high| high - 1.0));
    match (low, high) {
        (Some(low), _) => low,
        (None, Some(high)) => high.min(0.0),
        (None, None) => 0.0,
    }
}

fn length(schema: &Value, key: &str) -> usize {
    let least = schema.get(key).and_then(Value::as_u64).unwrap_or(0);
    usize::try_from(least).unwrap_or(MAX_LENGTH).min(MAX_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_properties_are_filled_by_their_types_and_others_left_out() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 6},
                "count": {"type": "integer", "minimum": 3},
                "colour": {"enum": ["red", "blue"]},
                "where": {"$ref": "#/$defs/place"},
                "tags": {"type": "array", "items": {"type": ["null", "boolean"]}, "minItems": 2},
                "maybe": {"anyOf": [{"type": "null"}, {"type": "number"}]},
                "unused": {"type": "string"},
            },
            "required": ["name", "count", "colour", "where", "tags", "maybe"],
            "$defs": {"place": {"type": "object", "properties": {"x": {"type": "number"}},
                                "required": ["x"]}},
        });
        assert_eq!(
            Value::Object(object(&schema)),
            json!({"name": "textte", "count": 3, "colour": "red", "where": {"x": 0.0},
                   "tags": [false, false], "maybe": 0.0})
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"type": "object", "required": ["left", "right"],
                            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        let text = Value::Object(object(&schema)).to_string();
        assert!(text.len() < 100 * MAX_VALUES, "{} bytes", text.len());
    }
}
