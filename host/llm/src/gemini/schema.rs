//! JSON Schemas in the words that the vendor reads.
//!
//! References are written out, since the vendor resolves only some; words that it refuses are left
//! out or said with others. What is lost is lost for the model alone: arguments are checked against
//! the whole schema when they come back.

use serde_json::{Map, Value, json};

/// Schemas within one schema, references written out, after which the rest is left open. Those of
/// tools have some dozen; references to references can multiply without end.
const MAX_SCHEMAS: usize = 2_000;
/// How deep they nest before the rest is left open.
const MAX_DEPTH: usize = 32;

/// Words that are kept as they are.
const KEPT: [&str; 12] = [
    "type",
    "enum",
    "required",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "description",
];

/// The schema in the vendor's words.
pub(crate) fn clean(schema: &Value) -> Value {
    let mut cleaner = Cleaner {
        root: schema,
        trail: Vec::new(),
        left: MAX_SCHEMAS,
    };
    Value::Object(cleaner.schema(schema, 0))
}

struct Cleaner<'a> {
    root: &'a Value,
    /// The references that are being written out.
    trail: Vec<&'a str>,
    left: usize,
}

impl<'a> Cleaner<'a> {
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Map<String, Value> {
        let Some(fields) = schema.as_object() else {
            return Map::new();
        };
        if depth > MAX_DEPTH || self.left == 0 {
            return Map::new();
        }
        self.left -= 1;
        let mut clean = match fields.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.referred(reference, depth),
            None => Map::new(),
        };
        for (word, value) in fields {
            self.word(&mut clean, word, value, depth);
        }
        complete(&mut clean, fields);
        clean
    }

    /// What a reference stands for; of one that is in itself, no more than its type.
    fn referred(&mut self, reference: &'a str, depth: usize) -> Map<String, Value> {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target else {
            return Map::new();
        };
        if self.trail.contains(&reference) {
            let kind = target
                .get("type")
                .map(|kind| ("type".to_owned(), kind.clone()));
            return kind.into_iter().collect();
        }
        self.trail.push(reference);
        let clean = self.schema(target, depth + 1);
        self.trail.pop();
        clean
    }

    fn word(
        &mut self,
        clean: &mut Map<String, Value>,
        word: &'a str,
        value: &'a Value,
        depth: usize,
    ) {
        let mut set = |word: &str, value: Value| {
            clean.insert(word.to_owned(), value);
        };
        match word {
            "const" => set("enum", json!([value])),
            "exclusiveMinimum" if value.is_number() => set("minimum", value.clone()),
            "exclusiveMaximum" if value.is_number() => set("maximum", value.clone()),
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let properties: Map<String, Value> = properties
                    .map(|(name, schema)| {
                        let schema = self.schema(schema, depth + 1);
                        (name.clone(), Value::Object(schema))
                    })
                    .collect();
                set("properties", Value::Object(properties));
            }
            "additionalProperties" if value.is_boolean() => set(word, value.clone()),
            "additionalProperties" => {
                set(word, Value::Object(self.schema(value, depth + 1)));
            }
            "items" if value.is_object() => {
                set(word, Value::Object(self.schema(value, depth + 1)));
            }
            // Tuples, in the older form and in the newer.
            "items" | "prefixItems" if value.is_array() => {
                set("prefixItems", self.list(value, depth));
            }
            "anyOf" | "oneOf" if value.is_array() => set("anyOf", self.list(value, depth)),
            "allOf" => {
                for schema in value.as_array().into_iter().flatten() {
                    merge(clean, self.schema(schema, depth + 1));
                }
            }
            _ if KEPT.contains(&word) => set(word, value.clone()),
            _ => {}
        }
    }

    fn list(&mut self, schemas: &'a Value, depth: usize) -> Value {
        let schemas = schemas.as_array().into_iter().flatten();
        let schemas = schemas.map(|schema| Value::Object(self.schema(schema, depth + 1)));
        Value::Array(schemas.collect())
    }
}

