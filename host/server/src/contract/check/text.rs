//! Strings, points in time, ids.

use serde_json::{Value, json};

use super::Checker;
use crate::contract::{date, fault::Fault, id};

/// What follows the prefix in the pattern of an id, the one kind of pattern that bodies have.
const UUID: &str = "-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

/// The prefix of ids that a pattern stands for.
pub(super) fn prefix(pattern: &str) -> Option<&str> {
    pattern.strip_prefix('^')?.strip_suffix(UUID)
}

impl Checker {
    pub(super) fn string(&mut self, schema: &Value, value: &Value, place: &[Value]) -> Value {
        let Some(text) = value.as_str() else {
            self.fault(
                "string_type",
                place,
                "Input should be a valid string",
                value,
            );
            return Value::Null;
        };
        let length = text.chars().count();
        let bound = |name: &str| {
            let bound = schema[name].as_u64()?;
            usize::try_from(bound).ok()
        };
        let minimum = bound("minLength").filter(|minimum| length < *minimum);
        let maximum = bound("maxLength").filter(|maximum| length > *maximum);
        let pattern = schema["pattern"].as_str();
        let mismatch = pattern.filter(|pattern| {
            let prefix = prefix(pattern);
            prefix.is_some_and(|prefix| !id::is_id(prefix, text))
        });
        let (place, input) = (place.to_vec(), value.clone());
        let fault = match (minimum, maximum, mismatch) {
            (Some(minimum), _, _) => Fault::too_short(place, minimum, input),
            (_, Some(maximum), _) => Fault::too_long(place, maximum, input),
            (_, _, Some(pattern)) => Fault::no_match(place, pattern, input),
            (None, None, None) => return input,
        };
        self.note(fault);
        Value::Null
    }

    /// A point in time: a text or a number of seconds since 1970.
    pub(super) fn date(&mut self, value: &Value, place: &[Value]) -> Value {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => {
                let message = "Input should be a valid datetime";
                self.fault("datetime_type", place, message, value);
                return Value::Null;
            }
        };
        match date::date(&text) {
            Ok(at) => json!(at.to_string()),
            Err(error) => {
                let (kind, message) = date::NO_DATE;
                let message = format!("{message}, {error}");
                let fault = Fault::new(kind, place.to_vec(), message, value.clone());
                self.note(fault.with(json!({ "error": error })));
                Value::Null
            }
        }
    }
}
