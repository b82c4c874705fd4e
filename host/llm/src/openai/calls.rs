//! Calls of an answer, put together from pieces.
//!
//! OpenAI numbers calls and gives each its id and name first, then its arguments in pieces. Others
//! send whole calls at once, number none of them or all alike, give no ids, the same id twice, or
//! the name with every piece.

use bulkhead_domain::ToolCall;
use serde_json::Value;

use crate::{call_ids::CallIds, chat::Delta};

/// Calls of one answer at most; more is a model that has lost its way.
const MAX_CALLS: usize = 256;

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    ids: CallIds,
}

#[derive(Debug, Default)]
struct Call {
    /// The endpoint's number of it.
    number: Option<u64>,
    /// The endpoint's own id, which may be that of another call too.
    given: Option<String>,
    /// The id that the caller knows; made when the call begins.
    id: Option<String>,
    name: String,
    arguments: String,
    /// Bytes of the arguments that were passed on.
    passed: usize,
}

impl Calls {
    /// Takes a `tool_calls` list, or a piece of one.
    pub(super) fn take(&mut self, list: &Value, deltas: &mut Vec<Delta>) -> Result<(), String> {
        let Some(pieces) = list.as_array() else {
            return if list.is_null() {
                Ok(())
            } else {
                Err("`tool_calls` of the answer is no list".to_owned())
            };
        };
        for piece in pieces {
            let function = &piece["function"];
            let name = function["name"].as_str().unwrap_or_default();
            let at = self.place(piece, name);
            if at == self.calls.len() {
                if at == MAX_CALLS {
                    return Err(format!("more than {MAX_CALLS} tool calls in one answer"));
                }
                self.calls.push(Call {
                    number: piece["index"].as_u64(),
                    ..Call::default()
                });
            }
            let call = &mut self.calls[at];
            if call.given.is_none() {
                call.given = id_of(piece).map(str::to_owned);
            }
            if call.name.is_empty() {
                name.clone_into(&mut call.name);
            }
            match &function["arguments"] {
                Value::Null => {}
                Value::String(text) => call.arguments.push_str(text),
                // Some servers send the object itself.
                whole => call.arguments.push_str(&whole.to_string()),
            }
            self.pass_on(at, deltas);
        }
        Ok(())
    }

    /// Completes calls without arguments.
    pub(super) fn end(&mut self, deltas: &mut Vec<Delta>) {
        for at in 0..self.calls.len() {
            if self.calls[at].arguments.is_empty() {
                self.calls[at].arguments.push_str("{}");
            }
            self.pass_on(at, deltas);
        }
    }

    /// The calls; a piece that never got a name is none.
    pub(super) fn finished(&self) -> impl Iterator<Item = ToolCall> + '_ {
        self.calls.iter().filter_map(|call| {
            Some(ToolCall {
                id: call.id.clone()?,
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                signature: None,
            })
        })
    }

    /// Which call a piece belongs to; the number of calls where it begins one.
    fn place(&self, piece: &Value, name: &str) -> usize {
        let new = self.calls.len();
        let id = id_of(piece);
        let number = piece["index"].as_u64();
        let found = if number.is_some() {
            self.calls.iter().rposition(|call| call.number == number)
        } else if id.is_some() {
            self.calls
                .iter()
                .rposition(|call| call.given.as_deref() == id)
        } else if name.is_empty() {
            new.checked_sub(1)
        } else {
            None
        };
        let Some(at) = found else {
            return new;
        };
        let call = &self.calls[at];
        let begins = !name.is_empty() && !call.name.is_empty();
        let other_id = id.is_some() && call.given.is_some() && call.given.as_deref() != id;
        let complete = || serde_json::from_str::<Value>(&call.arguments).is_ok();
        // A second name means another call with the same number or id, unless this server sends
        // the name with every piece of the arguments.
        if begins && (other_id || complete()) {
            new
        } else {
            at
        }
    }

    fn pass_on(&mut self, at: usize, deltas: &mut Vec<Delta>) {
        if self.calls[at].name.is_empty() {
            return;
        }
        let index = self.calls[..at]
            .iter()
            .filter(|call| call.id.is_some())
            .count();
        if self.calls[at].id.is_none() {
            let id = self.ids.claim(self.calls[at].given.as_deref());
            deltas.push(Delta::ToolCall {
                index,
                id: id.clone(),
                name: self.calls[at].name.clone(),
            });
            self.calls[at].id = Some(id);
        }
        let call = &mut self.calls[at];
        if call.passed < call.arguments.len() {
            deltas.push(Delta::Arguments {
                index,
                json: call.arguments[call.passed..].to_owned(),
            });
            call.passed = call.arguments.len();
        }
    }
}

