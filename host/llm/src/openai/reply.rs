//! A finished answer as callers get it.

use bulkhead_domain::{Part, Usage};
use serde_json::Value;

use super::fold::Fold;
use crate::chat::{ChatReply, Finish};

/// The answer. The caller adds the request, the document and the time of the first piece.
pub(super) fn of(fold: Fold, asked: &str) -> ChatReply {
    let tool_calls = fold.calls.finished().collect();
    let model = fold.model().unwrap_or(asked).to_owned();
    ChatReply {
        finish: finish(fold.finish.as_deref()),
        usage: fold.usage.as_ref().map(usage).unwrap_or_default(),
        model,
        tool_calls,
        content: fold
            .runs
            .into_iter()
            .filter(|run| run.is_visible)
            .map(|run| {
                if run.is_reasoning {
                    Part::Reasoning {
                        is_native: true,
                        reasoning: run.text,
                        signature: None,
                    }
                } else {
                    Part::text(run.text)
                }
            })
            .collect(),
        request_json: Value::Null,
        response_json: Value::Null,
        logprobs: fold.logprobs,
        first_delta: None,
    }
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        None | Some("stop" | "tool_calls" | "function_call" | "eos" | "stop_sequence") => {
            Finish::Stop
        }
        Some("length" | "max_tokens" | "model_length") => Finish::Length,
        Some("content_filter") => Finish::Filtered,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

/// Tokens, in OpenAI's fields and DeepSeek's for its cache.
fn usage(usage: &Value) -> Usage {
    let prompt_tokens = usage["prompt_tokens"].as_i64().unwrap_or(0);
    let completion_tokens = usage["completion_tokens"].as_i64().unwrap_or(0);
    let cached = &usage["prompt_tokens_details"]["cached_tokens"];
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: usage["total_tokens"]
            .as_i64()
            .unwrap_or_else(|| prompt_tokens.saturating_add(completion_tokens)),
        cached_input_tokens: cached
            .as_i64()
            .or_else(|| usage["prompt_cache_hit_tokens"].as_i64()),
        cache_write_tokens: usage["prompt_tokens_details"]["cache_write_tokens"].as_i64(),
        reasoning_tokens: usage["completion_tokens_details"]["reasoning_tokens"].as_i64(),
    }
}
