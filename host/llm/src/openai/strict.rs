//! Schemas that OpenAI enforces while a model writes.

use serde_json::{Map, Value};

/// Keywords whose schemas inside are read too, and those that stand for themselves. One that is
/// not here makes OpenAI refuse the whole request.
const PLAIN: &[&str] = &[
    "type",
    "description",
    "title",
    "enum",
    "const",
    "$ref",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "required",
    "additionalProperties",
];

/// The schema in the form that strict mode wants: every object closed, every property required.
/// None where that would change what the schema means (optional properties, open objects) or where
/// it says more than strict mode can hold; such a tool is offered without it.
pub(crate) fn schema(schema: &Value) -> Option<Value> {
    let Value::Object(fields) = schema else {
        return None;
    };
    let mut closed = Map::new();
    for (keyword, value) in fields {
        let value = match keyword.as_str() {
            "default" | "examples" | "$schema" => continue,
            "properties" | "$defs" => Value::Object(
                value
                    .as_object()?
                    .iter()
                    .map(|(name, inner)| Some((name.clone(), self::schema(inner)?)))
                    .collect::<Option<_>>()?,
            ),
            "items" => self::schema(value)?,
            "anyOf" => value
                .as_array()?
                .iter()
                .map(self::schema)
                .collect::<Option<_>>()?,
            keyword if PLAIN.contains(&keyword) => value.clone(),
            _ => return None,
        };
        closed.insert(keyword.clone(), value);
    }
    if is_object(fields) {
        close(fields, &mut closed)?;
    }
    Some(Value::Object(closed))
}

fn is_object(fields: &Map<String, Value>) -> bool {
    let names_it = match fields.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    names_it || fields.contains_key("properties")
}

fn close(fields: &Map<String, Value>, closed: &mut Map<String, Value>) -> Option<()> {
    let properties = fields.get("properties")?.as_object()?;
    let required = fields.get("required").and_then(Value::as_array);
    let is_required =
        |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
    let is_open = !matches!(
        fields.get("additionalProperties"),
        None | Some(Value::Bool(false))
    );
    if is_open || !properties.keys().all(is_required) {
        return None;
    }
    closed.insert("additionalProperties".to_owned(), Value::Bool(false));
    closed
        .entry("required")
        .or_insert_with(|| Value::Array(Vec::new()));
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_at_every_depth() {
        let open = json!({
            "type": "object",
            "properties": {
                "list": {"type": "array", "items": {
                    "type": "object", "properties": {"x": {"type": "integer", "default": 1}},
                    "required": ["x"],
                }},
            },
            "required": ["list"],
        });
        let closed = schema(&open).unwrap();
        assert_eq!(closed["additionalProperties"], false);
        let inner = &closed["properties"]["list"]["items"];
        assert_eq!(inner["additionalProperties"], false);
        assert_eq!(inner["properties"]["x"], json!({"type": "integer"}));
    }

    #[test]
    fn what_strict_mode_cannot_say_is_left_alone() {
        let optional = json!({"type": "object", "properties": {"x": {}}, "required": []});
        let map = json!({"type": "object", "properties": {}, "additionalProperties": true});
        let free = json!({"type": "object"});
        let keyword = json!({"type": "object", "properties": {}, "minProperties": 1});
        for loose in [optional, map, free, keyword] {
            assert_eq!(schema(&loose), None, "{loose}");
        }
    }
}
