//! From JSON to WIT values. All problems of an input are found in one walk.
//!
//! The walk follows the shape, which is bounded in depth, never the input, which need not be.

mod object;

use bulkhead_domain::Problem;
use serde_json::Value;
use wasmtime::component::Val;

use super::{
    budget::{Budget, MAX_VALUES},
    bytes, float,
    problems::{Problems, found, one_of},
    shape::{Field, Name, Shape, json_names},
};

/// The values of `fields`, in their order, from the object `json`.
pub(super) fn fields(fields: &[Field], json: &Value) -> Result<Vec<Val>, Vec<Problem>> {
    let mut reader = Reader {
        problems: Problems::default(),
        budget: Budget::new(),
    };
    let values = reader.fields(fields, json);
    let problems = reader.problems.into_vec();
    match values {
        Some(values) if problems.is_empty() => Ok(values),
        _ => Err(problems),
    }
}

struct Reader<'a> {
    problems: Problems<'a>,
    budget: Budget,
}

impl<'a> Reader<'a> {
    /// Whether walking on can't give values and won't find problems that are kept.
    fn is_done(&self) -> bool {
        self.budget.is_spent() || self.problems.is_full()
    }

    fn spend(&mut self, values: usize) -> Option<()> {
        let was_spent = self.budget.is_spent();
        let left = self.budget.spend(values);
        if left.is_none() && !was_spent {
            self.problems
                .add(format!("the input has more than {MAX_VALUES} values"));
        }
        left
    }

    fn problem<T>(&mut self, message: impl Into<String>) -> Option<T> {
        self.problems.add(message);
        None
    }

    /// A problem that says what was expected and what is there.
    fn expected<T>(&mut self, what: &str, json: &Value) -> Option<T> {
        self.problem(format!("expected {what}, found {}", found(json)))
    }

    fn read(&mut self, shape: &'a Shape, json: &'a Value) -> Option<Val> {
        self.spend(1)?;
        match shape {
            Shape::Bool => match json.as_bool() {
                Some(value) => Some(Val::Bool(value)),
                None => self.expected("true or false", json),
            },
            Shape::Integer(kind) => match kind.read(json) {
                Some(val) => Some(val),
                None => self.expected(&kind.expected(), json),
            },
            Shape::Float32 => match float::read32(json) {
                Some(value) => Some(Val::Float32(value)),
                None if json.is_number() => self.expected("a number that 32 bits can hold", json),
                None => self.expected(float::EXPECTED, json),
            },
            Shape::Float64 => match float::read(json) {
                Some(value) => Some(Val::Float64(value)),
                None => self.expected(float::EXPECTED, json),
            },
            Shape::Char => match json.as_str().and_then(only_char) {
                Some(value) => Some(Val::Char(value)),
                None => self.expected("a string of exactly one character", json),
            },
            Shape::String => match json {
                Value::String(text) => Some(Val::String(text.clone())),
                _ => self.expected("a string", json),
            },
            Shape::Bytes => self.bytes(json),
            Shape::List(element) => {
                let items = self.items("an array", None, json)?;
                Some(Val::List(
                    self.each(items.iter().map(|item| (&**element, item)))?,
                ))
            }
            Shape::FixedList(element, length) => {
                let items = self.items("an array", Some(*length), json)?;
                let pairs = items.iter().map(|item| (&**element, item));
                Some(Val::FixedLengthList(self.each(pairs)?))
            }
            Shape::Tuple(elements) => {
                let items = self.items("an array", Some(elements.len()), json)?;
                Some(Val::Tuple(self.each(elements.iter().zip(items))?))
            }
            Shape::Dictionary(value) => self.dictionary(value, json),
            Shape::Map(pair) => self.map(pair, json),
            Shape::Record(fields) => {
                let values = self.fields(fields, json)?;
                let names = fields.iter().map(|field| field.name.wit.clone());
                Some(Val::Record(names.zip(values).collect()))
            }
            Shape::Variant(cases) => {
                let (case, value) = self.tagged(cases, json)?;
                Some(Val::Variant(case.name.wit.clone(), value))
            }
            Shape::Result(cases) => {
                let (case, value) = self.tagged(cases.as_slice(), json)?;
                let is_ok = std::ptr::eq(case, &cases[0]);
                Some(Val::Result(if is_ok { Ok(value) } else { Err(value) }))
            }
            Shape::Enum(names) => match json.as_str().and_then(|text| named(names, text)) {
                Some(name) => Some(Val::Enum(name.wit.clone())),
                None => self.expected(&one_of(json_names(names)), json),
            },
            Shape::Flags(names) => self.flags(names, json),
            Shape::Option(_) | Shape::NestedOption(_) if json.is_null() => Some(Val::Option(None)),
            Shape::Option(inner) => {
                let value = self.read(inner, json)?;
                Some(Val::Option(Some(Box::new(value))))
            }
            Shape::NestedOption(some) => {
                let (_, value) = self.tagged(std::slice::from_ref(&**some), json)?;
                Some(Val::Option(value))
            }
        }
    }

