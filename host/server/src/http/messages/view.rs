//! A stored message as clients see it: one becomes several, by what it holds.
//!
//! Parts of one stored message share its id and are told apart by their `otid`: the id's last byte
//! with its high bit alone, and the part's index in the other seven. Reasoning, text and call are
//! numbered in this order by which of them are there, as pieces of a stream are; what a stream does
//! not show (reasoning that only the provider can read) is numbered after them.

use bulkhead_domain::{
    Approval, Message, Part, Role, SPEAKING_ARGUMENT, SPEAKING_TOOL, Timestamp, ToolCall,
    ToolReturn, ToolStatus, id::MessageId,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// The kinds of messages, as clients name those that they want.
pub(crate) const TYPES: &[(&str, &str)] = &[
    ("system_message", "system_message"),
    ("user_message", "user_message"),
    ("assistant_message", "assistant_message"),
    ("reasoning_message", "reasoning_message"),
    ("hidden_reasoning_message", "hidden_reasoning_message"),
    ("tool_call_message", "tool_call_message"),
    ("tool_return_message", "tool_return_message"),
    ("approval_request_message", "approval_request_message"),
    ("approval_response_message", "approval_response_message"),
    ("summary_message", "summary_message"),
    ("event_message", "event_message"),
];

/// How a client wants messages shown.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Whether the call by which older types speak is shown as what it says.
    pub(crate) use_assistant_message: bool,
    /// The tool of that call.
    pub(crate) tool_name: String,
    /// Its argument that is said.
    pub(crate) tool_kwarg: String,
    /// The kinds that are shown; none for all.
    pub(crate) types: Option<Vec<String>>,
    /// Whether summaries are shown as such, and not in a user's place.
    pub(crate) summaries: bool,
}

impl Default for View {
    fn default() -> Self {
        Self {
            use_assistant_message: true,
            tool_name: SPEAKING_TOOL.to_owned(),
            tool_kwarg: SPEAKING_ARGUMENT.to_owned(),
            types: None,
            summaries: false,
        }
    }
}

impl View {
    /// Whether messages of this kind are shown.
    pub(crate) fn shows(&self, message_type: &str) -> bool {
        let types = self.types.as_ref();
        types.is_none_or(|types| types.iter().any(|shown| shown == message_type))
    }