/// What follows from several words together.
fn complete(clean: &mut Map<String, Value>, fields: &Map<String, Value>) {
    // Only a few formats are known; a model reads any.
    if let Some(format) = fields.get("format").and_then(Value::as_str) {
        let description = match clean.get("description").and_then(Value::as_str) {
            Some(description) => format!("{description} (format: {format})"),
            None => format!("format: {format}"),
        };
        clean.insert("description".to_owned(), Value::from(description));
    }
    if !clean.contains_key("type")
        && let Some(kind) = kind(clean)
    {
        clean.insert("type".to_owned(), Value::from(kind));
    }
    // The vendor refuses to require what is not described.
    let known = clean.get("properties").and_then(Value::as_object).cloned();
    if let (Some(known), Some(Value::Array(required))) = (known, clean.get_mut("required")) {
        required.retain(|name| name.as_str().is_some_and(|name| known.contains_key(name)));
    }
}

/// The type that the other words imply.
fn kind(clean: &Map<String, Value>) -> Option<&'static str> {
    if clean.contains_key("properties") {
        return Some("object");
    }
    if clean.contains_key("items") || clean.contains_key("prefixItems") {
        return Some("array");
    }
    let values = clean.get("enum")?.as_array()?;
    let all = |is: fn(&Value) -> bool| !values.is_empty() && values.iter().all(is);
    if all(Value::is_string) {
        Some("string")
    } else if all(Value::is_boolean) {
        Some("boolean")
    } else if all(|value| value.is_i64() || value.is_u64()) {
        Some("integer")
    } else if all(Value::is_number) {
        Some("number")
    } else {
        None
    }
}

/// Adds what another schema demands of the same value.
fn merge(clean: &mut Map<String, Value>, other: Map<String, Value>) {
    for (word, value) in other {
        match (clean.get_mut(&word), value) {
            (Some(Value::Object(known)), Value::Object(more)) if word == "properties" => {
                known.extend(more);
            }
            (Some(Value::Array(known)), Value::Array(more)) if word == "required" => {
                known.extend(more);
            }
            (Some(_), _) => {}
            (None, value) => {
                clean.insert(word, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_written_out_and_recursion_ends() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Tree", "description": "a tree"}},
            "$defs": {"Tree": {
                "title": "Tree",
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
                "required": ["name", "nothing"],
            }},
        });
        let clean = clean(&schema);
        let tree = &clean["properties"]["tree"];
        assert_eq!(tree["description"], "a tree");
        assert_eq!(tree["required"], json!(["name"]));
        let text = clean.to_string();
        assert!(!text.contains("$ref") && !text.contains("$defs") && !text.contains("$schema"));
        let children = json!({"type": "array", "items": {"type": "object"}});
        assert_eq!(tree["properties"]["children"], children);
    }

    #[test]
    fn references_that_multiply_stay_small() {
        let level = |n: usize| {
            let next = json!({"$ref": format!("#/$defs/L{}", n + 1)});
            json!({"anyOf": vec![next; 10]})
        };
        let levels = (0..20).map(|n| (format!("L{n}"), level(n)));
        let defs: Map<String, Value> = levels.collect();
        let schema = json!({"$ref": "#/$defs/L0", "$defs": defs});
        assert!(clean(&schema).to_string().len() < 1_000_000);
    }

    #[test]
    fn words_become_those_that_the_vendor_knows() {
        let schema = json!({
            "type": "object",
            "title": "Search",
            "properties": {
                "title": {"const": "x", "title": "Title"},
                "since": {"type": ["string", "null"], "format": "date-time", "default": null},
                "size": {"type": "integer", "exclusiveMinimum": 0, "examples": [3]},
                "pick": {"oneOf": [{"type": "string"}, {"enum": [1, 2]}]},
                "map": {"type": "object", "additionalProperties": {"type": "number"}},
                "both": {"allOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "string"}}, "required": ["b"]},
                ]},
            },
            "required": ["title"],
            "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "title": {"enum": ["x"], "type": "string"},
                "since": {"type": ["string", "null"], "description": "format: date-time"},
                "size": {"type": "integer", "minimum": 0},
                "pick": {"anyOf": [{"type": "string"}, {"enum": [1, 2], "type": "integer"}]},
                "map": {"type": "object", "additionalProperties": {"type": "number"}},
                "both": {
                    "type": "object",
                    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                    "required": ["a", "b"],
                },
            },
            "required": ["title"],
            "additionalProperties": false,
        });
        assert_eq!(clean(&schema), expected);
    }
}
