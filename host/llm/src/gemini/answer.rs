//! An answer, whole or in pieces: a stream's events have the form of whole answers, each with a
//! piece of the content.

use bulkhead_domain::{Part, ToolCall, Usage};
use serde_json::{Map, Value, json};

use crate::{call_ids::CallIds, chat::Delta};

/// What came so far.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Reasoning and text, in order.
    pub(crate) content: Vec<Part>,
    /// Calls, in order.
    pub(crate) calls: Vec<ToolCall>,
    ids: CallIds,
    /// Whether a text may still grow; not once something else followed it, or its signature.
    is_open: bool,
    /// The fields beside the candidates, the newest of each.
    fields: Map<String, Value>,
    /// The fields of the first candidate beside its content.
    candidate: Map<String, Value>,
    /// The parts of its content, pieces of one text joined.
    parts: Vec<Value>,
}

impl Answer {
    /// Takes a whole answer or the next piece of one; gives the pieces in it.
    pub(crate) fn take(&mut self, event: &Value) -> Vec<Delta> {
        for (key, value) in event.as_object().into_iter().flatten() {
            match (key.as_str(), self.fields.get_mut(key)) {
                ("candidates", _) => {}
                ("usageMetadata", Some(known)) => overlay(known, value),
                _ => {
                    self.fields.insert(key.clone(), value.clone());
                }
            }
        }
        // One candidate is asked for.
        let candidate = &event["candidates"][0];
        for (key, value) in candidate.as_object().into_iter().flatten() {
            if key != "content" {
                self.candidate.insert(key.clone(), value.clone());
            }
        }
        let parts = candidate["content"]["parts"].as_array();
        let parts = parts.into_iter().flatten();
        parts.flat_map(|part| self.part(part)).collect()
    }

    /// Whether the vendor said why the answer ended.
    pub(crate) fn is_complete(&self) -> bool {
        self.reason().is_some() || self.blocked().is_some()
    }

    /// Why the answer ended, in the vendor's word.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.candidate.get("finishReason")?.as_str()
    }

    /// The same at more length.
    pub(crate) fn reason_in_words(&self) -> Option<&str> {
        self.candidate.get("finishMessage")?.as_str()
    }

    /// Why there is no answer, in the vendor's word.
    pub(crate) fn blocked(&self) -> Option<&str> {
        self.fields.get("promptFeedback")?["blockReason"].as_str()
    }

    /// The model that answered.
    pub(crate) fn model(&self) -> Option<&str> {
        self.fields.get("modelVersion")?.as_str()
    }

    /// What it cost. The vendor counts reasoning apart from the answer.
    pub(crate) fn usage(&self) -> Usage {
        let count = |key: &str| self.fields.get("usageMetadata")?.get(key)?.as_i64();
        let prompt_tokens = count("promptTokenCount").unwrap_or(0);
        let reasoning_tokens = count("thoughtsTokenCount");
        let completion_tokens = count("candidatesTokenCount")
            .unwrap_or(0)
            .saturating_add(reasoning_tokens.unwrap_or(0));
        Usage {
            completion_tokens,
            prompt_tokens,
            total_tokens: prompt_tokens.saturating_add(completion_tokens),
            cached_input_tokens: count("cachedContentTokenCount"),
            cache_write_tokens: None,
            reasoning_tokens,
        }
    }

    /// All of it in the form of a whole answer.
    pub(crate) fn to_json(&self) -> Value {
        let mut whole = self.fields.clone();
        if !self.candidate.is_empty() || !self.parts.is_empty() {
            let mut candidate = self.candidate.clone();
            let content = json!({"role": "model", "parts": self.parts});
            candidate.insert("content".to_owned(), content);
            whole.insert("candidates".to_owned(), json!([candidate]));
        }
        Value::Object(whole)
    }

    fn part(&mut self, part: &Value) -> Vec<Delta> {
        let signature = part["thoughtSignature"].as_str();
        let signature = signature.filter(|text| !text.is_empty());
        if let Some(call) = part.get("functionCall") {
            self.parts.push(part.clone());
            self.is_open = false;
            return self.call(call, signature);
        }
        let Some(text) = part["text"].as_str() else {
            // An image, code that the vendor ran: nothing of that was asked for.
            self.parts.push(part.clone());
            self.is_open = false;
            return Vec::new();
        };
        let is_thought = part["thought"] == true;
        if text.is_empty() && signature.is_none() {
            return Vec::new();
        }
        if !self.grow(is_thought, text, signature) {
            self.parts.push(part.clone());
            self.content.push(piece(is_thought, text, signature));
        }
        self.is_open = signature.is_none();
        if text.is_empty() {
            return Vec::new();
        }
        let text = text.to_owned();
        vec![if is_thought {
            Delta::Reasoning(text)
        } else {
            Delta::Text(text)
        }]
    }

    /// Adds to the last text, where this is more of the same. A signature without text is that of
    /// the text before, of whichever kind.
    fn grow(&mut self, is_thought: bool, text: &str, signature: Option<&str>) -> bool {
        if !self.is_open {
            return false;
        }
        let (known, known_signature) = match self.content.last_mut() {
            Some(Part::Text { text, signature }) => (text, signature),
            Some(Part::Reasoning {
                reasoning,
                signature,
                ..
            }) => (reasoning, signature),
            _ => return false,
        };
        let Some(raw) = self.parts.last_mut() else {
            return false;
        };
        if (raw["thought"] == true) != is_thought && !text.is_empty() {
            return false;
        }
        known.push_str(text);
        if let Some(Value::String(raw)) = raw.get_mut("text") {
            raw.push_str(text);
        }
        if let Some(signature) = signature {
            *known_signature = Some(signature.to_owned());
            raw["thoughtSignature"] = Value::from(signature);
        }
        true
    }

    fn call(&mut self, call: &Value, signature: Option<&str>) -> Vec<Delta> {
        let index = self.calls.len();
        let id = self.ids.claim(call["id"].as_str());
        let name = call["name"].as_str().unwrap_or_default().to_owned();
        let json = match &call["args"] {
            Value::Null => "{}".to_owned(),
            args => args.to_string(),
        };
        self.calls.push(ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: json.clone(),
            signature: signature.map(str::to_owned),
        });
        vec![
            Delta::ToolCall { index, id, name },
            Delta::Arguments { index, json },
        ]
    }
}

fn piece(is_thought: bool, text: &str, signature: Option<&str>) -> Part {
    let signature = signature.map(str::to_owned);
    let text = text.to_owned();
    match (is_thought, text.is_empty()) {
        (_, true) => Part::OmittedReasoning { signature },
        (true, false) => Part::Reasoning {
            is_native: true,
            reasoning: text,
            signature,
        },
        (false, false) => Part::Text { text, signature },
    }
}

fn overlay(known: &mut Value, newer: &Value) {
    match (known.as_object_mut(), newer.as_object()) {
        (Some(known), Some(newer)) => {
            let told = newer.iter().filter(|(_, value)| !value.is_null());
            known.extend(told.map(|(key, value)| (key.clone(), value.clone())));
        }
        _ => *known = newer.clone(),
    }
}
