//! Values of the ABI to the host's own types and back.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bulkhead_domain::{Annotations, Content, Output, Problem, ToolError, ToolInfo, Upstream};
use serde_json::Value;

use super::{bindings::exports::bulkhead::tool::tools as exported, wit::types as wit};

impl From<wit::Content> for Content {
    fn from(content: wit::Content) -> Self {
        match content {
            wit::Content::Text(text) => Self::Text { text },
            wit::Content::Blob(blob) => Self::Blob {
                media_type: blob.media_type,
                data: BASE64_STANDARD.encode(blob.data),
            },
            wit::Content::Link(link) => Self::Link {
                uri: link.uri,
                title: link.title,
            },
        }
    }
}

/// As [`From`], the other way; a blob that is not base64 can't come from this host.
pub(super) fn content_to_guest(content: Content) -> wit::Content {
    match content {
        Content::Text { text } => wit::Content::Text(text),
        Content::Blob { media_type, data } => wit::Content::Blob(wit::Blob {
            media_type,
            data: BASE64_STANDARD.decode(data).unwrap_or_default(),
        }),
        Content::Link { uri, title } => wit::Content::Link(wit::Link { uri, title }),
    }
}

/// A guest's output; its structured part is still text.
pub(crate) fn output_from_guest(output: exported::Output) -> (Vec<Content>, Option<String>) {
    (
        output.content.into_iter().map(Content::from).collect(),
        output.structured,
    )
}

/// An output for a guest that called another tool.
pub(super) fn output_to_guest(output: Output) -> wit::Output {
    wit::Output {
        content: output.content.into_iter().map(content_to_guest).collect(),
        structured: output.structured.map(|value| value.to_string()),
    }
}

/// A guest's own failure.
pub(crate) fn tool_error_from_guest(error: exported::ToolError) -> ToolError {
    match error {
        exported::ToolError::InvalidInput(problems) => ToolError::InvalidInput(
            problems
                .into_iter()
                .map(|problem| Problem {
                    at: problem.at,
                    message: problem.message,
                })
                .collect(),
        ),
        exported::ToolError::Unauthorized(text) => ToolError::Unauthorized(text),
        exported::ToolError::Denied(text) => ToolError::Denied(text),
        exported::ToolError::NotFound(text) => ToolError::NotFound(text),
        exported::ToolError::Conflict(text) => ToolError::Conflict(text),
        exported::ToolError::Upstream(upstream) => ToolError::Upstream(Upstream {
            status: upstream.status,
            message: upstream.message,
            retry_after_ms: upstream.retry_after_ms,
            sent: upstream.sent,
        }),
        exported::ToolError::Failed(text) => ToolError::Failed(text),
    }
}

/// A failure for a guest that called another tool.
pub(super) fn tool_error_to_guest(error: ToolError) -> wit::ToolError {
    match error {
        ToolError::InvalidInput(problems) => wit::ToolError::InvalidInput(
            problems
                .into_iter()
                .map(|problem| wit::Problem {
                    at: problem.at,
                    message: problem.message,
                })
                .collect(),
        ),
        ToolError::Unauthorized(text) => wit::ToolError::Unauthorized(text),
        ToolError::Denied(text) => wit::ToolError::Denied(text),
        ToolError::NotFound(text) => wit::ToolError::NotFound(text),
        ToolError::Conflict(text) => wit::ToolError::Conflict(text),
        ToolError::Upstream(upstream) => wit::ToolError::Upstream(wit::Upstream {
            status: upstream.status,
            message: upstream.message,
            retry_after_ms: upstream.retry_after_ms,
            sent: upstream.sent,
        }),
        ToolError::Failed(text) => wit::ToolError::Failed(text),
    }
}

/// What `describe` says of a tool; the error names the schema that is no JSON.
pub(crate) fn tool_info_from_guest(info: exported::ToolInfo) -> Result<ToolInfo, Problem> {
    let json = |text: &str, which: &str| -> Result<Value, Problem> {
        serde_json::from_str(text).map_err(|error| Problem {
            at: format!("/{which}"),
            message: format!("not valid JSON: {error}"),
        })
    };
    let input_schema = json(&info.input_schema, "input_schema")?;
    let output_schema = info
        .output_schema
        .as_deref()
        .map(|text| json(text, "output_schema"))
        .transpose()?;
    Ok(ToolInfo {
        name: info.name,
        description: info.description,
        input_schema,
        output_schema,
        annotations: Annotations {
            title: info.annotations.title,
            read_only: info.annotations.read_only,
            destructive: info.annotations.destructive,
            idempotent: info.annotations.idempotent,
            open_world: info.annotations.open_world,
        },
    })
}
