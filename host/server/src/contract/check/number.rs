//! Integers, numbers and truths.

use serde_json::{Value, json};

use super::Checker;
use crate::contract::{fault::Fault, scalar};

impl Checker {
    pub(super) fn integer(&mut self, schema: &Value, value: &Value, place: &[Value]) -> Value {
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
            Value::String(text) => scalar::integer(text).ok_or(scalar::NO_INTEGER),
            _ => Err(("int_type", "Input should be a valid integer")),
        };
        let number = match number {
            Ok(number) => number,
            Err((kind, message)) => {
                self.fault(kind, place, message, value);
                return Value::Null;
            }
        };
        if let Some(below) = schema["exclusiveMinimum"].as_i64()
            && number <= below
        {
            self.note(Fault::not_above(place.to_vec(), below, value.clone()));
        }
        if let Some(minimum) = schema["minimum"].as_i64()
            && number < minimum
        {
            self.note(Fault::too_small(place.to_vec(), minimum, value.clone()));
        }
        if let Some(maximum) = schema["maximum"].as_i64()
            && number > maximum
        {
            self.note(Fault::too_large(place.to_vec(), maximum, value.clone()));
        }
        json!(number)
    }

    pub(super) fn boolean(&mut self, value: &Value, place: &[Value]) -> Value {
        let found = match value {
            Value::Bool(bool) => Some(*bool),
            Value::Number(number) => match number.as_i64() {
                Some(0) => Some(false),
                Some(1) => Some(true),
                _ => None,
            },
            Value::String(text) => scalar::boolean(text),
            _ => {
                self.fault("bool_type", place, "Input should be a valid boolean", value);
                return Value::Null;
            }
        };
        found.map_or_else(
            || {
                let (kind, message) = scalar::NO_BOOLEAN;
                self.fault(kind, place, message, value);
                Value::Null
            },
            Value::Bool,
        )
    }

    pub(super) fn number(&mut self, value: &Value, place: &[Value]) -> Value {
        let number = match value {
            Value::Number(_) => return value.clone(),
            Value::Bool(bool) => Ok(f64::from(*bool)),
            Value::String(text) => text.trim().parse::<f64>().map_err(|_| {
                (
                    "float_parsing",
                    "Input should be a valid number, unable to parse string as a number",
                )
            }),
            _ => Err(("float_type", "Input should be a valid number")),
        };
        match number {
            Ok(number) => json!(number),
            Err((kind, message)) => {
                self.fault(kind, place, message, value);
                Value::Null
            }
        }
    }
}
