//! A response, put together from its events.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{call_ids::CallIds, chat::Delta};

/// What an event means.
#[derive(Debug)]
pub(super) enum Step {
    /// Pieces, or none.
    On(Vec<Delta>),
    /// The whole response.
    Done(Value),
    /// A refusal, in the form `{"error": …}`.
    Refused(Value),
}

/// What came so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Finished items by their place in the output.
    items: BTreeMap<u64, Value>,
    /// What of each item was passed on, by its place in the output.
    told: BTreeMap<u64, Told>,
    /// Ids of the calls that were announced, in order.
    ids: Vec<String>,
    claimed: CallIds,
    /// The place of the reasoning whose summary was passed on last, with the part of it.
    summary: Option<(u64, u64)>,
}

/// What of an item was passed on.
#[derive(Debug, Default)]
struct Told {
    /// The place among the calls.
    call: Option<usize>,
    /// Whether any of its text or arguments was.
    pieces: bool,
}

impl Events {
    /// Takes an event.
    pub(super) fn take(&mut self, data: Value) -> Result<Step, String> {
        let Some(kind) = data["type"].as_str() else {
            // What gateways put before an answer or in the place of one.
            return Ok(match &data["error"] {
                Value::Null if data["object"] == "response" => Step::Done(data),
                Value::Null => Step::On(Vec::new()),
                _ => Step::Refused(data),
            });
        };
        let at = data["output_index"].as_u64().unwrap_or(0);
        let mut deltas = Vec::new();
        match kind {
            "response.output_item.added" => self.announce(at, &data["item"], &mut deltas),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.text(at, &data["delta"], &mut deltas);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reasoning(at, &data, &mut deltas);
            }
            "response.function_call_arguments.delta" => {
                self.arguments(at, &data["delta"], &mut deltas)?;
            }
            "response.output_item.done" => self.item(at, data["item"].clone(), &mut deltas)?,
            "response.completed" | "response.incomplete" => return Ok(self.end(&data["response"])),
            "response.failed" => {
                return Ok(Step::Refused(json!({"error": data["response"]["error"]})));
            }
            // The event's fields are the error's, or hold it.
            "error" if data["error"].is_object() => {
                return Ok(Step::Refused(json!({"error": data["error"]})));
            }
            "error" => {
                let fields = json!({"code": data["code"], "message": data["message"], "param": data["param"]});
                return Ok(Step::Refused(json!({"error": fields})));
            }
            _ => {}
        }
        Ok(Step::On(deltas))
    }

    /// Ids of the calls that were announced, in order.
    pub(super) fn ids(&self) -> &[String] {
        &self.ids
    }

    fn announce(&mut self, at: u64, item: &Value, deltas: &mut Vec<Delta>) {
        let told = self.told.entry(at).or_default();
        let name = item["name"].as_str().unwrap_or_default();
        if item["type"] != "function_call" || told.call.is_some() || name.is_empty() {
            return;
        }
        let index = self.ids.len();
        told.call = Some(index);
        let id = self.claimed.claim(item["call_id"].as_str());
        self.ids.push(id.clone());
        deltas.push(Delta::ToolCall {
            index,
            id,
            name: name.to_owned(),
        });
    }

    fn text(&mut self, at: u64, piece: &Value, deltas: &mut Vec<Delta>) {
        if let Some(text) = piece.as_str().filter(|text| !text.is_empty()) {
            self.told.entry(at).or_default().pieces = true;
            deltas.push(Delta::Text(text.to_owned()));
        }
    }

    /// Parts of a summary are paragraphs, which end in no line feed.
    fn reasoning(&mut self, at: u64, data: &Value, deltas: &mut Vec<Delta>) {
        let Some(text) = data["delta"].as_str().filter(|text| !text.is_empty()) else {
            return;
        };
        let part = (at, data["summary_index"].as_u64().unwrap_or(0));
        if self.summary.is_some_and(|last| last != part) {
            deltas.push(Delta::Reasoning("\n\n".to_owned()));
        }
        self.summary = Some(part);
        self.told.entry(at).or_default().pieces = true;
        deltas.push(Delta::Reasoning(text.to_owned()));
    }

    fn arguments(&mut self, at: u64, piece: &Value, deltas: &mut Vec<Delta>) -> Result<(), String> {
        let Some(told) = self.told.get_mut(&at).filter(|told| told.call.is_some()) else {
            return Err("the stream has arguments of a call that it did not announce".to_owned());
        };
        if let (Some(index), Some(json)) = (told.call, piece.as_str())
            && !json.is_empty()
        {
            told.pieces = true;
            let json = json.to_owned();
            deltas.push(Delta::Arguments { index, json });
        }
        Ok(())
    }

    /// A finished item; what of it did not come in pieces is passed on whole.
    fn item(&mut self, at: u64, item: Value, deltas: &mut Vec<Delta>) -> Result<(), String> {
        self.announce(at, &item, deltas);
        if !self.told.entry(at).or_default().pieces {
            match item["type"].as_str() {
                Some("function_call") => {
                    let arguments = item["arguments"].as_str().filter(|text| !text.is_empty());
                    self.arguments(at, &json!(arguments.unwrap_or("{}")), deltas)?;
                }
                Some("message") => {
                    for part in item["content"].as_array().into_iter().flatten() {
                        self.text(at, &part["text"], deltas);
                        self.text(at, &part["refusal"], deltas);
                    }
                }
                Some("reasoning") => {
                    for (index, part) in
                        item["summary"].as_array().into_iter().flatten().enumerate()
                    {
                        let piece = json!({"delta": part["text"], "summary_index": index});
                        self.reasoning(at, &piece, deltas);
                    }
                }
                _ => {}
            }
        }
        self.items.insert(at, item);
        Ok(())
    }

    /// The response of the last event; its items are those that came before where it has none.
    fn end(&mut self, response: &Value) -> Step {
        let mut response = response.clone();
        let has_output = response["output"]
            .as_array()
            .is_some_and(|output| !output.is_empty());
        if !has_output && response.is_object() {
            response["output"] = std::mem::take(&mut self.items).into_values().collect();
        }
        Step::Done(response)
    }
}
