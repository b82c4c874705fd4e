//! What a call of a tool gave.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{McpError, error::excerpt, limited::Limited};

/// Parts of one result.
const PARTS_MAX: usize = 1000;
/// Bytes of structured content that is read as a value; larger one stays text.
const STRUCTURED_MAX: usize = 1 << 20;

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// For example `image/png`.
        media_type: String,
        /// Its bytes, base64.
        data: String,
    },
    /// Anything else, as the JSON that the server wrote.
    Other(String),
}

/// What a call of a tool gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolResult {
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// Its parts, in order.
    pub content: Vec<Content>,
    /// Its value, where it gave one.
    pub structured: Option<Value>,
}

impl ToolResult {
    /// Its text: text parts joined by line feeds, other parts as JSON, images as a word about them.
    /// A result without parts is the JSON of its value.
    pub fn text(&self) -> String {
        let parts = self.content.iter().map(|part| match part {
            Content::Text(text) | Content::Other(text) => text.clone(),
            Content::Image { media_type, data } => {
                format!("[{media_type}, {} bytes]", data.len() / 4 * 3)
            }
        });
        let parts: Vec<_> = parts.collect();
        match &self.structured {
            Some(value) if parts.is_empty() => value.to_string(),
            _ => parts.join("\n"),
        }
    }
}

#[derive(Deserialize)]
struct Returned {
    #[serde(default)]
    content: Limited<Box<RawValue>, PARTS_MAX>,
    #[serde(rename = "structuredContent")]
    structured: Option<Box<RawValue>>,
    #[serde(default, rename = "isError")]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    data: Option<String>,
    #[serde(rename = "mimeType")]
    media_type: Option<String>,
}

/// Reads the result of a call.
pub(crate) fn read(result: &RawValue) -> Result<ToolResult, McpError> {
    let returned: Returned = serde_json::from_str(result.get()).map_err(|error| {
        let text = excerpt(&error.to_string());
        McpError::protocol(format!("no result of a call ({text})"))
    })?;
    let mut content: Vec<Content> = returned
        .content
        .0
        .iter()
        .map(|part| read_part(part))
        .collect();
    let mut structured = None;
    if let Some(value) = returned.structured.filter(|value| value.get() != "null") {
        match value.get().len() {
            ..=STRUCTURED_MAX => structured = serde_json::from_str(value.get()).ok(),
            _ if content.is_empty() => content.push(Content::Other(value.get().to_owned())),
            _ => {}
        }
    }
    Ok(ToolResult {
        is_error: returned.is_error == Some(true),
        content,
        structured,
    })
}

fn read_part(raw: &RawValue) -> Content {
    let other = || Content::Other(raw.get().to_owned());
    let Ok(part) = serde_json::from_str::<Part>(raw.get()) else {
        return other();
    };
    match (part.kind.as_str(), part.text, part.data, part.media_type) {
        ("text", Some(text), ..) => Content::Text(text),
        ("image", _, Some(data), Some(media_type)) => Content::Image { media_type, data },
        _ => other(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> Result<ToolResult, McpError> {
        read(&RawValue::from_string(value.to_string()).expect("JSON"))
    }

    #[test]
    fn parts_become_text_and_a_result_without_parts_is_its_value() {
        let link = json!({ "type": "resource_link", "uri": "x:y" });
        let result = of(&json!({ "content": [
            { "type": "text", "text": "one" }, link, { "type": "text", "text": "two" },
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
        ], "isError": true }))
        .expect("a result");
        assert!(result.is_error);
        assert_eq!(
            result.text(),
            format!("one\n{link}\ntwo\n[image/png, 3 bytes]")
        );
        let value = json!({ "a": [1, null] });
        let result = of(&json!({ "content": [], "structuredContent": value })).expect("a result");
        assert_eq!(
            (result.text(), result.structured),
            (value.to_string(), Some(value))
        );
    }

    #[test]
    fn a_flood_of_parts_is_refused() {
        let parts: Vec<_> = (0..=PARTS_MAX).map(|_| json!({})).collect();
        assert!(of(&json!({ "content": parts })).is_err());
        assert!(of(&json!([])).is_err() && of(&json!("x")).is_err());
    }
}
