//! What a value may look like: of a declared type, what JSON can say.

use serde_json::{Map, Value, json};

/// A set of JSON values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Any,
    String,
    Number,
    Integer,
    Boolean,
    Null,
    /// A date, which comes as a string.
    Date,
    Array(Box<Shape>),
    Tuple(Vec<Shape>),
    Object(Fields),
    /// One of these values.
    Literals(Vec<Literal>),
    /// Any of several shapes.
    Union(Vec<Shape>),
}

/// The properties of an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Fields {
    pub(crate) list: Vec<Field>,
    /// What other properties look like, if the type says that there may be others.
    pub(crate) others: Option<Box<Shape>>,
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) optional: bool,
    pub(crate) description: String,
}

/// A value that a type names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    String(String),
    Number(f64),
    Boolean(bool),
}

impl Shape {
    /// The union of shapes, as simple as it can be said.
    pub(crate) fn union(shapes: impl IntoIterator<Item = Shape>) -> Shape {
        let mut members: Vec<Shape> = Vec::new();
        let mut literals: Vec<Literal> = Vec::new();
        for shape in shapes {
            match shape {
                Shape::Any => return Shape::Any,
                Shape::Literals(more) => {
                    for literal in more {
                        if !literals.contains(&literal) {
                            literals.push(literal);
                        }
                    }
                }
                Shape::Union(more) => members.extend(more),
                other if members.contains(&other) => {}
                other => members.push(other),
            }
        }
        let both = [Literal::Boolean(true), Literal::Boolean(false)];
        if both.iter().all(|value| literals.contains(value)) {
            literals.retain(|literal| !both.contains(literal));
            members.push(Shape::Boolean);
        }
        if !literals.is_empty() {
            members.insert(0, Shape::Literals(literals));
        }
        match members.len() {
            1 => members.remove(0),
            _ => Shape::Union(members),
        }
    }

    /// The JSON Schema of the shape.
    pub(crate) fn schema(&self) -> Value {
        match self {
            Shape::Any => json!({}),
            Shape::Date => json!({ "type": "string", "format": "date-time" }),
            Shape::Array(items) => json!({ "type": "array", "items": items.schema() }),
            Shape::Tuple(items) => json!({
                "type": "array",
                "prefixItems": items.iter().map(Shape::schema).collect::<Vec<_>>(),
                "minItems": items.len(),
                "maxItems": items.len(),
            }),
            Shape::Object(fields) => fields.schema(),
            Shape::Literals(literals) => {
                let values: Vec<Value> = literals.iter().map(Literal::value).collect();
                match common_type(literals) {
                    Some(kind) => json!({ "type": kind, "enum": values }),
                    None => json!({ "enum": values }),
                }
            }
            Shape::Union(members) => union_schema(members),
            simple => json!({ "type": simple.kind() }),
        }
    }

    /// The word of JSON Schema for a shape that has one.
    fn kind(&self) -> &'static str {
        match self {
            Shape::String | Shape::Date => "string",
            Shape::Number => "number",
            Shape::Integer => "integer",
            Shape::Boolean => "boolean",
            Shape::Null => "null",
            Shape::Array(_) | Shape::Tuple(_) => "array",
            Shape::Object(_) => "object",
            Shape::Any | Shape::Literals(_) | Shape::Union(_) => "value",
        }
    }

    /// The shape in the words of an error message.
    pub(crate) fn name(&self) -> String {
        match self {
            Shape::Array(items) => match **items {
                Shape::Any => "an array".to_owned(),
                ref items => format!("an array, each element {}", items.name()),
            },
            Shape::Tuple(items) => format!("an array of {}", items.len()),
            Shape::Date => "a date in ISO 8601 form".to_owned(),
            Shape::Object(_) => "an object".to_owned(),
            Shape::Integer => "an integer".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::Literals(literals) => {
                let values: Vec<String> = literals
                    .iter()
                    .map(|literal| literal.value().to_string())
                    .collect();
                match values.as_slice() {
                    [only] => only.clone(),
                    _ => format!("one of {}", values.join(", ")),
                }
            }
            Shape::Union(members) => {
                let names: Vec<String> = members.iter().map(Shape::name).collect();
                names.join(" or ")
            }
            other => format!("a {}", other.kind()),
        }
    }
}

impl Fields {
    /// The JSON Schema of an object with these properties.
    pub(crate) fn schema(&self) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in &self.list {
            properties.insert(field.name.clone(), field.schema());
            if !field.optional {
                required.push(Value::from(field.name.clone()));
            }
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        if !self.list.is_empty() {
            schema.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        if let Some(others) = &self.others {
            schema.insert("additionalProperties".to_owned(), others.schema());
        }
        schema.into()
    }
}

impl Field {
    /// The JSON Schema of the property.
    pub(crate) fn schema(&self) -> Value {
        let mut schema = self.shape.schema();
        if !self.description.is_empty()
            && let Some(schema) = schema.as_object_mut()
        {
            schema.insert("description".to_owned(), self.description.clone().into());
        }
        schema
    }
}

impl Literal {
    pub(crate) fn value(&self) -> Value {
        match self {
            Literal::String(text) => text.clone().into(),
            Literal::Boolean(value) => (*value).into(),
            Literal::Number(number) => number_value(*number),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Literal::String(_) => "string",
            Literal::Number(_) => "number",
            Literal::Boolean(_) => "boolean",
        }
    }
}

/// A number as JSON writes it: `1`, not `1.0`.
fn number_value(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        // The check above makes the conversion exact.
        (number as i64).into()
    } else {
        number.into()
    }
}

fn common_type(literals: &[Literal]) -> Option<&'static str> {
    let kind = literals.first()?.kind();
    literals
        .iter()
        .all(|literal| literal.kind() == kind)
        .then_some(kind)
}

fn union_schema(members: &[Shape]) -> Value {
    let simple = |shape: &Shape| {
        use Shape::{Boolean, Integer, Null, Number, String};
        matches!(shape, String | Number | Integer | Boolean | Null)
    };
    if members.iter().all(simple) {
        let kinds: Vec<&str> = members.iter().map(Shape::kind).collect();
        return json!({ "type": kinds });
    }
    json!({ "anyOf": members.iter().map(Shape::schema).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Literal, Shape};

    #[test]
    fn a_union_is_said_as_simply_as_it_can_be() {
        let text = |text: &str| Shape::Literals(vec![Literal::String(text.to_owned())]);
        assert_eq!(
            Shape::union([text("a"), text("b"), text("a")]).schema(),
            json!({ "type": "string", "enum": ["a", "b"] })
        );
        assert_eq!(
            Shape::union([Shape::String, Shape::Null]).schema(),
            json!({ "type": ["string", "null"] })
        );
        let flags = [true, false].map(|flag| Shape::Literals(vec![Literal::Boolean(flag)]));
        assert_eq!(Shape::union(flags), Shape::Boolean);
        assert_eq!(
            Shape::union([Shape::Array(Box::new(Shape::Number)), Shape::Null]).schema(),
            json!({ "anyOf": [{ "type": "array", "items": { "type": "number" } }, { "type": "null" }] })
        );
    }

    #[test]
    fn shapes_have_names_that_a_model_can_act_on() {
        let numbers = Shape::Literals(vec![Literal::Number(1.0), Literal::Number(2.5)]);
        assert_eq!(numbers.name(), "one of 1, 2.5");
        assert_eq!(
            Shape::union([Shape::Integer, Shape::Null]).name(),
            "an integer or null"
        );
    }
}
