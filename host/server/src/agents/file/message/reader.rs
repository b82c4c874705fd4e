//! A message of a file as one of this server.

use std::collections::{HashMap, HashSet};

use bulkhead_agent::{input::client_return, pack};
use bulkhead_domain::{
    Approval, Message, Part, Role, Timestamp, ToolCall, ToolReturn, id::AgentId,
};
use serde_json::{Value, json};

use super::{
    super::{PIECE_BYTES_MAX, content},
    Content, FileMessage,
    parts::{FileApproval, FileReturn},
};
use crate::contract::repr;

/// What messages before say of later ones.
#[derive(Debug, Default)]
pub(in crate::agents::file) struct Before {
    /// The tool of every call, by the call's id.
    tools: HashMap<String, String>,
    /// The calls of the last request for approval, until all of them are decided on at once.
    asked: Vec<String>,
    /// The same ones.
    is_asked: HashSet<String>,
}

impl Before {
    fn note(&mut self, message: &Message) {
        let calls = message.tool_calls.iter();
        let tools = calls
            .clone()
            .map(|call| (call.id.clone(), call.name.clone()));
        self.tools.extend(tools);
        if message.is_approval_request() {
            self.asked = calls.map(|call| call.id.clone()).collect();
            self.is_asked = self.asked.iter().cloned().collect();
        }
    }

    /// A decision in the older form: on the one call that it names, or on all calls of the request
    /// whose message it names.
    fn decided(
        &mut self,
        named: Option<String>,
        approve: bool,
        reason: Option<String>,
    ) -> Result<Vec<Approval>, String> {
        let calls = match named {
            Some(call) if self.asked.is_empty() || self.is_asked.contains(&call) => vec![call],
            _ => std::mem::take(&mut self.asked),
        };
        // Each of them gets the reason.
        let bytes = reason.as_ref().map_or(0, String::len);
        if bytes.saturating_mul(calls.len()) > PIECE_BYTES_MAX {
            let calls = calls.len();
            return Err(format!("its denial_reason is too long for {calls} calls"));
        }
        let decisions = calls.into_iter().map(|tool_call_id| Approval::Approval {
            tool_call_id,
            approve,
            reason: reason.clone(),
        });
        Ok(decisions.collect())
    }
}

/// Whose messages are read.
#[derive(Debug, Clone, Copy)]
pub(in crate::agents::file) struct Reader<'a> {
    pub(in crate::agents::file) agent_id: AgentId,
    /// The zone of the times that the agent is told.
    pub(in crate::agents::file) timezone: &'a str,
}

impl Reader<'_> {
    /// A message of a file as one of this server, under an id of its own; the error says what can't
    /// be kept of it.
    pub(in crate::agents::file) fn message(
        self,
        file: FileMessage,
        before: &mut Before,
    ) -> Result<Message, String> {
        let mut read = match file.content {
            Content::Text(text) => content::Read {
                parts: vec![Part::text(text)],
                ..content::Read::default()
            },
            Content::Parts(items) => content::read(items)?,
        };
        let mut message = Message {
            otid: file.otid,
            sender_id: file.sender_id,
            group_id: file.group_id,
            model: file.model,
            is_err: file.is_err,
            created_at: file.created_at.unwrap_or_else(Timestamp::now),
            ..Message::new(self.agent_id, file.role)
        };
        let calls = file.tool_calls.into_iter().flatten();
        message.tool_calls = calls.map(ToolCall::from).collect();
        let known = message.tool_calls.iter().map(|call| call.id.clone());
        let mut known: HashSet<String> = known.collect();
        let new = read.calls.into_iter();
        let new = new.filter(|call| known.insert(call.id.clone()));
        message.tool_calls.extend(new);
        let mut returns: Vec<FileReturn> = file.tool_returns.into_iter().flatten().collect();
        returns.extend(read.returns.into_iter().map(FileReturn::from));
        if message.role == Role::Tool {
            if returns.is_empty() {
                // The oldest form: one result, which is the content.
                returns.push(FileReturn::of_content(file.tool_call_id, &read.parts)?);
            }
            let name = file.name.as_deref();
            message.tool_returns = self.returns(returns, name, message.created_at, before)?;
            // What the content repeats is there by now.
            let said = message.tool_returns.iter().map(|one| one.packed.as_str());
            let said: HashSet<&str> = said.collect();
            read.parts.retain(|part| match part {
                Part::Text { text, .. } => !said.contains(text.as_str()),
                _ => true,
            });
        } else if returns.is_empty() {
            message.name = file.name;
        } else {
            return Err("results stand in messages of the role tool alone".to_owned());
        }
        if matches!(message.role, Role::Assistant | Role::Approval) {
            // Clients would be shown that nothing was said.
            read.parts.retain(|part| *part != Part::text(""));
        }
        message.content = read.parts;
        let approvals = file.approvals.into_iter().flatten();
        let approvals = approvals
            .map(FileApproval::read)
            .collect::<Result<_, _>>()?;
        message.approvals = approvals;
        if let (true, Some(approve)) = (message.approvals.is_empty(), file.approve) {
            let named = file.approval_request_id;
            message.approvals = before.decided(named, approve, file.denial_reason)?;
        }
        before.note(&message);
        Ok(message)
    }

    fn returns(
        self,
        returns: Vec<FileReturn>,
        name: Option<&str>,
        at: Timestamp,
        before: &Before,
    ) -> Result<Vec<ToolReturn>, String> {
        let mut bytes = 0_usize;
        let read = returns.into_iter().map(|file| {
            let id = file.tool_call_id.clone().unwrap_or_default();
            let called = before.tools.get(&id).map(String::as_str);
            let name = called.or(name).unwrap_or_default().to_owned();
            // Each of them has the name of its tool.
            bytes = bytes.saturating_add(name.len());
            if bytes > PIECE_BYTES_MAX {
                return Err("the name of its tool is too long for so many results".to_owned());
            }
            let response = file.func_response.or(file.tool_return);
            let (text, packed, parts) = match response.unwrap_or_default() {
                Value::String(packed) => (unpacked(&packed), Some(packed), None),
                Value::Array(items) => {
                    let parts = items.into_iter().map(content::part);
                    let parts = parts.collect::<Result<Vec<_>, _>>()?;
                    let (text, _) = client_return(&json!(parts));
                    (text, None, Some(parts))
                }
                _ => (String::new(), None, None),
            };
            let pack = || {
                let text = Value::from(text.as_str());
                pack::tool_return(file.status, &text, at, self.timezone)
            };
            Ok(ToolReturn {
                packed: packed.unwrap_or_else(pack),
                tool_call_id: id,
                name,
                status: file.status,
                text,
                stdout: file.stdout,
                stderr: file.stderr,
                parts,
                receipt_id: None,
            })
        });
        read.collect()
    }
}

/// What clients are shown of a result, from what the model reads of it.
fn unpacked(packed: &str) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(packed) else {
        return packed.to_owned();
    };
    match fields.remove("message") {
        Some(Value::String(text)) => text,
        Some(value) => repr::repr(&value),
        None => packed.to_owned(),
    }
}
