//! What a tool gives back, and the failures that it reports itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One part of a result. `blob` data is base64 (RFC 4648, padded) in JSON.
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
        /// The bytes, base64.
        data: String,
    },
    /// A reference to something elsewhere.
    Link {
        /// Where it is.
        uri: String,
        /// What it is called.
        #[serde(default)]
        title: Option<String>,
    },
}

/// What a call that succeeded gives back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// What the model reads.
    pub content: Vec<Content>,
    /// JSON that matches the tool's output schema.
    #[serde(default)]
    pub structured: Option<Value>,
    /// Whether the host cut the content to its limit; where it did, the text says so too.
    #[serde(default)]
    pub truncated: bool,
}

impl Output {
    /// The text parts, joined by newlines: what a model without other modalities reads.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            Content::Blob { .. } | Content::Link { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// One thing wrong with an input, precise enough for a model to repair the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON Pointer (RFC 6901) into the input; empty for the whole input.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

/// A failure of a system that the tool talked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstream {
    /// Its HTTP status, where there was one.
    #[serde(default)]
    pub status: Option<u16>,
    /// What it said.
    pub message: String,
    /// How long it asks to be left alone, in milliseconds.
    #[serde(default)]
    pub retry_after_ms: Option<u32>,
    /// Whether bytes left the host: decides if a retry may repeat an effect.
    pub sent: bool,
}

/// A guest's own failure. What the host imposes is an [`Outcome`](crate::Outcome).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "detail", rename_all = "snake_case")]
pub enum ToolError {
    /// The input is wrong in a way that the schema does not express.
    InvalidInput(Vec<Problem>),
    /// A credential is missing or not accepted.
    Unauthorized(String),
    /// The tool was not allowed to do something.
    Denied(String),
    /// Something that the input names does not exist.
    NotFound(String),
    /// Something changed meanwhile.
    Conflict(String),
    /// Another system failed.
    Upstream(Upstream),
    /// Anything else.
    Failed(String),
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InvalidInput(problems) => {
                f.write_str("invalid input")?;
                for problem in problems {
                    write!(f, "; {}: {}", problem.at, problem.message)?;
                }
                Ok(())
            }
            Self::Unauthorized(text) => write!(f, "unauthorized: {text}"),
            Self::Denied(text) => write!(f, "denied: {text}"),
            Self::NotFound(text) => write!(f, "not found: {text}"),
            Self::Conflict(text) => write!(f, "conflict: {text}"),
            Self::Upstream(upstream) => match upstream.status {
                Some(status) => write!(f, "upstream answered {status}: {}", upstream.message),
                None => write!(f, "upstream failed: {}", upstream.message),
            },
            Self::Failed(text) => f.write_str(text),
        }
    }
}
