//! What a request brings: messages to take in, or decisions on calls that wait.

use bulkhead_domain::{
    Approval, Message, Part, Role, ToolCall, ToolStatus,
    id::{AgentId, MessageId},
};
use serde_json::Value;

use crate::AgentError;

/// What a request brings.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// Decisions; none where the request holds messages only.
    pub decision: Option<Decision>,
    /// Messages, in order.
    pub messages: Vec<Incoming>,
}

/// A message that a client sent.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// User, system or assistant.
    pub role: Role,
    /// Texts and images.
    pub content: Vec<Part>,
    /// The client's id of it; one is made if it has none.
    pub otid: Option<String>,
    /// A name of its author.
    pub name: Option<String>,
    /// Who sent it.
    pub sender_id: Option<String>,
    /// The group that it was sent to.
    pub group_id: Option<String>,
}

impl Incoming {
    /// A text with this role.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            content: vec![Part::text(text)],
            otid: None,
            name: None,
            sender_id: None,
            group_id: None,
        }
    }

    /// As it is stored.
    pub(crate) fn into_message(self, agent_id: AgentId) -> Message {
        Message {
            content: self.content,
            otid: Some(
                self.otid
                    .unwrap_or_else(|| uuid::Uuid::new_v4().to_string()),
            ),
            name: self.name,
            sender_id: self.sender_id,
            group_id: self.group_id,
            ..Message::new(agent_id, self.role)
        }
    }
}

/// Decisions on calls that wait.
#[derive(Debug, Clone)]
pub enum Decision {
    /// One for each call.
    Each(Vec<Approval>),
    /// One for all, in the older form: it names the request, one of its calls, or nothing.
    Whole {
        /// The id of the request's message or of a call.
        request_id: Option<String>,
        /// Whether they may run.
        approve: bool,
        /// Why.
        reason: Option<String>,
    },
}

impl Decision {
    /// The decisions on exactly the calls of `request`.
    ///
    /// # Errors
    ///
    /// If it decides on other calls, or not on all.
    pub(crate) fn on(&self, request: &Message) -> Result<Vec<Approval>, AgentError> {
        let expected: Vec<&str> = ids(&request.tool_calls).collect();
        let decided = match self {
            Self::Each(approvals) => approvals.clone(),
            Self::Whole {
                request_id,
                approve,
                reason,
            } => {
                let id = request_id.as_deref();
                let meant =
                    |call: &&str| id.is_none_or(|id| id == *call || id == request.id.to_string());
                let decide = |call: &str| Approval::Approval {
                    tool_call_id: call.to_owned(),
                    approve: *approve,
                    reason: reason.clone(),
                };
                let calls = expected.iter().copied().filter(meant);
                let decided: Vec<Approval> = calls.map(decide).collect();
                if decided.is_empty() {
                    return Err(wrong(&expected, &[id.unwrap_or_default()]));
                }
                decided
            }
        };
        let received: Vec<&str> = decided.iter().map(Approval::tool_call_id).collect();
        if same_set(&expected, &received) {
            Ok(decided)
        } else {
            Err(wrong(&expected, &received))
        }
    }

    /// Whether it repeats these decisions, on the request with this id: a client that tried again.
    pub(crate) fn repeats(&self, answered: &[Approval], request: Option<MessageId>) -> bool {
        let answered: Vec<&str> = answered.iter().map(Approval::tool_call_id).collect();
        match self {
            Self::Each(approvals) => {
                let these: Vec<&str> = approvals.iter().map(Approval::tool_call_id).collect();
                !these.is_empty() && same_set(&answered, &these)
            }
            Self::Whole { request_id, .. } => request_id.as_deref().is_some_and(|id| {
                answered.contains(&id) || request.is_some_and(|request| request.to_string() == id)
            }),
        }
    }
}

fn ids(calls: &[ToolCall]) -> impl Iterator<Item = &str> {
    calls.iter().map(|call| call.id.as_str())
}

