//! A message of a file.
//!
//! - `parts`: the calls, results and decisions in it. [`reader`]: what it is on this server.

mod parts;
pub(super) mod reader;

use bulkhead_domain::{Approval, Message, Role, Timestamp, id::canonical};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use self::parts::{FileApproval, FileCall, FileReturn};
use super::content;
use crate::contract::body::Schema;

/// A message with every field of the contract.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileMessage {
    /// Always `message`.
    #[serde(rename = "type", default)]
    kind: Option<String>,
    pub(super) id: String,
    pub(super) role: Role,
    content: Content,
    name: Option<String>,
    otid: Option<String>,
    sender_id: Option<String>,
    group_id: Option<String>,
    batch_item_id: Option<String>,
    model: Option<String>,
    /// The agent's local id.
    pub(super) agent_id: Option<String>,
    tool_calls: Option<Vec<FileCall>>,
    tool_call_id: Option<String>,
    tool_returns: Option<Vec<FileReturn>>,
    approve: Option<bool>,
    approval_request_id: Option<String>,
    denial_reason: Option<String>,
    approvals: Option<Vec<FileApproval>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_err: Option<bool>,
    #[serde(serialize_with = "with_offset")]
    created_at: Option<Timestamp>,
}

impl Schema for FileMessage {
    const NAME: &str = "AgentFileMessage";
}

/// A text, or pieces of content.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Value>),
}

/// As other writers of files have it, with an offset in place of the letter.
pub(super) fn offset(at: Timestamp) -> String {
    at.to_string().replace('Z', "+00:00")
}

#[allow(clippy::ref_option, reason = "the form that serde calls")]
fn with_offset<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.serialize_str(&offset(*at)),
        None => serializer.serialize_none(),
    }
}

/// What a client noted of a message, but for an id of this database: a file has none.
fn noted(text: Option<&str>) -> Option<String> {
    let is_id = |text: &str| {
        let uuid = text.split_once('-').and_then(|(_, uuid)| canonical(uuid));
        uuid.is_some()
    };
    text.filter(|text| !is_id(text)).map(ToOwned::to_owned)
}

impl FileMessage {
    /// A stored message under local ids.
    pub(super) fn of(message: &Message, id: String, agent: &str) -> Self {
        let calls: Vec<_> = message.tool_calls.iter().map(FileCall::of).collect();
        let returns: Vec<_> = message.tool_returns.iter().map(FileReturn::of).collect();
        let approvals: Vec<_> = message.approvals.iter().map(FileApproval::of).collect();
        let decision = message
            .approvals
            .iter()
            .find_map(|approval| match approval {
                Approval::Approval {
                    tool_call_id,
                    approve,
                    reason,
                } => Some((tool_call_id, *approve, reason.as_ref())),
                Approval::Tool { .. } => None,
            });
        let first = message.tool_returns.first();
        let name = message.name.as_ref();
        Self {
            kind: Some("message".to_owned()),
            id,
            role: message.role,
            content: Content::Parts(Self::content(message)),
            name: name.or(first.map(|first| &first.name)).cloned(),
            otid: message.otid.clone(),
            sender_id: noted(message.sender_id.as_deref()),
            group_id: noted(message.group_id.as_deref()),
            batch_item_id: None,
            model: message.model.clone(),
            agent_id: Some(agent.to_owned()),
            tool_calls: (!calls.is_empty()).then_some(calls),
            tool_call_id: first.map(|first| first.tool_call_id.clone()),
            tool_returns: (!returns.is_empty()).then_some(returns),
            approve: decision.map(|(_, approve, _)| approve),
            approval_request_id: decision.map(|(call, ..)| call.clone()),
            denial_reason: decision.and_then(|(.., reason)| reason.cloned()),
            approvals: (!approvals.is_empty()).then_some(approvals),
            is_err: message.is_err,
            created_at: Some(message.created_at),
        }
    }

    /// What a model reads of a result also stands in the content, where older readers look for it.
    fn content(message: &Message) -> Vec<Value> {
        let mut parts = content::written(&message.content);
        let first = message.tool_returns.first();
        if let (true, Some(first)) = (parts.is_empty(), first.filter(|one| one.parts.is_none())) {
            parts.push(json!({ "type": "text", "text": first.packed }));
        }
        parts
    }
}
