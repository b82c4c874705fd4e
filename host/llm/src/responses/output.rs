//! A whole response as callers get it.

use bulkhead_domain::{Part, ToolCall, Usage, message::SummaryPart};
use serde_json::Value;

use crate::{
    call_ids::CallIds,
    chat::{ChatReply, Finish},
};

/// Reads a response. `told` are the ids under which its calls were announced, in order; the caller
/// adds the request, the document and the time of the first piece.
pub(super) fn reply(
    response: &Value,
    told: &[String],
    asked: &str,
) -> Result<ChatReply, &'static str> {
    let Some(items) = response["output"].as_array() else {
        return Err("the answer has no `output`");
    };
    let mut content = Vec::new();
    let mut tool_calls = Vec::new();
    let mut ids = CallIds::default();
    let mut logprobs = Vec::new();
    for item in items {
        match item["type"].as_str() {
            Some("message") => message(item, &mut content, &mut logprobs),
            Some("reasoning") => content.push(reasoning(item)),
            Some("function_call") => {
                let told = told.get(tool_calls.len()).map(String::as_str);
                let id = ids.claim(told.or_else(|| item["call_id"].as_str()));
                tool_calls.push(tool_call(item, id)?);
            }
            // Items of tools that run at the provider; none was offered.
            _ => {}
        }
    }
    Ok(ChatReply {
        content,
        tool_calls,
        finish: finish(response),
        usage: usage(&response["usage"]),
        model: response["model"].as_str().unwrap_or(asked).to_owned(),
        request_json: Value::Null,
        response_json: Value::Null,
        logprobs: (!logprobs.is_empty()).then(|| serde_json::json!({"content": logprobs})),
        first_delta: None,
    })
}

fn message(item: &Value, content: &mut Vec<Part>, logprobs: &mut Vec<Value>) {
    for part in item["content"].as_array().into_iter().flatten() {
        let text = part["text"].as_str().or_else(|| part["refusal"].as_str());
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            content.push(Part::text(text));
        }
        logprobs.extend(part["logprobs"].as_array().into_iter().flatten().cloned());
    }
}

fn reasoning(item: &Value) -> Part {
    let text = |part: &Value| part["text"].as_str().map(str::to_owned);
    Part::SummarizedReasoning {
        id: item["id"].as_str().unwrap_or_default().to_owned(),
        summary: item["summary"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(text)
            .zip(0..)
            .map(|(text, index)| SummaryPart { index, text })
            .collect(),
        encrypted_content: item["encrypted_content"].as_str().map(str::to_owned),
    }
}

fn tool_call(item: &Value, id: String) -> Result<ToolCall, &'static str> {
    let Some(name) = item["name"].as_str().filter(|name| !name.is_empty()) else {
        return Err("a call of the answer has no name");
    };
    Ok(ToolCall {
        id,
        name: name.to_owned(),
        arguments: match item["arguments"].as_str() {
            None | Some("") => "{}".to_owned(),
            Some(arguments) => arguments.to_owned(),
        },
        signature: None,
    })
}

fn finish(response: &Value) -> Finish {
    match response["status"].as_str() {
        Some("incomplete") => match response["incomplete_details"]["reason"].as_str() {
            Some("max_output_tokens") => Finish::Length,
            Some("content_filter") => Finish::Filtered,
            reason => Finish::Other(reason.unwrap_or("incomplete").to_owned()),
        },
        None | Some("completed") => Finish::Stop,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

fn usage(usage: &Value) -> Usage {
    let number = |value: &Value| value.as_i64();
    let prompt_tokens = number(&usage["input_tokens"]).unwrap_or(0);
    let completion_tokens = number(&usage["output_tokens"]).unwrap_or(0);
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: number(&usage["total_tokens"])
            .unwrap_or_else(|| prompt_tokens.saturating_add(completion_tokens)),
        cached_input_tokens: number(&usage["input_tokens_details"]["cached_tokens"]),
        cache_write_tokens: number(&usage["input_tokens_details"]["cache_write_tokens"]),
        reasoning_tokens: number(&usage["output_tokens_details"]["reasoning_tokens"]),
    }
}
