//! What is wrong in a request, as the contract's own validator says it (pydantic's types, messages
//! and places).

use serde_json::{Value, json};

use super::repr;

/// Something wrong in a body or a query.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    kind: &'static str,
    /// Where, from the part of the request down: names as strings, places in lists as numbers.
    place: Vec<Value>,
    message: String,
    input: Value,
    context: Option<Value>,
}

impl Fault {
    pub(crate) fn new(
        kind: &'static str,
        place: Vec<Value>,
        message: impl Into<String>,
        input: Value,
    ) -> Self {
        Self {
            kind,
            place,
            message: message.into(),
            input,
            context: None,
        }
    }

    /// With what the message was made of.
    #[must_use]
    pub(crate) fn with(mut self, context: Value) -> Self {
        self.context = Some(context);
        self
    }

    /// A number below its minimum.
    pub(crate) fn too_small(place: Vec<Value>, minimum: i64, input: Value) -> Self {
        let message = format!("Input should be greater than or equal to {minimum}");
        Self::new("greater_than_equal", place, message, input).with(json!({ "ge": minimum }))
    }

    /// A number that is not above the one that it must exceed.
    pub(crate) fn not_above(place: Vec<Value>, below: i64, input: Value) -> Self {
        let message = format!("Input should be greater than {below}");
        Self::new("greater_than", place, message, input).with(json!({ "gt": below }))
    }

    /// A number above its maximum.
    pub(crate) fn too_large(place: Vec<Value>, maximum: i64, input: Value) -> Self {
        let message = format!("Input should be less than or equal to {maximum}");
        Self::new("less_than_equal", place, message, input).with(json!({ "le": maximum }))
    }

    /// A text of fewer characters than its minimum.
    pub(crate) fn too_short(place: Vec<Value>, minimum: usize, input: Value) -> Self {
        let plural = if minimum == 1 { "" } else { "s" };
        let message = format!("String should have at least {minimum} character{plural}");
        Self::new("string_too_short", place, message, input).with(json!({ "min_length": minimum }))
    }

    /// A text of more characters than its maximum.
    pub(crate) fn too_long(place: Vec<Value>, maximum: usize, input: Value) -> Self {
        let plural = if maximum == 1 { "" } else { "s" };
        let message = format!("String should have at most {maximum} character{plural}");
        Self::new("string_too_long", place, message, input).with(json!({ "max_length": maximum }))
    }

    /// A text that does not match its pattern.
    pub(crate) fn no_match(place: Vec<Value>, pattern: &str, input: Value) -> Self {
        let message = format!("String should match pattern '{pattern}'");
        Self::new("string_pattern_mismatch", place, message, input)
            .with(json!({ "pattern": pattern }))
    }

    /// None of several values. `kind`: `enum` or `literal_error`.
    pub(crate) fn no_choice(
        kind: &'static str,
        place: Vec<Value>,
        choices: &[String],
        input: Value,
    ) -> Self {
        let expected = match choices {
            [] => String::new(),
            [only] => only.clone(),
            [others @ .., last] => format!("{} or {last}", others.join(", ")),
        };
        Self::new(kind, place, format!("Input should be {expected}"), input)
            .with(json!({ "expected": expected }))
    }

    /// What is wrong, and where below `place`, which stands for the part of the request; nothing of
    /// what was sent.
    pub(crate) fn summary(&self, place: &str) -> String {
        let mut place = place.to_owned();
        for step in self.place.iter().skip(1) {
            place.push('.');
            match step {
                Value::String(name) => place.push_str(name),
                other => place.push_str(&other.to_string()),
            }
        }
        format!("{place}: {}", self.message)
    }

    /// As it stands in the list of faults, which clients get as one text.
    pub(crate) fn repr(&self) -> String {
        let place: Vec<_> = self.place.iter().map(repr::repr).collect();
        let comma = if place.len() == 1 { "," } else { "" };
        let context = self.context.as_ref().map_or_else(String::new, |context| {
            format!(", 'ctx': {}", repr::repr(context))
        });
        format!(
            "{{'type': '{}', 'loc': ({}{comma}), 'msg': {}, 'input': {}{context}}}",
            self.kind,
            place.join(", "),
            repr::repr(&json!(self.message)),
            repr::repr(&self.input)
        )
    }
}
