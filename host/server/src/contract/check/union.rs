//! Values of one of several schemas.

use serde_json::{Value, json};

use super::{Checker, MAX_FAULTS, named};
use crate::contract::{fault::Fault, repr};

impl Checker {
    /// The first variant that fits, those first that have the value's own type; null where it is
    /// one; the faults of the others otherwise.
    pub(super) fn any_of(
        &mut self,
        variants: &[Value],
        value: &Value,
        place: &mut Vec<Value>,
        depth: usize,
    ) -> Value {
        if value.is_null() && variants.iter().any(|variant| variant["type"] == "null") {
            return Value::Null;
        }
        let others = variants.iter().filter(|variant| variant["type"] != "null");
        let mut variants: Vec<_> = others.collect();
        variants.sort_by_key(|variant| !is_of_type(variant, value));
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

    /// The variant that the value's own tag names.
    pub(super) fn one_of(
        &mut self,
        tag: &str,
        variants: &[Value],
        value: &Value,
        place: &mut Vec<Value>,
        depth: usize,
    ) -> Value {
        let Some(entries) = value.as_object() else {
            let message = "Input should be a valid dictionary or object to extract fields from";
            self.fault("model_attributes_type", place, message, value);
            return Value::Null;
        };
        let key = repr::repr(&json!(tag));
        let Some(named_by) = entries.get(tag) else {
            let message = format!("Unable to extract tag using discriminator {key}");
            let fault = Fault::new("union_tag_not_found", place.clone(), message, value.clone());
            self.note(fault.with(json!({ "discriminator": key })));
            return Value::Null;
        };
        let tag_of = |variant: &'_ Value| {
            let schema = named(variant["$ref"].as_str().unwrap_or_default());
            schema["properties"][tag]["const"].clone()
        };
        if let Some(variant) = variants.iter().find(|variant| tag_of(variant) == *named_by) {
            place.push(named_by.clone());
            let checked = self.value(variant, value, place, depth + 1);
            place.pop();
            return checked;
        }
        let found = match named_by {
            Value::String(text) => text.clone(),
            other => repr::repr(other),
        };
        let expected: Vec<_> = variants
            .iter()
            .map(|variant| repr::repr(&tag_of(variant)))
            .collect();
        let expected = expected.join(", ");
        let message = format!(
            "Input tag '{found}' found using {key} does not match any of the expected tags: {expected}"
        );
        let fault = Fault::new("union_tag_invalid", place.clone(), message, value.clone());
        let context = json!({ "discriminator": key, "tag": found, "expected_tags": expected });
        self.note(fault.with(context));
        Value::Null
    }
}

/// Whether a value has the type of a schema without any conversion.
fn is_of_type(schema: &Value, value: &Value) -> bool {
    match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}
