//! A conversation as vendors with strict turns want it: user and model take turns, the user begins,
//! and what follows a model's calls are the results of exactly those calls.
//!
//! Stored histories are not always so: a context can be cut between a call and its result, and a
//! process can end before a result was written. A vendor would refuse such a history in every later
//! request, so what is missing is said and what is left over becomes text.

mod image;

use std::borrow::Cow;

use bulkhead_domain::{ImageSource, Part, ToolCall};

use crate::chat::ChatMessage;

pub(crate) use image::Picture;

/// What a vendor is told where it insists on a user's word and there is none.
pub(crate) const GO_ON: &str = "Go on.";

/// The result of a call of which none is in the history.
const NO_RESULT: &str = "No result of this call was recorded.";

/// One side's say, up to the next change of speaker.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'a> {
    /// A person, notices of the system, results of tools.
    User(UserTurn<'a>),
    /// The model; neighbouring messages are kept apart, because each knows its own model.
    Model(Vec<Said<'a>>),
}

/// What the model is told.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct UserTurn<'a> {
    /// One for each call of the model's turn before, in the order of the calls.
    pub(crate) results: Vec<ToolResult<'a>>,
    /// The rest, in order. No blank texts.
    pub(crate) inputs: Vec<Input<'a>>,
}

/// The result of one call.
#[derive(Debug, PartialEq)]
pub(crate) struct ToolResult<'a> {
    /// The call.
    pub(crate) id: &'a str,
    /// The tool.
    pub(crate) name: &'a str,
    /// What the model reads.
    pub(crate) text: &'a str,
    /// Images beside the text.
    pub(crate) images: &'a [Part],
    /// Whether it failed.
    pub(crate) is_error: bool,
}

/// One input of a user's turn.
#[derive(Debug, PartialEq)]
pub(crate) enum Input<'a> {
    /// What a person wrote.
    Text(&'a str),
    /// A notice of the system.
    Notice(Cow<'a, str>),
    /// An image.
    Image(&'a ImageSource),
}

/// One message of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Said<'a> {
    /// Reasoning and text.
    pub(crate) content: &'a [Part],
    /// Calls.
    pub(crate) calls: &'a [ToolCall],
    /// The model that wrote it, where known.
    pub(crate) model: Option<&'a str>,
}

/// The turns of a conversation. The first is always a user's; there is at least one.
pub(crate) fn of(messages: &[ChatMessage]) -> Vec<Turn<'_>> {
    let mut builder = Builder::default();
    for message in messages {
        builder.take(message);
    }
    builder.settle();
    let mut turns = builder.turns;
    if !matches!(turns.first(), Some(Turn::User(_))) {
        turns.insert(0, go_on());
    }
    turns
}

/// A user's turn without content of its own.
pub(crate) fn go_on<'a>() -> Turn<'a> {
    Turn::User(UserTurn {
        results: Vec::new(),
        inputs: vec![Input::Notice(Cow::Borrowed(GO_ON))],
    })
}

/// A notice of the system in the place of a user's text.
pub(crate) fn notice(text: &str) -> String {
    format!("<system-alert>{text}</system-alert>")
}

/// Arguments as the object that vendors want: whatever else a model wrote becomes an empty one.
pub(crate) fn arguments(call: &ToolCall) -> serde_json::Value {
    serde_json::from_str(&call.arguments)
        .ok()
        .filter(serde_json::Value::is_object)
        .unwrap_or_else(|| serde_json::json!({}))
}

#[derive(Default)]
struct Builder<'a> {
    turns: Vec<Turn<'a>>,
    /// Calls of the last model's turn, each with its result as soon as it came.
    open: Vec<(&'a ToolCall, Option<ToolResult<'a>>)>,
}

impl<'a> Builder<'a> {
    fn take(&mut self, message: &'a ChatMessage) {
        match message {
            ChatMessage::System(text) => self.input(Input::Notice(Cow::Borrowed(text))),
            ChatMessage::User(parts) => {
                for part in parts {
                    match part {
                        Part::Text { text, .. } => self.input(Input::Text(text)),
                        Part::Image { source } => self.input(Input::Image(source)),
                        _ => {}
                    }
                }
            }
            ChatMessage::Assistant {
                content,
                tool_calls,
                model,
            } => self.said(Said {
                content,
                calls: tool_calls,
                model: model.as_deref(),
            }),
            ChatMessage::Tool {
                tool_call_id,
                name,
                text,
                images,
                is_error,
            } => self.result(ToolResult {
                id: tool_call_id,
                name,
                text,
                images,
                is_error: *is_error,
            }),
        }
    }

    fn said(&mut self, said: Said<'a>) {
        if said.content.is_empty() && said.calls.is_empty() {
            return;
        }
        self.settle();
        match self.turns.last_mut() {
            Some(Turn::Model(neighbours)) => neighbours.push(said),
            _ => self.turns.push(Turn::Model(vec![said])),
        }
        self.open = said.calls.iter().map(|call| (call, None)).collect();
    }