    fn bytes(&mut self, json: &'a Value) -> Option<Val> {
        match json {
            Value::String(text) => {
                let Some(bytes) = bytes::read(text) else {
                    return self.problem("expected base64 (RFC 4648, the alphabet with + and /)");
                };
                self.spend(bytes.len())?;
                Some(Val::List(bytes.into_iter().map(Val::U8).collect()))
            }
            Value::Array(items) => {
                let pairs = items.iter().map(|item| (&bytes::BYTE, item));
                Some(Val::List(self.each(pairs)?))
            }
            _ => self.expected(bytes::EXPECTED, json),
        }
    }

    fn items(&mut self, what: &str, length: Option<usize>, json: &'a Value) -> Option<&'a [Value]> {
        match (json, length) {
            (Value::Array(items), Some(length)) if items.len() != length => self.problem(format!(
                "expected {what} of exactly {length} items, found {} items",
                items.len()
            )),
            (Value::Array(items), _) => Some(items),
            (_, Some(length)) => self.expected(&format!("{what} of exactly {length} items"), json),
            (_, None) => self.expected(what, json),
        }
    }

    /// All values, or none where one of them has a problem.
    fn each(&mut self, pairs: impl Iterator<Item = (&'a Shape, &'a Value)>) -> Option<Vec<Val>> {
        let mut values = Some(Vec::new());
        for (index, (shape, json)) in pairs.enumerate() {
            if self.is_done() {
                return None;
            }
            self.problems.enter_item(index);
            let value = self.read(shape, json);
            self.problems.leave();
            values = push(values, value);
        }
        values
    }

    fn map(&mut self, pair: &'a [Shape; 2], json: &'a Value) -> Option<Val> {
        let items = self.items("an array of [key, value] pairs", None, json)?;
        let mut entries = Some(Vec::new());
        for (index, item) in items.iter().enumerate() {
            if self.is_done() {
                return None;
            }
            self.problems.enter_item(index);
            let entry = self
                .items("a pair: an array", Some(2), item)
                .and_then(|items| self.each(pair.iter().zip(items)));
            self.problems.leave();
            let entry = entry.and_then(|values| <[Val; 2]>::try_from(values).ok());
            entries = push(entries, entry.map(|[key, value]| (key, value)));
        }
        entries.map(Val::Map)
    }

    fn flags(&mut self, names: &'a [Name], json: &'a Value) -> Option<Val> {
        let items = self.items("an array of names", None, json)?;
        self.spend(items.len())?;
        let mut flags: Option<Vec<String>> = Some(Vec::new());
        for (index, item) in items.iter().enumerate() {
            if self.is_done() {
                return None;
            }
            self.problems.enter_item(index);
            let name = item.as_str().and_then(|text| named(names, text));
            let flag = match name {
                None => self.expected(&one_of(json_names(names)), item),
                Some(name) if items[..index].contains(item) => {
                    self.problem(format!("`{}` is there twice", name.json))
                }
                Some(name) => Some(name.wit.clone()),
            };
            self.problems.leave();
            flags = push(flags, flag);
        }
        flags.map(Val::Flags)
    }
}

/// `items` with one more, or none from the first one that is missing.
fn push<T>(items: Option<Vec<T>>, item: Option<T>) -> Option<Vec<T>> {
    let mut items = items?;
    items.push(item?);
    Some(items)
}

fn named<'n>(names: &'n [Name], text: &str) -> Option<&'n Name> {
    names.iter().find(|name| name.json == text)
}

fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}
