//! The result of a tool that has nothing to say.

use bulkhead_sdk::{Content, Error, IntoOutput, Output, serde_json::Value};

/// No value: `null` for programs, `None` for a model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nothing;

impl IntoOutput for Nothing {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output {
            content: vec![Content::text("None")],
            structured: Some(Value::Null),
        })
    }
}