    fn result(&mut self, result: ToolResult<'a>) {
        let waiting = self
            .open
            .iter_mut()
            .find(|(call, answer)| answer.is_none() && call.id == result.id);
        if let Some((_, answer)) = waiting {
            *answer = Some(result);
            return;
        }
        // The call is no longer in the context.
        self.input(Input::Notice(Cow::Owned(format!(
            "The tool {} returned: {}",
            result.name, result.text
        ))));
        for image in result.images {
            if let Part::Image { source } = image {
                self.input(Input::Image(source));
            }
        }
    }

    fn input(&mut self, input: Input<'a>) {
        let blank = match &input {
            Input::Text(text) => text.trim().is_empty(),
            Input::Notice(text) => text.trim().is_empty(),
            Input::Image(_) => false,
        };
        if !blank {
            self.user(|turn| turn.inputs.push(input));
        }
    }

    /// Changes the user's turn that is going on, or begins one.
    fn user(&mut self, change: impl FnOnce(&mut UserTurn<'a>)) {
        if let Some(Turn::User(turn)) = self.turns.last_mut() {
            change(turn);
        } else {
            let mut turn = UserTurn::default();
            change(&mut turn);
            self.turns.push(Turn::User(turn));
        }
    }

    /// Answers every open call, with what came or by saying that nothing did.
    fn settle(&mut self) {
        let open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return;
        }
        let results = open
            .into_iter()
            .map(|(call, answer)| answer.unwrap_or_else(|| unanswered(call)));
        self.user(|turn| turn.results.extend(results));
    }
}

fn unanswered(call: &ToolCall) -> ToolResult<'_> {
    ToolResult {
        id: &call.id,
        name: &call.name,
        text: NO_RESULT,
        images: &[],
        is_error: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: "look".to_owned(),
            arguments: "{}".to_owned(),
            signature: None,
        }
    }

    fn assistant(text: &str, calls: &[&str]) -> ChatMessage {
        ChatMessage::Assistant {
            content: if text.is_empty() {
                Vec::new()
            } else {
                vec![Part::text(text)]
            },
            tool_calls: calls.iter().map(|id| call(id)).collect(),
            model: None,
        }
    }

    fn result(id: &str, text: &str) -> ChatMessage {
        ChatMessage::Tool {
            tool_call_id: id.to_owned(),
            name: "look".to_owned(),
            text: text.to_owned(),
            images: Vec::new(),
            is_error: false,
        }
    }

    fn user(text: &str) -> ChatMessage {
        ChatMessage::User(vec![Part::text(text)])
    }

    /// `u` with its results and inputs, `m` with its calls.
    fn shape(messages: &[ChatMessage]) -> Vec<String> {
        of(messages)
            .iter()
            .map(|turn| match turn {
                Turn::User(turn) => {
                    let results = turn.results.iter().map(|r| format!("{}={}", r.id, r.text));
                    let inputs = turn.inputs.iter().map(|input| match input {
                        Input::Text(text) => (*text).to_owned(),
                        Input::Notice(text) => format!("!{text}"),
                        Input::Image(_) => "image".to_owned(),
                    });
                    format!("u {}", results.chain(inputs).collect::<Vec<_>>().join(" "))
                }
                Turn::Model(said) => {
                    let calls = said.iter().flat_map(|said| said.calls);
                    let ids: Vec<_> = calls.map(|call| call.id.as_str()).collect();
                    format!("m{} {}", said.len(), ids.join(" "))
                }
            })
            .collect()
    }

    #[test]
    fn neighbours_of_one_side_are_one_turn_and_blank_texts_are_none() {
        let messages = [
            user("a"),
            user("  \n"),
            ChatMessage::System("b".to_owned()),
            assistant("x", &[]),
            assistant("y", &["1"]),
            result("1", "done"),
            user("c"),
        ];
        assert_eq!(shape(&messages), ["u a !b", "m2 1", "u 1=done c"]);
    }

    #[test]
    fn results_stand_in_the_order_of_their_calls_before_other_input() {
        let messages = [
            user("a"),
            assistant("", &["1", "2"]),
            user("b"),
            result("2", "second"),
            result("1", "first"),
        ];
        assert_eq!(shape(&messages), ["u a", "m1 1 2", "u 1=first 2=second b"]);
    }

    #[test]
    fn a_call_without_a_result_gets_one_that_says_so() {
        let messages = [
            user("a"),
            assistant("", &["1"]),
            assistant("", &["2"]),
            result("1", "late"),
        ];
        assert_eq!(
            shape(&messages),
            [
                "u a".to_owned(),
                "m1 1".to_owned(),
                format!("u 1={NO_RESULT}"),
                "m1 2".to_owned(),
                format!("u 2={NO_RESULT} !The tool look returned: late"),
            ]
        );
    }

    #[test]
    fn the_user_always_begins() {
        assert_eq!(shape(&[]), ["u !Go on."]);
        assert_eq!(shape(&[assistant("x", &[])]), ["u !Go on.", "m1 "]);
    }
}