    /// Stored messages as they are shown, in their order.
    pub(crate) fn all<'a>(&self, messages: impl IntoIterator<Item = &'a Message>) -> Vec<Value> {
        let messages = messages.into_iter();
        messages.flat_map(|message| self.one(message)).collect()
    }

    /// One stored message as it is shown.
    pub(crate) fn one(&self, message: &Message) -> Vec<Value> {
        let mut shown = match message.role {
            Role::System => vec![system(message)],
            Role::User => vec![user(message)],
            Role::Summary if self.summaries => vec![summary(message)],
            Role::Summary => vec![user(message)],
            Role::Assistant => self.answer(message),
            Role::Tool => self.returns(message).into_iter().collect(),
            Role::Approval if message.is_approval_request() => {
                let mut parts = self.answer(message);
                parts.push(approval_request(message));
                parts
            }
            Role::Approval => vec![approval_response(message)],
        };
        shown.retain(|part| {
            part["message_type"]
                .as_str()
                .is_some_and(|kind| self.shows(kind))
        });
        shown
    }

    /// Reasoning, text and calls of an answer; not the calls of a request for approval.
    fn answer(&self, message: &Message) -> Vec<Value> {
        let mut parts = Vec::new();
        let (mut open, mut hidden) = (Vec::new(), Vec::new());
        for part in &message.content {
            match reasoning(message, part) {
                Some(Thought::Open(value)) => open.push(value),
                Some(Thought::Hidden(value)) => hidden.push(value),
                None => {}
            }
        }
        let has_thought = !open.is_empty();
        let text = text(message);
        let text_at = u8::from(has_thought);
        let call_at = text_at + u8::from(text.is_some());
        let calls = match message.role {
            Role::Assistant if !message.tool_calls.is_empty() => self.calls(message),
            _ => Vec::new(),
        };
        let mut next = call_at + u8::from(!calls.is_empty());
        for mut value in hidden {
            value["otid"] = otid(message.id, next).into();
            next = next.wrapping_add(1);
            parts.push(value);
        }
        for (at, mut value) in open.into_iter().enumerate() {
            let index = if at == 0 {
                0
            } else {
                next = next.wrapping_add(1);
                next - 1
            };
            value["otid"] = otid(message.id, index).into();
            parts.push(value);
        }
        parts.extend(text.map(|mut value| {
            value["otid"] = otid(message.id, text_at).into();
            value
        }));
        parts.extend(calls.into_iter().map(|mut value| {
            value["otid"] = otid(message.id, call_at).into();
            value
        }));
        parts
    }

    /// Whether a call of this tool is shown as what it says.
    pub(crate) fn speaks(&self, tool: &str) -> bool {
        self.use_assistant_message && tool == self.tool_name
    }

    /// Of a message that was shown in pieces, what its calls of the speaking tool say: that is shown
    /// when it is whole.
    pub(crate) fn spoken(&self, message: &Message) -> Vec<Value> {
        if message.role != Role::Assistant {
            return Vec::new();
        }
        let speaking = message.tool_calls.iter();
        let speaking = speaking.filter(|call| self.speaks(&call.name)).cloned();
        let message = Message {
            tool_calls: speaking.collect(),
            ..message.clone()
        };
        if message.tool_calls.is_empty() {
            return Vec::new();
        }
        let mut parts = self.answer(&message);
        // Calls stand after all else.
        let calls = self.calls(&message).len();
        let mut spoken = parts.split_off(parts.len().saturating_sub(calls));
        spoken.retain(|part| {
            let kind = part["message_type"].as_str();
            kind.is_some_and(|kind| self.shows(kind))
        });
        spoken
    }

    /// The calls of an answer, or what they say.
    fn calls(&self, message: &Message) -> Vec<Value> {
        let said = |call: &ToolCall| {
            let speaks = self.speaks(&call.name);
            speaks.then(|| said(call, &self.tool_kwarg)).flatten()
        };
        let mut parts: Vec<Value> = message
            .tool_calls
            .iter()
            .filter_map(said)
            .map(|text| {
                let fields = json!({ "content": text });
                part(message, "assistant_message", None, fields)
            })
            .collect();
        let others: Vec<&ToolCall> = message
            .tool_calls
            .iter()
            .filter(|call| said(call).is_none())
            .collect();
        if !others.is_empty() {
            let calls: Vec<Value> = others.iter().map(|call| shown_call(call)).collect();
            let fields = json!({ "tool_call": calls[0], "tool_calls": calls });
            parts.push(part(message, "tool_call_message", None, fields));
        }
        parts
    }

    /// The results of a step; none where the only one says that something was said.
    fn returns(&self, message: &Message) -> Option<Value> {
        let is_shown = |returned: &&ToolReturn| {
            let said = self.speaks(&returned.name) && returned.status == ToolStatus::Success;
            !said
        };
        let returns: Vec<&ToolReturn> = message.tool_returns.iter().filter(is_shown).collect();
        let first = returns.first()?;
        let all: Vec<Value> = returns
            .iter()
            .map(|returned| shown_return(returned))
            .collect();
        let fields = json!({
            "tool_return": first.text,
            "status": first.status,
            "tool_call_id": first.tool_call_id,
            "stdout": first.stdout,
            "stderr": first.stderr,
            "tool_returns": all,
            "name": first.name,
        });
        let otid = Some(otid(message.id, 0));
        Some(part(message, "tool_return_message", otid, fields))
    }
}

/// A request for approval, with the fields of the contract.
pub(crate) fn approval_request(message: &Message) -> Value {
    let calls: Vec<Value> = message.tool_calls.iter().map(shown_call).collect();
    let fields = json!({ "tool_call": calls.first(), "tool_calls": calls });
    let otid = Some(message.id.to_string());
    part(message, "approval_request_message", otid, fields)
}

fn approval_response(message: &Message) -> Value {
    let first = message.approvals.first();
    let (approve, reason) = match first {
        Some(Approval::Approval {
            approve, reason, ..
        }) => (Some(*approve), reason.as_deref()),
        _ => (None, None),
    };
    let fields = json!({
        "approvals": message.approvals,
        "approve": approve,
        "approval_request_id": first.map(Approval::tool_call_id),
        "reason": reason,
        "step_id": null,
    });
    part(message, "approval_response_message", None, fields)
}

fn system(message: &Message) -> Value {
    let fields = json!({ "content": message.plain_text() });
    part(message, "system_message", message.otid.clone(), fields)
}

fn user(message: &Message) -> Value {
    let content = match message.content.as_slice() {
        [Part::Text { text, .. }] => json!(text),
        [] => json!(""),
        parts => parts.iter().map(shown_part).collect(),
    };
    let otid = message.otid.clone().unwrap_or_else(|| otid(message.id, 0));
    part(
        message,
        "user_message",
        Some(otid),
        json!({ "content": content }),
    )
}

