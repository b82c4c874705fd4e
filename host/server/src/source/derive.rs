//! The function that a model is offered, from a tool's source.

use bulkhead_sandbox::{Description, Fault, Language, Source};
use serde_json::{Map, Value, json};

use crate::{app::App, contract::Refusal};

/// References that are followed inside each other; a schema that refers to itself has no end.
const MAX_DEPTH: usize = 32;
/// Values that a schema has when its references are written out.
const MAX_NODES: usize = 20_000;

/// What the source of a tool says.
pub(crate) struct Derived {
    /// The function that is called.
    pub(crate) function: String,
    /// `{"name", "description", "parameters"}`.
    pub(crate) json_schema: Value,
}

impl App {
    /// Reads the source without running it: the function of this name, or the one that the
    /// language's rules choose. Parameters come from `args_schema` where there is one.
    pub(crate) async fn derive(
        &self,
        language: Language,
        text: &str,
        args_schema: Option<&Value>,
        function: Option<&str>,
    ) -> Result<Derived, Refusal> {
        let function = function.map(str::to_owned);
        let description = self.describe_source(language, text, function).await?;
        let description = description.map_err(|fault| underivable(&fault))?;
        let parameters = match args_schema {
            Some(schema) => {
                let parameters = parameters(schema).map_err(|text| generation_failed(&text))?;
                contradiction(&description, &parameters)
                    .map_or(Ok(()), |text| Err(Refusal::bad_request(text)))?;
                parameters
            }
            None => description.schema.map_err(|fault| underivable(&fault))?,
        };
        let json_schema = json!({
            "name": description.name,
            "description": description.description,
            "parameters": parameters,
        });
        Ok(Derived {
            function: description.name,
            json_schema,
        })
    }

    /// Checks source that comes with its own schema, and gives the name of its function: the one that
    /// the schema names if there is one, else the one that the language's rules choose.
    pub(crate) async fn check_source(
        &self,
        language: Language,
        text: &str,
        json_schema: &Value,
    ) -> Result<String, Refusal> {
        let named = json_schema["name"].as_str().map(str::to_owned);
        let found = match self.describe_source(language, text, named).await? {
            Ok(found) => found,
            Err(_) => {
                let found = self.describe_source(language, text, None).await?;
                found.map_err(|fault| underivable(&fault))?
            }
        };
        let parameters = json_schema.get("parameters").unwrap_or(&Value::Null);
        contradiction(&found, parameters).map_or(Ok(()), |text| Err(Refusal::bad_request(text)))?;
        Ok(found.name)
    }

    async fn describe_source(
        &self,
        language: Language,
        text: &str,
        function: Option<String>,
    ) -> Result<Result<Description, Fault>, Refusal> {
        let runtime = self.runtimes.get(&self.sandbox, language).await?;
        let source = Source {
            language,
            text: text.into(),
            function,
        };
        let described = self.sandbox.describe_source(runtime, &source).await;
        described.map_err(|failure| generation_failed(&failure.message))
    }
}

/// What the schema of the parameters says that the function can't do. One that is not there says
/// nothing.
fn contradiction(found: &Description, parameters: &Value) -> Option<String> {
    let function = &found.name;
    let properties = match (parameters, parameters.get("properties")) {
        (Value::Null, _) | (Value::Object(_), None) => return None,
        (Value::Object(_), Some(Value::Object(properties))) => properties,
        _ => {
            return Some(format!(
                "The JSON schema's parameters of function '{function}' must be an object with an object of properties"
            ));
        }
    };
    for name in properties.keys() {
        let known = found
            .parameters
            .iter()
            .any(|(parameter, _)| parameter == name);
        if !known && !found.open {
            return Some(format!(
                "The JSON schema has a parameter '{name}' that function '{function}' does not take"
            ));
        }
    }
    let missing = found
        .parameters
        .iter()
        .find(|(name, required)| *required && !properties.contains_key(name));
    missing.map(|(name, _)| {
        format!(
            "Function '{function}' needs a parameter '{name}' that the JSON schema does not have"
        )
    })
}

fn underivable(fault: &Fault) -> Refusal {
    generation_failed(&fault.message)
}

