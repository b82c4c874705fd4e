//! Results: values that a model reads as Python writes them and programs as JSON.

use bulkhead_sdk::{Content, Error, IntoOutput, Output, serde_json};
use serde::Serialize;

/// A value in both forms.
#[derive(Debug)]
pub(crate) struct Value(Output);

impl Value {
    /// No value: `None`.
    pub(crate) fn nothing() -> Result<Self, Error> {
        Self::new(&())
    }

    /// A text as it is.
    pub(crate) fn text(text: &str) -> Self {
        Self(Output::from_text(text))
    }

    /// A value whose fields keep their order in the text.
    pub(crate) fn new<T: Serialize>(value: &T) -> Result<Self, Error> {
        Ok(Self(Output {
            content: vec![Content::text(bulkhead_python_repr::repr(value)?)],
            structured: Some(serde_json::to_value(value)?),
        }))
    }
}

impl IntoOutput for Value {
    fn into_output(self) -> Result<Output, Error> {
        Ok(self.0)
    }
}