/// What is left of messages that were taken out of the context.
fn summary(message: &Message) -> Value {
    let text = message.plain_text();
    let packed: Value = serde_json::from_str(&text).unwrap_or_default();
    let fields = json!({
        "summary": packed["message"].as_str().unwrap_or(&text),
        "compaction_stats": packed["compaction_stats"],
    });
    part(
        message,
        "summary_message",
        Some(otid(message.id, 0)),
        fields,
    )
}

enum Thought {
    /// Clients read it.
    Open(Value),
    /// Only the provider does.
    Hidden(Value),
}

fn reasoning(message: &Message, thought: &Part) -> Option<Thought> {
    let open = |native: bool, text: &str, signature: Option<&str>| {
        let fields = json!({
            "source": source(native), "reasoning": text, "signature": signature,
        });
        Some(Thought::Open(part(
            message,
            "reasoning_message",
            None,
            fields,
        )))
    };
    let hidden = |state: &str, data: Option<&str>| {
        let fields = json!({ "state": state, "hidden_reasoning": data });
        let part = part(message, "hidden_reasoning_message", None, fields);
        Some(Thought::Hidden(part))
    };
    match thought {
        Part::Reasoning {
            is_native,
            reasoning,
            signature,
        } => open(*is_native, reasoning, signature.as_deref()),
        Part::SummarizedReasoning { summary, .. } if summary.is_empty() => hidden("omitted", None),
        Part::SummarizedReasoning {
            summary,
            encrypted_content,
            ..
        } => {
            let texts = summary.iter().map(|part| part.text.as_str());
            let text = texts.collect::<Vec<_>>().join("\n");
            open(true, &text, encrypted_content.as_deref())
        }
        Part::RedactedReasoning { data } => hidden("redacted", Some(data)),
        Part::OmittedReasoning { .. } => hidden("omitted", None),
        Part::Text { .. } | Part::Image { .. } => None,
    }
}

/// Whose thought it is, in the words of the contract.
pub(super) fn source(native: bool) -> &'static str {
    match native {
        true => "reasoner_model",
        false => "non_reasoner_model",
    }
}

/// What was said: a text where there is one, else its parts.
fn text(message: &Message) -> Option<Value> {
    let texts: Vec<&Part> = message
        .content
        .iter()
        .filter(|part| matches!(part, Part::Text { .. }))
        .collect();
    let content = match texts.as_slice() {
        [] => return None,
        [Part::Text { text, .. }] => json!(text),
        parts => parts.iter().map(|part| shown_part(part)).collect(),
    };
    Some(part(
        message,
        "assistant_message",
        None,
        json!({ "content": content }),
    ))
}

/// What a call by which older types speak says.
fn said(call: &ToolCall, argument: &str) -> Option<String> {
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).ok()?;
    Some(arguments.get(argument)?.as_str()?.to_owned())
}

fn shown_call(call: &ToolCall) -> Value {
    json!({ "name": call.name, "arguments": call.arguments, "tool_call_id": call.id })
}

fn shown_return(returned: &ToolReturn) -> Value {
    let result = match &returned.parts {
        Some(parts) => parts.iter().map(shown_part).collect(),
        None => json!(returned.text),
    };
    json!({
        "type": "tool",
        "tool_return": result,
        "status": returned.status,
        "tool_call_id": returned.tool_call_id,
        "stdout": returned.stdout,
        "stderr": returned.stderr,
    })
}

/// A part of a content, every field included.
fn shown_part(part: &Part) -> Value {
    let mut shown = json!(part);
    if let Part::Text { signature, .. } = part {
        shown["signature"] = json!(signature);
    }
    shown
}

/// What every part of a message has, and the fields of its kind.
fn part(message: &Message, kind: &str, otid: Option<String>, fields: Value) -> Value {
    let mut part = json!({
        "id": message.id,
        "date": date(message.created_at),
        "name": message.name,
        "message_type": kind,
        "otid": otid,
        "sender_id": message.sender_id,
        "step_id": message.step_id,
        "is_err": message.is_err,
        "seq_id": null,
        "run_id": message.run_id,
    });
    if let (Some(part), Value::Object(fields)) = (part.as_object_mut(), fields) {
        part.extend(fields);
    }
    part
}

/// A point in time as messages have it: to the second, with this zone.
pub(crate) fn date(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{}+00:00", text.split('.').next().unwrap_or_default())
}

