//! Calls and their results, belonging together.
//!
//! OpenAI refuses a history in which a call is not directly followed by its result, or a result has
//! no call. Stored histories can be so: a context can be cut between the two, and a process can end
//! before a result was written. What is missing is said; what is left over becomes a user's text.

use std::mem;

use bulkhead_domain::{Part, ToolCall};

use crate::chat::ChatMessage;

/// The result of a call of which none is in the history.
const NO_RESULT: &str = "No result of this call was recorded.";

/// One message as it is sent.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry<'a> {
    /// As it is; never a tool's.
    Message(&'a ChatMessage),
    /// The result of a call of the model's message before.
    Result {
        /// The call.
        id: &'a str,
        /// What the model reads.
        text: &'a str,
    },
    /// What tools returned and what can't stand in a result: a user's message.
    Shown(Vec<Part>),
}

/// The conversation with each call directly followed by its result.
pub(crate) fn entries(messages: &[ChatMessage]) -> Vec<Entry<'_>> {
    let mut pairing = Pairing::default();
    for message in messages {
        pairing.take(message);
    }
    pairing.settle();
    pairing.entries
}

#[derive(Default)]
struct Pairing<'a> {
    entries: Vec<Entry<'a>>,
    /// Calls of the model's last message, each with its result's text and images once they came.
    open: Vec<(&'a ToolCall, Option<&'a str>)>,
    /// Images of results, which follow all of them.
    images: Vec<Part>,
    /// What came before the last result did.
    later: Vec<Entry<'a>>,
}

impl<'a> Pairing<'a> {
    fn take(&mut self, message: &'a ChatMessage) {
        match message {
            ChatMessage::Assistant { tool_calls, .. } => {
                self.settle();
                self.entries.push(Entry::Message(message));
                self.open = tool_calls.iter().map(|call| (call, None)).collect();
            }
            ChatMessage::Tool {
                tool_call_id,
                name,
                text,
                images,
                ..
            } => {
                let waiting = self
                    .open
                    .iter_mut()
                    .find(|(call, result)| result.is_none() && call.id == *tool_call_id);
                if let Some((_, result)) = waiting {
                    *result = Some(text);
                    if !images.is_empty() {
                        let title = format!("Images that the tool {name} returned:");
                        self.images.push(Part::text(title));
                        self.images.extend(images.iter().cloned());
                    }
                } else {
                    let mut shown = vec![Part::text(format!("The tool {name} returned: {text}"))];
                    shown.extend(images.iter().cloned());
                    self.push(Entry::Shown(shown));
                }
                if self.open.iter().all(|(_, result)| result.is_some()) {
                    self.settle();
                }
            }
            ChatMessage::System(_) | ChatMessage::User(_) => self.push(Entry::Message(message)),
        }
    }

    fn push(&mut self, entry: Entry<'a>) {
        if self.open.is_empty() {
            self.entries.push(entry);
        } else {
            self.later.push(entry);
        }
    }

    fn settle(&mut self) {
        for (call, text) in mem::take(&mut self.open) {
            self.entries.push(Entry::Result {
                id: &call.id,
                text: text.unwrap_or(NO_RESULT),
            });
        }
        if !self.images.is_empty() {
            self.entries.push(Entry::Shown(mem::take(&mut self.images)));
        }
        self.entries.append(&mut self.later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assistant(ids: &[&str]) -> ChatMessage {
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: "look".to_owned(),
            arguments: "{}".to_owned(),
            signature: None,
        };
        ChatMessage::Assistant {
            content: Vec::new(),
            tool_calls: ids.iter().map(call).collect(),
            model: None,
        }
    }

    fn result(id: &str) -> ChatMessage {
        ChatMessage::Tool {
            tool_call_id: id.to_owned(),
            name: "look".to_owned(),
            text: format!("of {id}"),
            images: Vec::new(),
            is_error: false,
        }
    }

    fn shape(messages: &[ChatMessage]) -> Vec<String> {
        entries(messages)
            .iter()
            .map(|entry| match entry {
                Entry::Message(ChatMessage::Assistant { .. }) => "assistant".to_owned(),
                Entry::Message(_) => "message".to_owned(),
                Entry::Result { id, text } => format!("{id}: {text}"),
                Entry::Shown(parts) => format!("{parts:?}"),
            })
            .collect()
    }

    #[test]
    fn results_follow_their_calls_in_order_before_all_else() {
        let user = ChatMessage::User(vec![Part::text("hurry")]);
        let messages = [assistant(&["1", "2"]), user, result("2"), result("1")];
        assert_eq!(
            shape(&messages),
            ["assistant", "1: of 1", "2: of 2", "message"]
        );
    }

    #[test]
    fn a_missing_result_is_said_and_a_lost_one_is_told() {
        let messages = [result("0"), assistant(&["1"]), assistant(&[])];
        let shape = shape(&messages);
        assert!(
            shape[0].contains("The tool look returned: of 0"),
            "{shape:?}"
        );
        assert_eq!(
            shape[1..],
            ["assistant", &format!("1: {NO_RESULT}"), "assistant"]
        );
    }
}
