//! Interface `types`: content, output and failures.

use super::wit::types;
use crate::{Content, Error, Output, Problem, Upstream};

impl From<Content> for types::Content {
    fn from(content: Content) -> Self {
        match content {
            Content::Text { text } => Self::Text(text),
            Content::Blob { media_type, data } => Self::Blob(types::Blob { media_type, data }),
            Content::Link { uri, title } => Self::Link(types::Link { uri, title }),
        }
    }
}

impl From<types::Content> for Content {
    fn from(content: types::Content) -> Self {
        match content {
            types::Content::Text(text) => Self::Text { text },
            types::Content::Blob(types::Blob { media_type, data }) => {
                Self::Blob { media_type, data }
            }
            types::Content::Link(types::Link { uri, title }) => Self::Link { uri, title },
        }
    }
}

impl From<Output> for types::Output {
    fn from(output: Output) -> Self {
        Self {
            content: output.content.into_iter().map(Into::into).collect(),
            structured: output.structured.map(|value| value.to_string()),
        }
    }
}

impl TryFrom<types::Output> for Output {
    type Error = serde_json::Error;

    fn try_from(output: types::Output) -> Result<Self, Self::Error> {
        Ok(Self {
            content: output.content.into_iter().map(Into::into).collect(),
            structured: output
                .structured
                .map(|text| serde_json::from_str(&text))
                .transpose()?,
        })
    }
}

impl From<Error> for types::ToolError {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidInput(problems) => {
                let problems = problems
                    .into_iter()
                    .map(|Problem { at, message }| types::Problem { at, message });
                Self::InvalidInput(problems.collect())
            }
            Error::Unauthorized(text) => Self::Unauthorized(text),
            Error::Denied(text) => Self::Denied(text),
            Error::NotFound(text) => Self::NotFound(text),
            Error::Conflict(text) => Self::Conflict(text),
            Error::Upstream(Upstream {
                status,
                message,
                retry_after_ms,
                sent,
            }) => Self::Upstream(types::Upstream {
                status,
                message,
                retry_after_ms,
                sent,
            }),
            Error::Failed(text) => Self::Failed(text),
        }
    }
}

impl From<types::ToolError> for Error {
    fn from(error: types::ToolError) -> Self {
        match error {
            types::ToolError::InvalidInput(problems) => {
                let problems = problems
                    .into_iter()
                    .map(|types::Problem { at, message }| Problem { at, message });
                Self::InvalidInput(problems.collect())
            }
            types::ToolError::Unauthorized(text) => Self::Unauthorized(text),
            types::ToolError::Denied(text) => Self::Denied(text),
            types::ToolError::NotFound(text) => Self::NotFound(text),
            types::ToolError::Conflict(text) => Self::Conflict(text),
            types::ToolError::Upstream(types::Upstream {
                status,
                message,
                retry_after_ms,
                sent,
            }) => Self::Upstream(Upstream {
                status,
                message,
                retry_after_ms,
                sent,
            }),
            types::ToolError::Failed(text) => Self::Failed(text),
        }
    }
}