/// Tells the parts of one stored message apart.
pub(crate) fn otid(id: MessageId, index: u8) -> String {
    let mut bytes = *id.uuid().as_bytes();
    bytes[15] = (bytes[15] & 0x80) | (index & 0x7f);
    Uuid::from_bytes(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::id::AgentId;

    use super::*;

    fn message(role: Role) -> Message {
        let mut message = Message::new(AgentId::random(), role);
        message.id = MessageId::from_uuid(Uuid::from_u128(0x78c3));
        message.created_at = Timestamp::from_micros(1_795_293_487_654_321);
        message
    }

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            signature: None,
        }
    }

    fn thought(text: &str) -> Part {
        Part::Reasoning {
            is_native: true,
            reasoning: text.to_owned(),
            signature: Some("s".to_owned()),
        }
    }

    fn kinds(shown: &[Value]) -> Vec<(&str, &str)> {
        let kind = |part: &'_ Value| part["message_type"].as_str().unwrap_or_default().len();
        assert!(shown.iter().all(|part| kind(part) > 0));
        shown
            .iter()
            .map(|part| {
                let otid = part["otid"].as_str().unwrap_or_default();
                let end = otid.len().saturating_sub(4);
                (
                    part["message_type"].as_str().unwrap_or_default(),
                    &otid[end..],
                )
            })
            .collect()
    }

    #[test]
    fn parts_of_an_answer_share_its_id_and_are_numbered_by_kind() {
        let mut answer = message(Role::Assistant);
        answer.content = vec![
            Part::RedactedReasoning {
                data: "x".to_owned(),
            },
            thought("hm"),
            Part::text("Look:"),
        ];
        answer.tool_calls = vec![call("1", "roll", "{}"), call("2", "roll", "{}")];
        let shown = View::default().one(&answer);
        assert_eq!(
            kinds(&shown),
            [
                ("hidden_reasoning_message", "7883"),
                ("reasoning_message", "7880"),
                ("assistant_message", "7881"),
                ("tool_call_message", "7882"),
            ]
        );
        assert_eq!(shown[3]["tool_call"], shown[3]["tool_calls"][0]);
        assert_eq!(shown[3]["tool_calls"][1]["tool_call_id"], "2");
        assert_eq!(shown[1]["source"], "reasoner_model");
        assert_eq!(shown[1]["date"], "2026-11-21T20:38:07+00:00");
        let few = View {
            types: Some(vec!["assistant_message".to_owned()]),
            ..View::default()
        };
        assert_eq!(few.one(&answer).len(), 1);
    }

    #[test]
    fn what_older_types_say_by_a_tool_is_shown_as_said() {
        let mut speaks = message(Role::Assistant);
        speaks.tool_calls = vec![call("1", "send_message", r#"{"message":"hi"}"#)];
        let shown = View::default().one(&speaks);
        assert_eq!(kinds(&shown), [("assistant_message", "7880")]);
        assert_eq!(shown[0]["content"], "hi");
        let plain = View {
            use_assistant_message: false,
            ..View::default()
        };
        assert_eq!(plain.one(&speaks)[0]["message_type"], "tool_call_message");
        let mut returned = message(Role::Tool);
        returned.tool_returns = vec![ToolReturn {
            tool_call_id: "1".to_owned(),
            name: "send_message".to_owned(),
            status: ToolStatus::Success,
            text: "Sent message successfully.".to_owned(),
            packed: String::new(),
            stdout: None,
            stderr: None,
            parts: None,
            receipt_id: None,
        }];
        assert!(View::default().one(&returned).is_empty());
        assert_eq!(plain.one(&returned)[0]["name"], "send_message");
        returned.tool_returns[0].status = ToolStatus::Error;
        assert_eq!(View::default().one(&returned).len(), 1);
    }

    #[test]
    fn a_request_for_approval_keeps_its_own_id_as_otid() {
        let mut request = message(Role::Approval);
        request.content = vec![Part::text("Look:")];
        request.tool_calls = vec![call("1", "roll", "{}")];
        let shown = View::default().one(&request);
        assert_eq!(shown.len(), 2);
        assert_eq!(shown[1]["message_type"], "approval_request_message");
        assert_eq!(shown[1]["otid"], shown[1]["id"]);
        let mut response = message(Role::Approval);
        response.approvals = vec![Approval::Approval {
            tool_call_id: "1".to_owned(),
            approve: false,
            reason: Some("no".to_owned()),
        }];
        let shown = View::default().one(&response);
        assert_eq!(shown[0]["approval_request_id"], "1");
        assert_eq!(
            (&shown[0]["otid"], &shown[0]["step_id"]),
            (&Value::Null, &Value::Null)
        );
    }

    #[test]
    fn a_text_is_a_text_and_several_parts_are_a_list() {
        let mut sent = message(Role::User);
        sent.content = vec![Part::text("a")];
        assert_eq!(View::default().one(&sent)[0]["content"], "a");
        sent.content.push(Part::text("b"));
        assert_eq!(View::default().one(&sent)[0]["content"][1]["text"], "b");
    }
}
