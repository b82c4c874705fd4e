//! A stream of an agent's answer, told while it arrives, and what is left of it afterwards.

use std::io::Stdout;

use bulkhead_domain::Receipt;
use serde::Serialize;
use serde_json::Value;

use super::column::Column;
use crate::cli::{
    screen::{Paint, Screen},
    view::{array, text},
};

/// Characters of a result that are shown.
const SHOWN: usize = 160;

/// What a person said, and what the agent did and said then.
#[derive(Debug, Default, Serialize)]
pub(super) struct Turn {
    pub(super) user: String,
    pub(super) run_id: String,
    pub(super) thought: String,
    pub(super) said: String,
    pub(super) calls: Vec<Called>,
    pub(super) stop_reason: String,
}

/// A tool call and what came of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Called {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) status: String,
    pub(super) returned: String,
    pub(super) receipt: Option<Receipt>,
}

/// Who is heard.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Voice {
    Thought,
    Speech,
    /// A call, by its id.
    Call(String),
}

/// Tells a turn as its events arrive.
pub(super) struct Transcript {
    /// None where a machine reads.
    column: Option<Column<Stdout>>,
    heard: Option<Voice>,
    turn: Turn,
}

impl Transcript {
    pub(super) fn begin(screen: Screen, user: &str) -> Self {
        let mut column = (!screen.json).then(|| Column::stdout(screen));
        if let Some(column) = &mut column {
            column.gap();
            column.begin("you", Some(Paint::Bold));
            column.piece(user);
        }
        let turn = Turn {
            user: user.to_owned(),
            ..Turn::default()
        };
        Self {
            column,
            heard: None,
            turn,
        }
    }

    /// An event of the stream.
    pub(super) fn event(&mut self, event: &Value) {
        if let Some(run) = event["run_id"].as_str() {
            run.clone_into(&mut self.turn.run_id);
        }
        match text(event, "message_type") {
            "reasoning_message" => {
                let piece = text(event, "reasoning");
                self.turn.thought.push_str(piece);
                self.tell(Voice::Thought, "  thinks", Some(Paint::Dim), piece);
            }
            "assistant_message" => {
                let piece = text(event, "content");
                self.turn.said.push_str(piece);
                self.tell(Voice::Speech, "agent", None, piece);
            }
            "tool_call_message" => self.call(&event["tool_call"]),
            "tool_return_message" => {
                for returned in array(event, "tool_returns") {
                    self.returned(returned);
                }
            }
            "stop_reason" => text(event, "stop_reason").clone_into(&mut self.turn.stop_reason),
            // Pings, and how many tokens an offline script would have cost.
            _ => {}
        }
    }

    /// The turn is over.
    pub(super) fn end(mut self) -> Turn {
        if let Some(column) = &mut self.column {
            column.end();
        }
        self.turn
    }

    /// A piece of a call: the first has its name, the others arguments.
    fn call(&mut self, piece: &Value) {
        let (id, name) = (text(piece, "tool_call_id"), text(piece, "name"));
        let arguments = text(piece, "arguments");
        let known = self.turn.calls.iter_mut().find(|call| call.id == id);
        match known {
            Some(call) => call.arguments.push_str(arguments),
            None => self.turn.calls.push(Called {
                id: id.to_owned(),
                tool: name.to_owned(),
                arguments: arguments.to_owned(),
                ..Called::default()
            }),
        }
        let voice = Voice::Call(id.to_owned());
        if !name.is_empty() {
            self.tell(
                voice.clone(),
                "  calls",
                Some(Paint::Yellow),
                &format!("{name} "),
            );
        }
        self.tell(voice, "", Some(Paint::Yellow), arguments);
    }

    fn returned(&mut self, returned: &Value) {
        let id = text(returned, "tool_call_id");
        let status = text(returned, "status");
        let result = match &returned["tool_return"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let call = self.turn.calls.iter_mut().find(|call| call.id == id);
        let tool = call.map(|call| {
            status.clone_into(&mut call.status);
            call.returned.clone_from(&result);
            call.tool.clone()
        });
        self.heard = None;
        if let Some(column) = &mut self.column {
            let paint = match status {
                "success" => Paint::Green,
                _ => Paint::Red,
            };
            let shown: String = result.chars().take(SHOWN).collect();
            column.begin("  returns", Some(paint));
            column.piece(&format!("{} {shown}", tool.unwrap_or_default()));
        }
    }

    fn tell(&mut self, voice: Voice, name: &str, paint: Option<Paint>, piece: &str) {
        if self.heard.as_ref() != Some(&voice) {
            self.heard = Some(voice);
            if let Some(column) = &mut self.column {
                column.begin(name, paint);
            }
        }
        if let Some(column) = &mut self.column {
            column.piece(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_calls_that_alternate_are_put_together() {
        let mut transcript = Transcript::begin(Screen::new(true), "Hello");
        let call = |call: Value| json!({"message_type": "tool_call_message", "tool_call": call});
        for event in [
            json!({"message_type": "ping", "run_id": "run-1"}),
            call(json!({"name": "a", "tool_call_id": "1"})),
            call(json!({"name": "b", "tool_call_id": "2"})),
            call(json!({"arguments": "{\"x\"", "tool_call_id": "1"})),
            call(json!({"arguments": "{}", "tool_call_id": "2"})),
            call(json!({"arguments": ": 1}", "tool_call_id": "1"})),
            json!({"message_type": "tool_return_message", "tool_returns": [
                {"tool_call_id": "2", "status": "success", "tool_return": {"y": 2}},
            ]}),
            json!({"message_type": "assistant_message", "content": "Do"}),
            json!({"message_type": "assistant_message", "content": "ne."}),
            json!({"message_type": "stop_reason", "stop_reason": "end_turn"}),
        ] {
            transcript.event(&event);
        }
        let turn = transcript.end();
        let calls: Vec<_> = turn
            .calls
            .iter()
            .map(|call| {
                (
                    &*call.tool,
                    &*call.arguments,
                    &*call.status,
                    &*call.returned,
                )
            })
            .collect();
        assert_eq!(
            calls,
            [
                ("a", "{\"x\": 1}", "", ""),
                ("b", "{}", "success", "{\"y\":2}"),
            ]
        );
        assert_eq!((&*turn.said, &*turn.stop_reason), ("Done.", "end_turn"));
        assert_eq!(turn.run_id, "run-1");
    }
}