fn same_set(one: &[&str], other: &[&str]) -> bool {
    let sorted = |ids: &[&str]| {
        let mut ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
        ids.sort_unstable();
        ids
    };
    sorted(one) == sorted(other)
}

fn wrong(expected: &[&str], received: &[&str]) -> AgentError {
    AgentError::WrongApprovals {
        expected: python_list(expected),
        received: python_list(received),
    }
}

/// `['a', 'b']`
pub(crate) fn python_list(items: &[impl AsRef<str>]) -> String {
    let quoted = items.iter().map(|item| {
        let item = item.as_ref().replace('\\', "\\\\").replace('\'', "\\'");
        format!("'{item}'")
    });
    format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
}

/// The text and parts of a result that a client computed itself.
pub fn client_return(value: &Value) -> (String, Option<Vec<Part>>) {
    let parts = match value {
        Value::String(text) => return (text.clone(), None),
        other => serde_json::from_value::<Vec<Part>>(other.clone()).ok(),
    };
    let Some(parts) = parts else {
        return (value.to_string(), None);
    };
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let mut text = texts.collect::<Vec<_>>().join("\n");
    if text.is_empty() && !parts.is_empty() {
        text.push_str("[Image]");
    }
    (text, Some(parts))
}

/// What the model and clients are told of a call that a person denied.
pub(crate) fn denied(reason: Option<&str>) -> (ToolStatus, String) {
    let reason = reason.unwrap_or("None");
    (
        ToolStatus::Error,
        format!("Error: request to call tool denied. User reason: {reason}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(calls: &[&str]) -> Message {
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: "roll".to_owned(),
            arguments: "{}".to_owned(),
            signature: None,
        };
        Message {
            tool_calls: calls.iter().map(call).collect(),
            ..Message::new(AgentId::random(), Role::Approval)
        }
    }

    fn each(calls: &[&str]) -> Decision {
        let approve = |id: &&str| Approval::Approval {
            tool_call_id: (*id).to_owned(),
            approve: true,
            reason: None,
        };
        Decision::Each(calls.iter().map(approve).collect())
    }

    #[test]
    fn decisions_must_be_on_exactly_the_calls_that_wait() {
        let request = request(&["a", "b"]);
        assert!(each(&["b", "a"]).on(&request).is_ok());
        for wrong in [&["a"][..], &["a", "b", "c"], &["a", "a"], &[]] {
            let error = each(wrong).on(&request).unwrap_err().to_string();
            assert!(
                error.starts_with("Invalid tool call IDs. Expected '['a', 'b']', but received '[")
            );
        }
    }

    #[test]
    fn the_older_form_decides_on_all_calls_or_the_one_it_names() {
        let whole = |id: Option<String>| Decision::Whole {
            request_id: id,
            approve: false,
            reason: Some("no".to_owned()),
        };
        let two = request(&["a", "b"]);
        assert_eq!(whole(Some(two.id.to_string())).on(&two).unwrap().len(), 2);
        assert_eq!(whole(None).on(&two).unwrap().len(), 2);
        assert!(whole(Some("a".to_owned())).on(&two).is_err());
        assert!(whole(Some("a".to_owned())).on(&request(&["a"])).is_ok());
        assert!(whole(Some("x".to_owned())).on(&request(&["a"])).is_err());
    }

    #[test]
    fn an_answer_is_repeated_by_the_calls_or_by_the_request() {
        let asked = request(&["a", "b"]);
        let answered = each(&["a", "b"]).on(&asked).unwrap();
        let repeats = |decision: &Decision| decision.repeats(&answered, Some(asked.id));
        let whole = |id: &str| Decision::Whole {
            request_id: Some(id.to_owned()),
            approve: true,
            reason: None,
        };
        assert!(repeats(&each(&["b", "a"])) && !repeats(&each(&["a"])));
        assert!(repeats(&whole("a")) && repeats(&whole(&asked.id.to_string())));
        assert!(!repeats(&whole("x")) && !repeats(&whole(&MessageId::random().to_string())));
    }
}
