//! What is answered: the script's next reply, or a sentence where there is none.

use bulkhead_domain::ToolCall;
use serde_json::{Map, Value, json};

use super::{
    fill,
    grammar::{Call, Plain, Reply, Said, parse},
    input::{Situation, situation},
    script, words,
};
use crate::chat::{ChatRequest, ToolChoice, ToolSpec};

/// The tool by which agents of the older types speak.
const SEND_MESSAGE: &str = "send_message";

/// Chooses the answer.
///
/// # Errors
/// Says what is wrong with the script.
pub(super) fn decide(request: &ChatRequest) -> Result<Reply, String> {
    let situation = situation(&request.messages);
    let mut reply = match next_of_script(request, &situation)? {
        Some(reply) => reply,
        None => improvised(request, &situation),
    };
    if !reply.is_complete() {
        reply.said.push(Said::Say(made_up(&reply, &situation)));
    }
    if !reply.empty {
        reply = forced(request, reply);
        format(request, &mut reply);
    }
    if !request.config.enable_reasoner {
        reply.said.retain(|said| matches!(said, Said::Say(_)));
    }
    Ok(reply)
}

/// The first reply of the script that was not given since the request began.
fn next_of_script(
    request: &ChatRequest,
    situation: &Situation<'_>,
) -> Result<Option<Reply>, String> {
    let Some(opening) = &situation.opening else {
        return Ok(None);
    };
    let text = opening.text();
    let mut replies = match &request.script {
        Some(script) => script::replies(script, &text)?,
        None => None,
    };
    if replies.is_none() && !opening.texts.is_empty() && words::transcript(&text).is_none() {
        replies = Some(parse(&text, Plain::Ignored)?);
    }
    let replies = replies.unwrap_or_default();
    Ok(first_unused(replies, &situation.answers))
}

/// A reply is used up by the answer that makes one of its calls, or by any where it has none;
/// answers that were forced in between use up nothing. A repeated reply is never used up.
fn first_unused(replies: Vec<Reply>, answers: &[&[ToolCall]]) -> Option<Reply> {
    let mut answers = answers.iter();
    replies.into_iter().find(|reply| {
        let gave = |calls: &&[ToolCall]| {
            reply.calls.is_empty()
                || (reply.calls.iter()).any(|call| calls.iter().any(|c| c.name == call.name))
        };
        reply.repeat || !answers.any(gave)
    })
}

/// The answer where no script says anything.
fn improvised(request: &ChatRequest, situation: &Situation<'_>) -> Reply {
    let newest = &situation.newest;
    let demanded: Vec<String> = newest
        .notices
        .iter()
        .flat_map(|notice| words::demanded(notice))
        .collect();
    if !demanded.is_empty() {
        return Reply {
            calls: demanded.iter().map(|name| call_of(request, name)).collect(),
            ..Reply::default()
        };
    }
    Reply::default()
}

/// The text of a reply that has none: what the newest input is answered with.
fn made_up(reply: &Reply, situation: &Situation<'_>) -> String {
    let newest = &situation.newest;
    let breaks_off = (reply.fail.as_ref()).is_some_and(|fail| fail.after_pieces.is_some());
    if breaks_off || reply.finish.is_some() {
        return words::broken_off();
    }
    let mut sentences = Vec::new();
    if !newest.results.is_empty() {
        sentences.push(words::results(&newest.results));
    }
    if !newest.texts.is_empty() {
        let text = newest.text();
        sentences.push(match words::transcript(&text) {
            Some(transcript) => words::summary(transcript),
            None => words::plain(newest),
        });
    } else if newest.results.is_empty() && !newest.notices.is_empty() {
        sentences.push(words::notice(&newest.text()));
    }
    if sentences.is_empty() {
        return words::nothing_new();
    }
    sentences.join("\n")
}

/// Adds the call that the request demands.
fn forced(request: &ChatRequest, mut reply: Reply) -> Reply {
    match &request.tool_choice {
        ToolChoice::Auto => reply,
        _ if request.tools.is_empty() => reply,
        ToolChoice::Required if !reply.calls.is_empty() => reply,
        ToolChoice::Required => {
            let speaks = request.tools.iter().find(|tool| tool.name == SEND_MESSAGE);
            let call = match (speaks, request.tools.first()) {
                (Some(tool), _) => spoken(tool, &mut reply),
                (None, Some(tool)) => call_of(request, &tool.name),
                (None, None) => return reply,
            };
            reply.calls.push(call);
            reply
        }
        ToolChoice::Tool(name) if reply.calls.iter().any(|call| call.name == *name) => reply,
        // The reply's own calls come when they are allowed.
        ToolChoice::Tool(name) if !reply.calls.is_empty() => Reply {
            calls: vec![call_of(request, name)],
            ..Reply::default()
        },
        ToolChoice::Tool(name) => {
            let call = match request.tools.iter().find(|tool| tool.name == *name) {
                Some(tool) if name == SEND_MESSAGE => spoken(tool, &mut reply),
                _ => call_of(request, name),
            };
            reply.calls.push(call);
            reply
        }
    }
}

/// The reply's text as a message to the user.
fn spoken(tool: &ToolSpec, reply: &mut Reply) -> Call {
    let mut arguments = arguments_of(tool);
    arguments.insert("message".to_owned(), Value::String(reply.text()));
    reply.said.retain(|said| matches!(said, Said::Think(_)));
    Call {
        name: tool.name.clone(),
        arguments: Value::Object(arguments).to_string(),
    }
}

/// A call of which only the name is known; without arguments where the tool is not offered.
fn call_of(request: &ChatRequest, name: &str) -> Call {
    let tool = request.tools.iter().find(|tool| tool.name == name);
    let arguments = tool.map(arguments_of).unwrap_or_default();
    Call {
        name: name.to_owned(),
        arguments: Value::Object(arguments).to_string(),
    }
}

/// The required arguments, filled in; `thinking` is a parameter that the loop adds for agents of the
/// older types and shows as reasoning.
fn arguments_of(tool: &ToolSpec) -> Map<String, Value> {
    let mut arguments = fill::object(&tool.parameters);
    if let Some(thinking) = arguments.get_mut("thinking") {
        *thinking = Value::String(words::thoughts());
    }
    arguments
}

/// Turns the text into a JSON object where the request wants one.
fn format(request: &ChatRequest, reply: &mut Reply) {
    let Some(format) = request.config.response_format.as_ref() else {
        return;
    };
    let kind = format.get("type").and_then(Value::as_str);
    let says = reply.said.iter().any(|said| matches!(said, Said::Say(_)));
    if !says || !matches!(kind, Some("json_object" | "json_schema")) {
        return;
    }
    let text = reply.text();
    if serde_json::from_str::<Map<String, Value>>(&text).is_ok() {
        return;
    }
    let object = match format.pointer("/json_schema/schema") {
        Some(schema) => Value::Object(fill::object(schema)),
        None => json!({"answer": text}),
    };
    reply.said.retain(|said| matches!(said, Said::Think(_)));
    reply.said.push(Said::Say(object.to_string()));
}
