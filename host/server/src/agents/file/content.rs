//! Pieces of a message's content. A file has those of the wire; images carry their data, since
//! their ids say nothing to another server.

use bulkhead_domain::{ImageSource, Part, ToolCall, ToolStatus};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::http::messages::images;

/// What the content of a message says.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Texts, images, reasoning.
    pub(super) parts: Vec<Part>,
    /// Calls that older files have among the content.
    pub(super) calls: Vec<ToolCall>,
    /// And results.
    pub(super) returns: Vec<Returned>,
}

/// A result among the content.
#[derive(Debug, Deserialize)]
pub(super) struct Returned {
    pub(super) tool_call_id: String,
    #[serde(rename = "content")]
    pub(super) text: String,
    is_error: bool,
}

impl Returned {
    pub(super) fn status(&self) -> ToolStatus {
        match self.is_error {
            true => ToolStatus::Error,
            false => ToolStatus::Success,
        }
    }
}

/// A call among the content.
#[derive(Deserialize)]
struct Called {
    id: String,
    name: String,
    input: Map<String, Value>,
    signature: Option<String>,
}

/// Content as a file has it: fields that say nothing are left out.
pub(super) fn written(parts: &[Part]) -> Vec<Value> {
    parts.iter().map(write).collect()
}

fn write(part: &Part) -> Value {
    let mut value = match part {
        Part::Image {
            source:
                ImageSource::Letta {
                    media_type: Some(media_type),
                    data: Some(data),
                    detail,
                    ..
                },
        } => json!({ "type": "image", "source": {
            "type": "base64", "media_type": media_type, "data": data, "detail": detail,
        } }),
        other => json!(other),
    };
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    value
}

/// Content that has the contract's schema; the error says what this server can't keep of it.
pub(super) fn read(items: Vec<Value>) -> Result<Read, String> {
    let mut read = Read::default();
    for item in items {
        match item["type"].as_str() {
            Some("tool_call") => read.calls.push(call(item)?),
            Some("tool_return") => read.returns.push(typed(item)?),
            _ => read.parts.push(part(item)?),
        }
    }
    Ok(read)
}

/// A part other than a call or a result.
pub(super) fn part(item: Value) -> Result<Part, String> {
    let part = typed(item)?;
    let Part::Image {
        source:
            ImageSource::Base64 {
                media_type,
                data,
                detail,
            },
    } = part
    else {
        return Ok(part);
    };
    images::expect_base64(&data).map_err(|reason| format!("an image is not base64: {reason}"))?;
    Ok(Part::Image {
        source: ImageSource::Letta {
            file_id: format!("file-{}", Uuid::new_v4()),
            media_type: Some(media_type),
            data: Some(data),
            detail,
        },
    })
}

fn call(item: Value) -> Result<ToolCall, String> {
    let called: Called = typed(item)?;
    Ok(ToolCall {
        id: called.id,
        name: called.name,
        arguments: Value::Object(called.input).to_string(),
        signature: called.signature,
    })
}

fn typed<T: serde::de::DeserializeOwned>(item: Value) -> Result<T, String> {
    serde_json::from_value(item).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_leaves_with_its_data_and_arrives_under_an_id_of_its_own() {
        let stored = Part::Image {
            source: ImageSource::Letta {
                file_id: "file-1".to_owned(),
                media_type: Some("image/png".to_owned()),
                data: Some("aGk=".to_owned()),
                detail: None,
            },
        };
        let file = written(&[stored.clone(), Part::text("hi")]);
        assert_eq!(file[0]["source"]["type"], "base64");
        assert!(!json!(file).to_string().contains("file-1"));
        let back = read(file.clone()).expect("it is read").parts;
        assert_eq!(written(&back), file);
        let Part::Image {
            source: ImageSource::Letta { file_id, .. },
        } = &back[0]
        else {
            panic!("{back:?}");
        };
        assert_ne!(file_id, "file-1");
        let broken = json!({ "type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": "%",
        } });
        assert!(part(broken).is_err());
    }

    #[test]
    fn calls_and_results_among_the_content_are_kept() {
        let read = read(vec![
            json!({ "type": "tool_call", "id": "c", "name": "look", "input": { "a": 1 } }),
            json!({ "type": "tool_return", "tool_call_id": "c", "content": "x", "is_error": true }),
        ]);
        let read = read.expect("it is read");
        assert_eq!(read.calls[0].arguments, r#"{"a":1}"#);
        assert_eq!(read.returns[0].status(), ToolStatus::Error);
        assert!(read.parts.is_empty());
    }
}
