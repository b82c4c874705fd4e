//! An answer as a whole, and how an answer ends.

use bulkhead_agent::Outcome;
use bulkhead_domain::StopReason;
use serde_json::{Value, json};

use super::view::View;

/// What a run gave, with the fields of the contract.
pub(crate) fn response(outcome: &Outcome, view: &View) -> Value {
    let messages = outcome.messages.iter().map(|message| &**message);
    json!({
        "messages": view.all(messages),
        "stop_reason": stop_reason(outcome.stop_reason),
        "usage": usage(outcome),
        "logprobs": outcome.logprobs,
        "turns": null,
    })
}

/// Why a run ended.
pub(super) fn stop_reason(reason: StopReason) -> Value {
    json!({ "message_type": "stop_reason", "stop_reason": reason })
}

/// The runs that it set going beside it; null where there are none.
fn run_ids(outcome: &Outcome) -> Value {
    match outcome.background.as_slice() {
        [] => Value::Null,
        runs => json!(runs),
    }
}

/// What a run cost.
pub(super) fn usage(outcome: &Outcome) -> Value {
    let usage = &outcome.usage;
    json!({
        "message_type": "usage_statistics",
        "completion_tokens": usage.completion_tokens,
        "prompt_tokens": usage.prompt_tokens,
        "total_tokens": usage.total_tokens,
        "step_count": outcome.steps,
        "run_ids": run_ids(outcome),
        "cached_input_tokens": usage.cached_input_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "context_tokens": outcome.context_tokens,
    })
}
