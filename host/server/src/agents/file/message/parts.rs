//! The calls, results and decisions of a file's messages.

use bulkhead_domain::{Approval, Part, ToolCall, ToolReturn, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::content;

/// A call in the form of `OpenAI`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileCall {
    id: String,
    r#type: String,
    function: Function,
    /// What a provider wants back with it; other servers take it and may forget it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Function {
    name: String,
    arguments: String,
}

/// The result of a call: what the model reads, or the texts and images that a client gave.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileReturn {
    pub(super) tool_call_id: Option<String>,
    pub(super) status: ToolStatus,
    pub(super) stdout: Option<Vec<String>>,
    pub(super) stderr: Option<Vec<String>>,
    pub(super) func_response: Option<Value>,
    /// The name that clients have for it.
    #[serde(default, skip_serializing)]
    pub(super) tool_return: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum FileApproval {
    Decision(Decision),
    Result(FileReturn),
}

/// A person's word.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Decision {
    /// Always `approval`.
    #[serde(default = "decision")]
    r#type: String,
    tool_call_id: String,
    approve: bool,
    reason: Option<String>,
}

fn decision() -> String {
    "approval".to_owned()
}

fn function() -> String {
    "function".to_owned()
}

impl FileCall {
    pub(super) fn of(call: &ToolCall) -> Self {
        Self {
            id: call.id.clone(),
            r#type: function(),
            function: Function {
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            },
            signature: call.signature.clone(),
        }
    }
}

impl From<FileCall> for ToolCall {
    fn from(file: FileCall) -> Self {
        Self {
            id: file.id,
            name: file.function.name,
            arguments: file.function.arguments,
            signature: file.signature,
        }
    }
}

impl FileReturn {
    pub(super) fn of(returned: &ToolReturn) -> Self {
        let response = match &returned.parts {
            Some(parts) => Value::Array(content::written(parts)),
            None => Value::from(returned.packed.as_str()),
        };
        Self {
            tool_call_id: Some(returned.tool_call_id.clone()),
            status: returned.status,
            stdout: returned.stdout.clone(),
            stderr: returned.stderr.clone(),
            func_response: Some(response),
            tool_return: None,
        }
    }

    /// The one result of a message that has it as its text.
    pub(super) fn of_content(call: Option<String>, parts: &[Part]) -> Result<Self, String> {
        let call = call.ok_or("a tool's message needs tool_returns, or a tool_call_id")?;
        let text = parts.iter().find_map(|part| match part {
            Part::Text { text, .. } => Some(text.clone()),
            _ => None,
        });
        let packed = text.unwrap_or_default();
        let fields: Value = serde_json::from_str(&packed).unwrap_or_default();
        Ok(Self {
            tool_call_id: Some(call),
            status: match fields["status"].as_str() {
                Some("Failed") => ToolStatus::Error,
                _ => ToolStatus::Success,
            },
            stdout: None,
            stderr: None,
            func_response: Some(packed.into()),
            tool_return: None,
        })
    }
}

impl From<content::Returned> for FileReturn {
    fn from(returned: content::Returned) -> Self {
        Self {
            status: returned.status(),
            tool_call_id: Some(returned.tool_call_id),
            stdout: None,
            stderr: None,
            func_response: Some(returned.text.into()),
            tool_return: None,
        }
    }
}

impl FileApproval {
    pub(super) fn of(approval: &Approval) -> Self {
        match approval {
            Approval::Approval {
                tool_call_id,
                approve,
                reason,
            } => Self::Decision(Decision {
                r#type: decision(),
                tool_call_id: tool_call_id.clone(),
                approve: *approve,
                reason: reason.clone(),
            }),
            Approval::Tool {
                tool_call_id,
                tool_return,
                status,
                stdout,
                stderr,
            } => Self::Result(FileReturn {
                tool_call_id: Some(tool_call_id.clone()),
                status: *status,
                stdout: stdout.clone(),
                stderr: stderr.clone(),
                func_response: Some(match tool_return {
                    Value::String(_) | Value::Array(_) => tool_return.clone(),
                    other => other.to_string().into(),
                }),
                tool_return: None,
            }),
        }
    }

    pub(super) fn read(self) -> Result<Approval, String> {
        match self {
            Self::Decision(decision) => Ok(Approval::Approval {
                tool_call_id: decision.tool_call_id,
                approve: decision.approve,
                reason: decision.reason,
            }),
            Self::Result(result) => Ok(Approval::Tool {
                tool_call_id: result
                    .tool_call_id
                    .ok_or("a result among approvals needs its tool_call_id")?,
                tool_return: result
                    .func_response
                    .or(result.tool_return)
                    .unwrap_or_else(|| "".into()),
                status: result.status,
                stdout: result.stdout,
                stderr: result.stderr,
            }),
        }
    }
}
