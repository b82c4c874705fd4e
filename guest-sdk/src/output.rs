//! What a tool gives back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, schema};

/// The result of a call: what the model reads, and JSON for programs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// What the model reads.
    pub content: Vec<Content>,
    /// JSON that matches the tool's output schema.
    pub structured: Option<Value>,
}

/// One part of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text for the model.
    Text {
        /// The text.
        text: String,
    },
    /// Bytes with a media type.
    Blob {
        /// For example `image/png`.
        media_type: String,
        /// The bytes.
        data: Vec<u8>,
    },
    /// A reference to something elsewhere.
    Link {
        /// Where it is.
        uri: String,
        /// What it is called.
        title: Option<String>,
    },
}

/// A structured result: the value, its schema, and its JSON as the text that the model reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A type that a tool may return.
#[diagnostic::on_unimplemented(
    message = "a tool can't return `{Self}`",
    label = "not something that a tool can return",
    note = "it can return `String`, `&'static str`, `()`, `Content`, `Vec<Content>`, `Output`, `Json<T>`, \
            and a `Result` of one of these with an error that converts into `bulkhead_sdk::Error`",
    note = "for structured output, derive `Serialize` and `JsonSchema` and return `Json<{Self}>`"
)]
pub trait IntoOutput {
    /// The output of the call.
    fn into_output(self) -> Result<Output, Error>;

    /// The schema of the structured output, where the type promises one.
    fn output_schema() -> Option<Value>
    where
        Self: Sized,
    {
        None
    }
}

impl Output {
    /// One text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::text(text)],
            structured: None,
        }
    }

    /// The text parts, joined by newlines.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            Content::Blob { .. } | Content::Link { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Content {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Bytes with a media type.
    pub fn blob(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self::Blob {
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// A reference to something elsewhere.
    pub fn link(uri: impl Into<String>) -> Self {
        Self::Link {
            uri: uri.into(),
            title: None,
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, Error> {
        Ok(self)
    }
}

impl IntoOutput for () {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output::default())
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output::from_text(self))
    }
}

impl IntoOutput for &'static str {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output::from_text(self))
    }
}

impl IntoOutput for Content {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output {
            content: vec![self],
            structured: None,
        })
    }
}

impl IntoOutput for Vec<Content> {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output {
            content: self,
            structured: None,
        })
    }
}

impl<T: Serialize + JsonSchema> IntoOutput for Json<T> {
    fn into_output(self) -> Result<Output, Error> {
        // Text of its own, since it keeps the order of the fields.
        let text = serde_json::to_string(&self.0)?;
        let structured = serde_json::to_value(self.0)?;
        Ok(Output {
            content: vec![Content::text(text)],
            structured: Some(structured),
        })
    }

    fn output_schema() -> Option<Value> {
        Some(schema::output_schema::<T>())
    }
}

impl<T: IntoOutput, E: Into<Error>> IntoOutput for Result<T, E> {
    fn into_output(self) -> Result<Output, Error> {
        self.map_err(Into::into)?.into_output()
    }

    fn output_schema() -> Option<Value> {
        T::output_schema()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Content, IntoOutput, Json, Output};
    use crate::Error;

    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Sum {
        /// The sum.
        sum: i32,
    }

    #[test]
    fn json_gives_text_structured_output_and_a_schema() {
        let output = Json(Sum { sum: 3 }).into_output().expect("it serialises");
        assert_eq!(output.text(), r#"{"sum":3}"#);
        assert_eq!(output.structured, Some(json!({"sum": 3})));
        let schema =
            <Result<Json<Sum>, Error> as IntoOutput>::output_schema().expect("Json has a schema");
        assert_eq!(schema["properties"]["sum"]["description"], "The sum.");
    }

    #[test]
    fn any_error_that_converts_may_stand_in_a_result() {
        let result: Result<String, &str> = Err("no");
        assert_eq!(result.into_output(), Err(Error::Failed("no".to_owned())));
    }

    #[test]
    fn nothing_is_an_empty_output_and_parts_stay_in_order() {
        assert_eq!(().into_output(), Ok(Output::default()));
        let parts = vec![
            Content::text("a"),
            Content::blob("image/png", [1]),
            Content::text("b"),
        ];
        assert_eq!(
            parts.into_output().expect("content is output").text(),
            "a\nb"
        );
    }
}
