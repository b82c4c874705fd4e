//! An answer, put together from its chunks; a whole answer is one chunk.

use serde_json::{Value, json};

use super::calls::Calls;
use crate::chat::Delta;

/// What came so far.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// The first chunk that named a model, without its choices.
    head: Option<Value>,
    pub(super) runs: Vec<Run>,
    pub(super) calls: Calls,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<Value>,
    /// `{"content": [...], "refusal": [...]}`.
    pub(super) logprobs: Option<Value>,
    answered: bool,
}

/// Text or reasoning without a change between.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) is_reasoning: bool,
    pub(super) text: String,
    /// Whether there is more than white space in it. Models with a template around their reasoning
    /// send line feeds in the place of a text that they don't write.
    pub(super) is_visible: bool,
}

impl Fold {
    /// Takes a chunk and says what is new in it.
    pub(super) fn take(&mut self, chunk: &Value) -> Result<Vec<Delta>, String> {
        if !chunk.is_object() {
            return Err("a chunk of the answer is no JSON object".to_owned());
        }
        let usage = [&chunk["usage"], &chunk["x_groq"]["usage"]];
        if let Some(usage) = usage.into_iter().find(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        if self.head.is_none() && chunk["model"].is_string() {
            self.head = Some(json!({
                "id": chunk["id"],
                "created": chunk["created"],
                "model": chunk["model"],
                "system_fingerprint": chunk["system_fingerprint"],
                "service_tier": chunk["service_tier"],
            }));
        }
        let mut deltas = Vec::new();
        let choices = match &chunk["choices"] {
            Value::Array(choices) => choices.as_slice(),
            Value::Null => &[],
            _ => return Err("`choices` of the answer is no list".to_owned()),
        };
        // One answer was asked for.
        let first = |choice: &&Value| choice["index"].as_u64().unwrap_or(0) == 0;
        if let Some(choice) = choices.iter().find(first) {
            self.choice(choice, &mut deltas)?;
        }
        Ok(deltas)
    }

    /// Says what was held back.
    pub(super) fn end(&mut self) -> Vec<Delta> {
        let mut deltas = Vec::new();
        self.calls.end(&mut deltas);
        deltas
    }

    /// Whether there was any choice.
    pub(super) fn answered(&self) -> bool {
        self.answered
    }

    /// Whether the model said that it is done.
    pub(super) fn finished(&self) -> bool {
        self.finish.is_some()
    }

    /// The model's own name.
    pub(super) fn model(&self) -> Option<&str> {
        self.head.as_ref()?["model"].as_str()
    }

    /// The answer as if it had come whole.
    pub(super) fn document(&self) -> Value {
        let calls: Vec<Value> = self
            .calls
            .finished()
            .map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            })
            .collect();
        let mut message = json!({"role": "assistant", "content": self.text(false)});
        if let Some(reasoning) = self.text(true) {
            message["reasoning_content"] = reasoning.into();
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let mut document = self.head.clone().unwrap_or_else(|| json!({}));
        document["object"] = json!("chat.completion");
        document["choices"] = json!([{
            "index": 0,
            "message": message,
            "logprobs": self.logprobs,
            "finish_reason": self.finish,
        }]);
        document["usage"] = self.usage.clone().unwrap_or_default();
        document
    }

    fn text(&self, reasoning: bool) -> Option<String> {
        let runs = self.runs.iter();
        let wanted: Vec<&str> = runs
            .filter(|run| run.is_visible && run.is_reasoning == reasoning)
            .map(|run| run.text.as_str())
            .collect();
        (!wanted.is_empty()).then(|| wanted.concat())
    }

    fn choice(&mut self, choice: &Value, deltas: &mut Vec<Delta>) -> Result<(), String> {
        self.answered = true;
        let message = match &choice["delta"] {
            Value::Null => &choice["message"],
            delta => delta,
        };
        let reasoning = [&message["reasoning_content"], &message["reasoning"]];
        let reasoning = reasoning.into_iter().filter_map(Value::as_str);
        if let Some(text) = reasoning.into_iter().find(|text| !text.is_empty()) {
            self.push(true, text, deltas);
        }
        self.content(&message["content"], deltas)?;
        if let Some(text) = message["refusal"].as_str() {
            self.push(false, text, deltas);
        }
        self.calls.take(&message["tool_calls"], deltas)?;
        if let Some(reason) = choice["finish_reason"].as_str().filter(|r| !r.is_empty()) {
            self.finish = Some(reason.to_owned());
        }
        self.logprobs(&choice["logprobs"]);
        Ok(())
    }

    /// A string, or (Mistral) a list of texts and thoughts.
    fn content(&mut self, content: &Value, deltas: &mut Vec<Delta>) -> Result<(), String> {
        match content {
            Value::Null => {}
            Value::String(text) => self.push(false, text, deltas),
            Value::Array(parts) => {
                for part in parts {
                    if let Some(text) = part["text"].as_str() {
                        self.push(false, text, deltas);
                    }
                    match &part["thinking"] {
                        Value::String(text) => self.push(true, text, deltas),
                        Value::Array(thoughts) => {
                            for text in thoughts.iter().filter_map(|part| part["text"].as_str()) {
                                self.push(true, text, deltas);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => return Err("`content` of the answer is no text".to_owned()),
        }
        Ok(())
    }

    fn push(&mut self, is_reasoning: bool, text: &str, deltas: &mut Vec<Delta>) {
        if text.is_empty() {
            return;
        }
        let delta = |text: &str| {
            let text = text.to_owned();
            if is_reasoning {
                Delta::Reasoning(text)
            } else {
                Delta::Text(text)
            }
        };
        let is_visible = !text.trim().is_empty();
        match self.runs.last_mut() {
            Some(run) if run.is_reasoning == is_reasoning => {
                run.text.push_str(text);
                if run.is_visible {
                    deltas.push(delta(text));
                } else if is_visible {
                    run.is_visible = true;
                    deltas.push(delta(&run.text));
                }
            }
            _ => {
                if is_visible {
                    deltas.push(delta(text));
                }
                self.runs.push(Run {
                    is_reasoning,
                    text: text.to_owned(),
                    is_visible,
                });
            }
        }
    }

    fn logprobs(&mut self, piece: &Value) {
        let Some(fields) = piece.as_object() else {
            return;
        };
        let all = self.logprobs.get_or_insert_with(|| json!({}));
        for (name, value) in fields {
            match (&mut all[name], value) {
                (Value::Array(all), Value::Array(more)) => all.extend(more.iter().cloned()),
                (place, value) => *place = value.clone(),
            }
        }
    }
}
