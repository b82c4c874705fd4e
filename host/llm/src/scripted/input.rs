//! What is new in a conversation, and what has been answered since the request began.

use bulkhead_domain::{Part, ToolCall};
use serde_json::Value;

use crate::chat::ChatMessage;

/// Messages between two answers of the model.
#[derive(Debug, Clone, Default)]
pub(super) struct Input<'a> {
    /// What people wrote, a message each.
    pub(super) texts: Vec<String>,
    /// What the system says, in messages of its own or in a person's place.
    pub(super) notices: Vec<String>,
    /// Results of calls.
    pub(super) results: Vec<Outcome<'a>>,
    /// Images that people sent.
    pub(super) images: usize,
}

/// The result of one call.
#[derive(Debug, Clone)]
pub(super) struct Outcome<'a> {
    pub(super) name: &'a str,
    /// As it was sent: usually JSON text with `status`, `message` and `time`.
    pub(super) text: &'a str,
    pub(super) images: usize,
    pub(super) is_error: bool,
}

/// Where a conversation stands.
#[derive(Debug)]
pub(super) struct Situation<'a> {
    /// What came after the last answer.
    pub(super) newest: Input<'a>,
    /// What began the request: a person's text, or a notice that stands by itself. It may be the
    /// same as `newest`; none where that was taken out of the context.
    pub(super) opening: Option<Input<'a>>,
    /// The calls of each answer since then, oldest first.
    pub(super) answers: Vec<&'a [ToolCall]>,
}

/// Reads a conversation from its end to where the request began.
pub(super) fn situation(messages: &[ChatMessage]) -> Situation<'_> {
    let mut newest = None;
    let mut opening = None;
    let mut answers = Vec::new();
    let mut end = messages.len();
    loop {
        let before = messages[..end]
            .iter()
            .rposition(|message| matches!(message, ChatMessage::Assistant { .. }));
        let input = Input::read(&messages[before.map_or(0, |index| index + 1)..end]);
        let begins = input.begins_a_request();
        if begins {
            opening = Some(input.clone());
        }
        newest.get_or_insert(input);
        match before {
            Some(index) if !begins => {
                if let ChatMessage::Assistant { tool_calls, .. } = &messages[index] {
                    answers.push(tool_calls.as_slice());
                }
                end = index;
            }
            _ => break,
        }
    }
    answers.reverse();
    Situation {
        newest: newest.unwrap_or_default(),
        opening,
        answers,
    }
}

impl<'a> Input<'a> {
    fn read(messages: &'a [ChatMessage]) -> Self {
        let mut input = Self::default();
        for message in messages {
            match message {
                ChatMessage::System(text) => input.notices.push(text.clone()),
                ChatMessage::User(parts) => {
                    let text = joined(parts);
                    input.images += images(parts);
                    if is_notice(&text) {
                        input.notices.push(text);
                    } else {
                        input.texts.push(text);
                    }
                }
                ChatMessage::Tool {
                    name,
                    text,
                    images,
                    is_error,
                    ..
                } => input.results.push(Outcome {
                    name,
                    text,
                    images: images.len(),
                    is_error: *is_error,
                }),
                ChatMessage::Assistant { .. } => {}
            }
        }
        input
    }

    /// Texts do. Results of calls and the loop's own heartbeats go on with a request; any other
    /// notice that comes alone is a request of its own.
    fn begins_a_request(&self) -> bool {
        !self.texts.is_empty()
            || (self.results.is_empty() && self.notices.iter().any(|notice| !is_heartbeat(notice)))
    }

    /// Everything that people wrote; where they wrote nothing, what the system said.
    pub(super) fn text(&self) -> String {
        if self.texts.is_empty() {
            self.notices.join("\n")
        } else {
            self.texts.join("\n")
        }
    }
}

fn joined(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

fn images(parts: &[Part]) -> usize {
    parts
        .iter()
        .filter(|part| matches!(part, Part::Image { .. }))
        .count()
}

/// Whether a text in a person's place is one of the server's: a heartbeat, a login, an alert, a
/// summary, or a task for a background agent (whose transcript must not be read as commands).
fn is_notice(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("<system-reminder>")
        || text.starts_with("<system-alert>")
        || matches!(
            packed_type(text).as_deref(),
            Some("heartbeat" | "login" | "system_alert")
        )
}

fn is_heartbeat(notice: &str) -> bool {
    packed_type(notice.trim_start()).as_deref() == Some("heartbeat")
}

fn packed_type(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let packed: Value = serde_json::from_str(text).ok()?;
    packed.get("type")?.as_str().map(str::to_owned)
}