fn id_of(piece: &Value) -> Option<&str> {
    piece["id"].as_str().filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The calls of these pieces, as they are and as their deltas say.
    fn folded(pieces: &[Value]) -> Vec<(String, String, String)> {
        let mut calls = Calls::default();
        let mut deltas = Vec::new();
        for piece in pieces {
            calls.take(piece, &mut deltas).unwrap();
        }
        calls.end(&mut deltas);
        let mut told: Vec<(String, String, String)> = Vec::new();
        for delta in deltas {
            match delta {
                Delta::ToolCall { index, id, name } => {
                    assert_eq!(index, told.len());
                    told.push((id, name, String::new()));
                }
                Delta::Arguments { index, json } => told[index].2.push_str(&json),
                other => panic!("{other:?}"),
            }
        }
        let whole: Vec<_> = calls
            .finished()
            .map(|call| (call.id, call.name, call.arguments))
            .collect();
        assert_eq!(whole, told);
        whole
    }

    fn names(calls: &[(String, String, String)]) -> Vec<(&str, &str)> {
        calls
            .iter()
            .map(|(_, name, arguments)| (name.as_str(), arguments.as_str()))
            .collect()
    }

    #[test]
    fn numbered_pieces_come_together_though_they_alternate() {
        let calls = folded(&[
            json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": ""}}]),
            json!([{"index": 1, "id": "b", "function": {"name": "y", "arguments": "{\"q\""}}]),
            json!([{"index": 0, "function": {"arguments": "{\"p\":"}}]),
            json!([{"index": 1, "function": {"arguments": ":2}"}}, {"index": 0, "function": {"arguments": "1}"}}]),
        ]);
        assert_eq!(calls[0].0, "a");
        assert_eq!(calls[1].0, "b");
        assert_eq!(names(&calls), [("x", "{\"p\":1}"), ("y", "{\"q\":2}")]);
    }

    #[test]
    fn whole_calls_without_numbers_and_ids_are_told_apart() {
        let calls = folded(&[json!([
            {"function": {"name": "x", "arguments": {"p": 1}}},
            {"function": {"name": "x", "arguments": "{}"}},
        ])]);
        assert_eq!(names(&calls), [("x", "{\"p\":1}"), ("x", "{}")]);
        assert_ne!(calls[0].0, calls[1].0);
    }

    #[test]
    fn calls_that_all_have_number_zero_are_told_apart() {
        let by_id = folded(&[
            json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}}]),
            json!([{"index": 0, "id": "b", "function": {"name": "y", "arguments": "{}"}}]),
        ]);
        assert_eq!(names(&by_id), [("x", "{}"), ("y", "{}")]);
        let by_name = folded(&[
            json!([{"index": 0, "function": {"name": "x", "arguments": "{}"}}]),
            json!([{"index": 0, "function": {"name": "y"}}]),
        ]);
        assert_eq!(names(&by_name), [("x", "{}"), ("y", "{}")]);
    }

    #[test]
    fn a_name_with_every_piece_is_one_call() {
        let calls = folded(&[
            json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"p\""}}]),
            json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": ":1}"}}]),
        ]);
        assert_eq!(names(&calls), [("x", "{\"p\":1}")]);
    }

    #[test]
    fn two_calls_with_one_id_get_two() {
        let calls = folded(&[json!([
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}},
            {"index": 1, "id": "a", "function": {"name": "x", "arguments": "{}"}},
        ])]);
        assert_eq!(calls[0].0, "a");
        assert_ne!(calls[1].0, "a");
    }

    #[test]
    fn more_calls_than_any_answer_has_are_refused() {
        let call = json!({"function": {"name": "x", "arguments": "{}"}});
        let list = Value::from(vec![call; MAX_CALLS + 1]);
        assert!(Calls::default().take(&list, &mut Vec::new()).is_err());
    }
}
