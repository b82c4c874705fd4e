//! JSON Schema 2020-12 of shapes.
//!
//! Only keywords that model providers accept widely: alternatives are `anyOf`, everything is
//! written out in place, without references.

use serde_json::{Map, Value, json};

use super::{
    bytes, float,
    shape::{Case, Field, Name, Shape, TAG, VALUE, json_names},
};

/// The schema of an object with these properties and no others.
pub(super) fn object(fields: &[Field]) -> Value {
    let properties: Map<_, _> = fields
        .iter()
        .map(|field| (field.name.json.clone(), of(&field.shape)))
        .collect();
    let required: Vec<_> = fields
        .iter()
        .filter(|field| !field.shape.is_optional())
        .map(|field| field.name.json.as_str())
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The schema of the JSON form of `shape`.
pub(super) fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Integer(kind) => kind.schema(),
        Shape::Float32 | Shape::Float64 => float::schema(),
        Shape::Char => json!({"type": "string", "minLength": 1, "maxLength": 1}),
        Shape::String => json!({"type": "string"}),
        Shape::Bytes => bytes::schema(),
        Shape::List(element) => json!({"type": "array", "items": of(element)}),
        Shape::FixedList(element, length) => json!({
            "type": "array", "items": of(element), "minItems": length, "maxItems": length,
        }),
        Shape::Dictionary(value) => json!({"type": "object", "additionalProperties": of(value)}),
        Shape::Map(pair) => json!({"type": "array", "items": tuple(pair.as_slice())}),
        Shape::Record(fields) => object(fields),
        Shape::Tuple(elements) => tuple(elements),
        Shape::Variant(cases) => tagged(cases),
        Shape::Result(cases) => tagged(cases.as_slice()),
        Shape::Enum(names) => json!({"type": "string", "enum": names_of(names)}),
        Shape::Option(inner) => json!({"anyOf": [of(inner), {"type": "null"}]}),
        Shape::NestedOption(some) => json!({"anyOf": [case(some), {"type": "null"}]}),
        Shape::Flags(names) => json!({
            "type": "array",
            "items": {"type": "string", "enum": names_of(names)},
            "uniqueItems": true,
        }),
    }
}

fn tuple(elements: &[Shape]) -> Value {
    let prefix: Vec<_> = elements.iter().map(of).collect();
    let length = prefix.len();
    json!({
        "type": "array",
        "prefixItems": prefix,
        "items": false,
        "minItems": length,
        "maxItems": length,
    })
}

fn tagged(cases: &[Case]) -> Value {
    match cases {
        [only] => case(only),
        cases => json!({"anyOf": cases.iter().map(case).collect::<Vec<_>>()}),
    }
}

fn case(case: &Case) -> Value {
    let tag = json!({"type": "string", "const": case.name.json});
    let mut properties = json!({TAG: tag});
    let mut required = json!([TAG]);
    if let Some(shape) = &case.shape {
        properties[VALUE] = of(shape);
        if !shape.is_optional() {
            required = json!([TAG, VALUE]);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn names_of(names: &[Name]) -> Value {
    json_names(names).collect()
}
