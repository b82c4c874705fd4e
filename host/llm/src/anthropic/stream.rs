//! An answer in pieces, folded into the message that it would have been as a whole.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::answer;
use crate::{call_ids::CallIds, chat::Delta};

/// What came so far.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    /// The message without its blocks.
    message: Map<String, Value>,
    /// By the vendor's index.
    blocks: BTreeMap<u64, Block>,
    ids: CallIds,
    calls: usize,
    complete: bool,
}

#[derive(Debug, Default)]
struct Block {
    fields: Map<String, Value>,
    /// Its place among the calls, of a call.
    call: Option<usize>,
    /// Arguments as they came.
    arguments: String,
    closed: bool,
}

impl Fold {
    /// Takes an event; gives the pieces in it. Events and fields that are not known are passed
    /// over, as the vendor asks.
    pub(crate) fn take(&mut self, mut event: Value) -> Vec<Delta> {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("message_start") => {
                self.begin(event["message"].take());
                Vec::new()
            }
            Some("content_block_start") => self.open(index, event["content_block"].take()),
            Some("content_block_delta") => self.piece(index, &event["delta"]),
            Some("content_block_stop") => self.close(index).into_iter().collect(),
            Some("message_delta") => {
                self.merge(event);
                Vec::new()
            }
            Some("message_stop") => {
                self.complete = true;
                Vec::new()
            }
            Some("message") => self.whole(event),
            _ => Vec::new(),
        }
    }

    /// Whether the message has ended.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The message; none when it has not ended.
    pub(crate) fn finish(mut self) -> Option<Folded> {
        let stopped = self
            .message
            .get("stop_reason")
            .is_some_and(Value::is_string);
        if self.message.is_empty() || !(self.complete || stopped) {
            return None;
        }
        let mut arguments = Vec::new();
        let mut content = Vec::new();
        for (_, mut block) in self.blocks {
            if block.call.is_some() {
                let input = serde_json::from_str(&block.arguments)
                    .unwrap_or_else(|_| Value::from(block.arguments.as_str()));
                block.fields.insert("input".to_owned(), input);
                arguments.push(block.arguments);
            }
            content.push(Value::Object(block.fields));
        }
        self.message
            .insert("content".to_owned(), Value::Array(content));
        Some(Folded {
            message: Value::Object(self.message),
            arguments,
        })
    }

    fn begin(&mut self, message: Value) {
        if let Value::Object(message) = message {
            self.message = message;
        }
    }

    fn open(&mut self, index: u64, block: Value) -> Vec<Delta> {
        let Value::Object(mut fields) = block else {
            return Vec::new();
        };
        let mut deltas = Vec::new();
        let mut call = None;
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "tool_use" => {
                let id = self.ids.claim(Some(text("id")));
                deltas.push(Delta::ToolCall {
                    index: self.calls,
                    id: id.clone(),
                    name: text("name").to_owned(),
                });
                fields.insert("id".to_owned(), Value::from(id));
                call = Some(self.calls);
                self.calls += 1;
            }
            "text" => deltas.extend(said(text("text"))),
            "thinking" => deltas.extend(thought(text("thinking"))),
            _ => {}
        }
        let block = Block {
            fields,
            call,
            ..Block::default()
        };
        self.blocks.insert(index, block);
        deltas
    }

    fn piece(&mut self, index: u64, delta: &Value) -> Vec<Delta> {
        let Some(block) = self.blocks.get_mut(&index) else {
            return Vec::new();
        };
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        let piece = match text("type") {
            "text_delta" => {
                block.append("text", text("text"));
                said(text("text"))
            }
            "thinking_delta" => {
                block.append("thinking", text("thinking"));
                thought(text("thinking"))
            }
            "signature_delta" => {
                let signature = Value::from(text("signature"));
                block.fields.insert("signature".to_owned(), signature);
                None
            }
            "input_json_delta" => {
                let json = text("partial_json");
                block.arguments.push_str(json);
                block.call.filter(|_| !json.is_empty()).map(|index| {
                    let json = json.to_owned();
                    Delta::Arguments { index, json }
                })
            }
            _ => None,
        };
        piece.into_iter().collect()
    }

    /// A call whose arguments did not come in pieces has them in its beginning, or none at all.
    fn close(&mut self, index: u64) -> Option<Delta> {
        let block = self.blocks.get_mut(&index)?;
        let call = block.call?;
        if block.closed || !block.arguments.is_empty() {
            return None;
        }
        block.closed = true;
        block.arguments = answer::arguments(block.fields.get("input").unwrap_or(&Value::Null));
        Some(Delta::Arguments {
            index: call,
            json: block.arguments.clone(),
        })
    }

    fn merge(&mut self, mut event: Value) {
        if let Value::Object(delta) = event["delta"].take() {
            self.message.extend(delta);
        }
        let Value::Object(newer) = event["usage"].take() else {
            return;
        };
        let usage = self
            .message
            .entry("usage")
            .or_insert_with(|| json!({}))
            .as_object_mut();
        if let Some(usage) = usage {
            // Fields that are null here were told at the beginning.
            usage.extend(newer.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }

    /// A server that knows no streams sends the message as it is.
    fn whole(&mut self, mut message: Value) -> Vec<Delta> {
        let blocks = message["content"].take();
        self.begin(message);
        self.complete = true;
        let Value::Array(blocks) = blocks else {
            return Vec::new();
        };
        let mut deltas = Vec::new();
        for (index, block) in (0..).zip(blocks) {
            deltas.extend(self.open(index, block));
            deltas.extend(self.close(index));
        }
        deltas
    }
}

impl Block {
    fn append(&mut self, key: &str, piece: &str) {
        match self.fields.get_mut(key) {
            Some(Value::String(text)) => text.push_str(piece),
            _ => {
                self.fields.insert(key.to_owned(), Value::from(piece));
            }
        }
    }
}

/// A folded stream.
#[derive(Debug)]
pub(crate) struct Folded {
    /// The message.
    pub(crate) message: Value,
    /// The arguments of each call in it, as the model wrote them.
    pub(crate) arguments: Vec<String>,
}

fn said(text: &str) -> Option<Delta> {
    (!text.is_empty()).then(|| Delta::Text(text.to_owned()))
}

fn thought(text: &str) -> Option<Delta> {
    (!text.is_empty()).then(|| Delta::Reasoning(text.to_owned()))
}
