//! From WIT values to JSON.

use serde_json::{Map, Value, json};
use wasmtime::component::Val;

use super::{
    budget::{Budget, MAX_VALUES},
    bytes, float, integer,
    shape::{Case, Name, Shape, TAG, VALUE},
};

/// Why a value has no JSON form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum WriteError {
    /// It is too large.
    #[error("the result has more than {MAX_VALUES} values")]
    Values,
    /// It is of another type than the function declares.
    #[error("the result is of another type than the function declares")]
    Type,
}

/// The JSON form of `val`.
pub(super) fn value(shape: &Shape, val: &Val) -> Result<Value, WriteError> {
    Writer {
        budget: Budget::new(),
    }
    .write(shape, val)
}

struct Writer {
    budget: Budget,
}

impl Writer {
    fn spend(&mut self, values: usize) -> Result<(), WriteError> {
        self.budget.spend(values).ok_or(WriteError::Values)
    }

    fn write(&mut self, shape: &Shape, val: &Val) -> Result<Value, WriteError> {
        self.spend(1)?;
        Ok(match (shape, val) {
            (Shape::Bool, Val::Bool(value)) => (*value).into(),
            (Shape::Integer(_), val) => integer::write(val).ok_or(WriteError::Type)?,
            (Shape::Float32, Val::Float32(value)) => float::write32(*value),
            (Shape::Float64, Val::Float64(value)) => float::write(*value),
            (Shape::Char, Val::Char(value)) => value.to_string().into(),
            (Shape::String, Val::String(value)) => value.as_str().into(),
            (Shape::Bytes, Val::List(items)) => bytes::write(items).ok_or(WriteError::Type)?,
            (Shape::List(element), Val::List(items))
            | (Shape::FixedList(element, _), Val::FixedLengthList(items)) => {
                self.each(items.iter().map(|item| (&**element, item)))?
            }
            (Shape::Tuple(elements), Val::Tuple(items)) if elements.len() == items.len() => {
                self.each(elements.iter().zip(items))?
            }
            (Shape::Dictionary(shape), Val::Map(entries)) => self.dictionary(shape, entries)?,
            (Shape::Map(pair), Val::Map(entries)) => {
                let [key_shape, value_shape] = &**pair;
                let pairs = entries.iter().map(|(key, value)| {
                    let key = self.write(key_shape, key)?;
                    Ok(json!([key, self.write(value_shape, value)?]))
                });
                Value::Array(pairs.collect::<Result<_, _>>()?)
            }
            (Shape::Record(fields), Val::Record(values)) if fields.len() == values.len() => {
                self.spend(fields.len())?;
                let properties = fields.iter().zip(values).map(|(field, (_, val))| {
                    Ok((field.name.json.clone(), self.write(&field.shape, val)?))
                });
                Value::Object(properties.collect::<Result<_, _>>()?)
            }
            (Shape::Variant(cases), Val::Variant(name, value)) => {
                let case = cases.iter().find(|case| case.name.wit == *name);
                self.tagged(case.ok_or(WriteError::Type)?, value.as_deref())?
            }
            (Shape::Result(cases), Val::Result(Ok(value))) => {
                self.tagged(&cases[0], value.as_deref())?
            }
            (Shape::Result(cases), Val::Result(Err(value))) => {
                self.tagged(&cases[1], value.as_deref())?
            }
            (Shape::Enum(names), Val::Enum(name)) => json_name(names, name)?,
            (Shape::Flags(names), Val::Flags(flags)) => {
                self.spend(flags.len())?;
                let flags = flags.iter().map(|flag| json_name(names, flag));
                Value::Array(flags.collect::<Result<_, _>>()?)
            }
            (Shape::Option(_) | Shape::NestedOption(_), Val::Option(None)) => Value::Null,
            (Shape::Option(inner), Val::Option(Some(value))) => self.write(inner, value)?,
            (Shape::NestedOption(some), Val::Option(value)) => {
                self.tagged(some, value.as_deref())?
            }
            _ => return Err(WriteError::Type),
        })
    }

    fn each<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a Shape, &'a Val)>,
    ) -> Result<Value, WriteError> {
        let items = pairs.map(|(shape, val)| self.write(shape, val));
        Ok(Value::Array(items.collect::<Result<_, _>>()?))
    }

    /// Of two entries with the same key, the later one counts, as WIT has it.
    fn dictionary(&mut self, shape: &Shape, entries: &[(Val, Val)]) -> Result<Value, WriteError> {
        let mut object = Map::new();
        for (key, val) in entries {
            let Val::String(key) = key else {
                return Err(WriteError::Type);
            };
            object.insert(key.clone(), self.write(shape, val)?);
        }
        Ok(Value::Object(object))
    }

    fn tagged(&mut self, case: &Case, val: Option<&Val>) -> Result<Value, WriteError> {
        self.spend(2)?;
        let mut object = Map::new();
        object.insert(TAG.into(), case.name.json.as_str().into());
        match (&case.shape, val) {
            (Some(shape), Some(val)) => {
                object.insert(VALUE.into(), self.write(shape, val)?);
            }
            (None, None) => {}
            _ => return Err(WriteError::Type),
        }
        Ok(Value::Object(object))
    }
}

fn json_name(names: &[Name], wit: &str) -> Result<Value, WriteError> {
    let name = names
        .iter()
        .find(|name| name.wit == wit)
        .ok_or(WriteError::Type)?;
    Ok(name.json.as_str().into())
}
