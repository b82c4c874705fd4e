//! A model's reply as messages to store.

use bulkhead_domain::{Message, Part, Role, Timestamp, ToolCall, id::MessageId};
use uuid::Uuid;

/// The messages of one reply: what was said and what runs by itself, and what waits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    /// Reasoning, text and calls that need nobody; none if there is none of them.
    pub(crate) said: Option<Message>,
    /// Calls that wait for a person or the client.
    pub(crate) waiting: Option<Message>,
}

/// What is known of a reply before it is stored.
pub(crate) struct Reply {
    pub(crate) message_id: MessageId,
    pub(crate) content: Vec<Part>,
    pub(crate) running: Vec<ToolCall>,
    pub(crate) waiting: Vec<ToolCall>,
    pub(crate) model: String,
    pub(crate) at: Timestamp,
    /// Whether its pieces were shown: then text and request keep the ids that were shown.
    pub(crate) in_pieces: bool,
}

impl Answer {
    /// The messages of a reply. `frame` gives agent, thread, run and step.
    ///
    /// Clients tell a request for approval by its own id: the reply's, less one. A reply of nothing
    /// but waiting calls is one message with that id, unless its text was shown in pieces before
    /// anybody knew.
    pub(crate) fn of(reply: Reply, frame: &Message) -> Self {
        let message = |id: MessageId, role: Role| Message {
            id,
            role,
            model: Some(reply.model.clone()),
            created_at: reply.at,
            ..frame.clone()
        };
        let request_id = before(reply.message_id);
        if reply.waiting.is_empty() {
            let said = (!reply.content.is_empty() || !reply.running.is_empty()).then(|| Message {
                content: reply.content,
                tool_calls: reply.running,
                ..message(reply.message_id, Role::Assistant)
            });
            return Self {
                said,
                waiting: None,
            };
        }
        let apart = !reply.running.is_empty() || (reply.in_pieces && !reply.content.is_empty());
        let mut request = Message {
            tool_calls: reply.waiting,
            ..message(request_id, Role::Approval)
        };
        if apart {
            let said = Message {
                content: reply.content,
                tool_calls: reply.running,
                ..message(reply.message_id, Role::Assistant)
            };
            return Self {
                said: Some(said),
                waiting: Some(request),
            };
        }
        request.content = reply.content;
        Self {
            said: None,
            waiting: Some(request),
        }
    }

    /// In the order in which they are stored.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.said.iter().chain(&self.waiting)
    }
}

/// The id before this one, taken as a number.
pub(crate) fn before(id: MessageId) -> MessageId {
    MessageId::from_uuid(Uuid::from_u128(id.uuid().as_u128().wrapping_sub(1)))
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::id::AgentId;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: "roll".to_owned(),
            arguments: "{}".to_owned(),
            signature: None,
        }
    }

    fn answer(
        text: &str,
        running: &[&str],
        waiting: &[&str],
        in_pieces: bool,
    ) -> (MessageId, Answer) {
        let frame = Message::new(AgentId::random(), Role::Assistant);
        let message_id = MessageId::random();
        let content = if text.is_empty() {
            vec![]
        } else {
            vec![Part::text(text)]
        };
        let reply = Reply {
            message_id,
            content,
            running: running.iter().map(|id| call(id)).collect(),
            waiting: waiting.iter().map(|id| call(id)).collect(),
            model: "m".to_owned(),
            at: frame.created_at,
            in_pieces,
        };
        (message_id, Answer::of(reply, &frame))
    }

    #[test]
    fn a_reply_that_only_waits_is_one_message_unless_its_text_was_shown() {
        let (id, whole) = answer("Look:", &[], &["a"], false);
        assert!(whole.said.is_none());
        assert_eq!(
            whole.waiting.map(|m| (m.id, m.content.len())),
            Some((before(id), 1))
        );
        let (id, pieces) = answer("Look:", &[], &["a"], true);
        assert_eq!(pieces.said.map(|m| m.id), Some(id));
        assert_eq!(
            pieces.waiting.map(|m| (m.id, m.content.len())),
            Some((before(id), 0))
        );
    }

    #[test]
    fn calls_that_wait_stand_apart_from_those_that_do_not() {
        let (_, mixed) = answer("", &["a"], &["b", "c"], false);
        assert_eq!(mixed.said.as_ref().map(|m| m.tool_calls.len()), Some(1));
        assert_eq!(mixed.waiting.as_ref().map(|m| m.tool_calls.len()), Some(2));
        assert_eq!(mixed.messages().count(), 2);
    }

    #[test]
    fn an_empty_reply_is_no_message() {
        let (_, empty) = answer("", &[], &[], false);
        assert_eq!(empty.messages().count(), 0);
    }
}