fn generation_failed(text: &str) -> Refusal {
    Refusal::bad_request(format!(
        "Failed to derive json schema: Schema generation failed: {text}"
    ))
}

/// The parameters of a pydantic-style schema: references written out, titles left out.
fn parameters(schema: &Value) -> Result<Value, String> {
    let mut nodes = 0;
    let Value::Object(mut plain) = inlined(schema, schema, 0, &mut nodes)? else {
        return Err("args_json_schema is no object".to_owned());
    };
    plain.remove("$defs");
    plain.remove("definitions");
    let properties = plain.remove("properties").unwrap_or_else(|| json!({}));
    let required = plain.remove("required").unwrap_or_else(|| json!([]));
    if !properties.is_object() || !required.is_array() {
        return Err("args_json_schema has no properties".to_owned());
    }
    Ok(json!({ "type": "object", "properties": properties, "required": required }))
}

fn inlined(root: &Value, schema: &Value, depth: usize, nodes: &mut usize) -> Result<Value, String> {
    *nodes += 1;
    if depth > MAX_DEPTH || *nodes > MAX_NODES {
        return Err("args_json_schema refers to itself or is too large".to_owned());
    }
    match schema {
        Value::Object(object) => {
            if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                let pointer = reference.strip_prefix('#').unwrap_or(reference);
                let target = root
                    .pointer(pointer)
                    .ok_or_else(|| format!("args_json_schema has no {reference}"))?;
                let mut target = inlined(root, target, depth + 1, nodes)?;
                // What stands beside a reference (a description) counts more than what it means.
                if let Value::Object(target) = &mut target {
                    for (key, value) in object.iter().filter(|(key, _)| *key != "$ref") {
                        target.insert(key.clone(), value.clone());
                    }
                }
                return Ok(target);
            }
            let mut plain = Map::new();
            for (key, value) in object {
                let is_title = key == "title" && value.is_string();
                if is_title || key == "$defs" {
                    continue;
                }
                plain.insert(key.clone(), inlined(root, value, depth + 1, nodes)?);
            }
            Ok(Value::Object(plain))
        }
        Value::Array(items) => {
            let items = items
                .iter()
                .map(|item| inlined(root, item, depth + 1, nodes));
            Ok(Value::Array(items.collect::<Result<_, _>>()?))
        }
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_written_out_and_titles_left_out() {
        let schema = json!({
            "title": "Args", "type": "object", "required": ["inner"],
            "properties": {
                "title": {"type": "string", "title": "Title"},
                "inner": {"$ref": "#/$defs/Inner", "description": "Mine."},
            },
            "$defs": {"Inner": {"title": "Inner", "type": "object", "properties": {"a": {"type": "integer"}}}},
        });
        let expected = json!({
            "type": "object", "required": ["inner"],
            "properties": {
                "title": {"type": "string"},
                "inner": {"type": "object", "description": "Mine.", "properties": {"a": {"type": "integer"}}},
            },
        });
        assert_eq!(parameters(&schema), Ok(expected));
    }

    #[test]
    fn a_schema_without_end_is_refused() {
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}});
        assert!(parameters(&schema).is_err());
        assert!(parameters(&json!({"properties": {"a": {"$ref": "#/$defs/B"}}})).is_err());
    }

    #[test]
    fn a_schema_that_contradicts_the_signature_is_named() {
        let found = Description {
            name: "f".to_owned(),
            description: String::new(),
            schema: Ok(json!({})),
            parameters: vec![("a".to_owned(), true), ("b".to_owned(), false)],
            open: false,
        };
        let with = |properties: Value| {
            contradiction(&found, &json!({"type": "object", "properties": properties}))
        };
        assert_eq!(with(json!({"a": {}})), None);
        assert!(with(json!({"a": {}, "c": {}})).is_some_and(|text| text.contains("'c'")));
        assert!(with(json!({"b": {}})).is_some_and(|text| text.contains("'a'")));
        assert!(with(json!("b")).is_some_and(|text| text.contains("must be an object")));
        assert!(contradiction(&found, &json!("b")).is_some());
        assert_eq!(contradiction(&found, &Value::Null), None);
    }
}
