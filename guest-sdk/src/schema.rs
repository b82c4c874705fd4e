//! JSON Schema 2020-12 of inputs and outputs.

use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform,
};
use serde_json::{Map, Value, json};

/// What schemars writes as the `format` of Rust's numbers, with the bounds that a model should
/// know. Pointer-sized ones have 32 bits in a guest; 64-bit bounds are beyond what JSON parsers
/// read exactly.
const NUMBER_FORMATS: &[(&str, Option<(i64, i64)>)] = &[
    ("int", Some((i32::MIN as i64, i32::MAX as i64))),
    ("int8", Some((i8::MIN as i64, i8::MAX as i64))),
    ("int16", Some((i16::MIN as i64, i16::MAX as i64))),
    ("int32", Some((i32::MIN as i64, i32::MAX as i64))),
    ("int64", None),
    ("int128", None),
    ("uint", Some((0, u32::MAX as i64))),
    ("uint8", Some((0, u8::MAX as i64))),
    ("uint16", Some((0, u16::MAX as i64))),
    ("uint32", Some((0, u32::MAX as i64))),
    ("uint64", None),
    ("uint128", None),
    ("float", None),
    ("double", None),
];

/// The schema of a tool's input: an object that names its properties. Subschemas are inlined,
/// since not every model provider follows references; recursive types keep theirs in `$defs`.
pub fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = root::<T>(settings().for_deserialize());
    // A type that is no object stays as it is: the host refuses it at install and says so.
    let object = schema.get("type").is_none_or(|kind| kind == "object");
    let composed = ["$ref", "allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| schema.contains_key(*key));
    if object {
        schema.insert("type".to_owned(), json!("object"));
        schema.entry("properties").or_insert_with(|| json!({}));
        schema.entry("required").or_insert_with(|| json!([]));
        // Beside a composition the keyword would refuse the properties that the parts name.
        if !composed {
            schema
                .entry("additionalProperties")
                .or_insert_with(|| json!(false));
        }
    }
    Value::Object(schema)
}

/// The schema of a tool's structured output.
pub(crate) fn output_schema<T: JsonSchema>() -> Value {
    Value::Object(root::<T>(settings().for_serialize()))
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings
            .transforms
            .push(Box::new(RecursiveTransform(bounds_for_format)));
    })
}

/// Formats such as `uint8` are schemars' own, and some model providers refuse what they don't
/// know: a number has its bounds instead.
fn bounds_for_format(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str);
    let known = NUMBER_FORMATS.iter().find(|(name, _)| format == Some(name));
    let Some((_, bounds)) = known else { return };
    schema.remove("format");
    if let Some((minimum, maximum)) = bounds {
        for (keyword, bound) in [("minimum", minimum), ("maximum", maximum)] {
            if schema.get(keyword).is_none() {
                schema.insert(keyword.to_owned(), json!(bound));
            }
        }
    }
}

/// The root schema without the type's own name, which is the author's business.
fn root<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let schema = SchemaGenerator::from(settings).into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(mut schema) => {
            schema.remove("title");
            schema
        }
        // `true` and `false` are schemas too: anything, nothing.
        Value::Bool(true) => Map::new(),
        _ => Map::from_iter([("not".to_owned(), json!({}))]),
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::input_schema;

    #[derive(JsonSchema, Deserialize)]
    struct Inner {
        _deep: bool,
    }

    #[derive(JsonSchema, Deserialize)]
    struct Outer {
        /// How often.
        _times: Option<u8>,
        _inner: Inner,
        _offset: i32,
        #[schemars(range(min = 1))]
        _size: usize,
        _total: u64,
    }

    #[derive(JsonSchema, Deserialize)]
    struct Tree {
        _children: Vec<Tree>,
    }

    #[test]
    fn the_root_is_a_closed_object_and_subschemas_are_inlined() {
        let expected = json!({
            "type": "object",
            "properties": {
                "_times": {"type": ["integer", "null"], "minimum": 0, "maximum": 255, "description": "How often."},
                "_inner": {"type": "object", "properties": {"_deep": {"type": "boolean"}}, "required": ["_deep"]},
                "_offset": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
                "_size": {"type": "integer", "minimum": 1, "maximum": u32::MAX},
                "_total": {"type": "integer", "minimum": 0},
            },
            "required": ["_inner", "_offset", "_size", "_total"],
            "additionalProperties": false,
        });
        assert_eq!(input_schema::<Outer>(), expected);
    }

    #[test]
    fn a_recursive_type_keeps_a_reference_that_resolves() {
        let schema = input_schema::<Tree>();
        let reference = schema["properties"]["_children"]["items"]["$ref"]
            .as_str()
            .expect("the type refers to itself");
        let pointer = reference.strip_prefix('#').expect("the reference is local");
        assert!(schema.pointer(pointer).is_some(), "{schema}");
    }
}
