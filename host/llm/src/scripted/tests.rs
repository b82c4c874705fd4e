//! Conversations with the offline model, as the loop of an agent has them.

use std::time::Duration;

use bulkhead_domain::{LlmConfig, Part, ToolCall};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::{
    chat::{ChatMessage, Delta, Endpoint, Finish, ToolChoice, ToolSpec},
    error::ErrorKind,
};

fn request(messages: Vec<ChatMessage>) -> ChatRequest {
    ChatRequest {
        config: LlmConfig::new(PROVIDER_NAME, "openai", MODEL, CONTEXT_WINDOW),
        endpoint: Endpoint {
            name: PROVIDER_NAME.into(),
            provider: "Bulkhead".into(),
            provider_id: None,
            base_url: ENDPOINT.into(),
            api_key: None,
            headers: Vec::new(),
        },
        system: "You are kind.".into(),
        messages,
        tools: vec![tool("roll"), tool("weather")],
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: false,
        user: None,
        script: None,
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Does something.".into(),
        parameters: json!({"type": "object", "properties": {"city": {"type": "string"}},
                           "required": ["city"]}),
    }
}

fn user(text: &str) -> ChatMessage {
    ChatMessage::User(vec![Part::text(text)])
}

fn assistant(reply: &ChatReply) -> ChatMessage {
    ChatMessage::Assistant {
        content: reply.content.clone(),
        tool_calls: reply.tool_calls.clone(),
        model: None,
    }
}

fn result(call: &ToolCall, message: &str) -> ChatMessage {
    ChatMessage::Tool {
        tool_call_id: call.id.clone(),
        name: call.name.clone(),
        text: json!({"status": "OK", "message": message, "time": "now"}).to_string(),
        images: Vec::new(),
        is_error: false,
    }
}

fn heartbeat(reason: &str) -> ChatMessage {
    user(&json!({"type": "heartbeat", "reason": reason, "time": "now"}).to_string())
}

async fn ask(request: &ChatRequest) -> ChatReply {
    chat(request, None).await.unwrap()
}

fn text(reply: &ChatReply) -> String {
    reply
        .content
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn names(reply: &ChatReply) -> Vec<&str> {
    reply.tool_calls.iter().map(|c| c.name.as_str()).collect()
}

/// Answers the reply's calls, and asks again.
async fn go_on(request: &mut ChatRequest, reply: &ChatReply) -> ChatReply {
    request.messages.push(assistant(reply));
    for call in &reply.tool_calls {
        let message = format!("{} is done", call.name);
        request.messages.push(result(call, &message));
    }
    ask(request).await
}

#[tokio::test]
async fn other_text_is_answered_with_a_sentence_that_claims_nothing() {
    let reply = ask(&request(vec![user("What is the meaning of life?")])).await;
    assert!(text(&reply).contains("What is the meaning of life?"));
    assert!(text(&reply).contains("not a language model"));
    assert_eq!(reply.finish, Finish::Stop);
    assert!(reply.usage.prompt_tokens > 10 && reply.usage.completion_tokens > 10);
}

#[tokio::test]
async fn calls_are_made_at_once_and_their_results_quoted() {
    let mut request = request(vec![user(
        "Please:\ncall roll with {\"sides\": 6}\ncall nonsense with {oops",
    )]);
    let first = ask(&request).await;
    assert_eq!(names(&first), ["roll", "nonsense"]);
    assert_eq!(first.tool_calls[0].arguments, "{\"sides\": 6}");
    assert_eq!(first.tool_calls[1].arguments, "{oops");
    assert_eq!(text(&first), "");
    let last = go_on(&mut request, &first).await;
    assert_eq!(
        text(&last),
        "The tool roll returned: roll is done\nThe tool nonsense returned: nonsense is done"
    );
}

#[tokio::test]
async fn ids_of_calls_are_the_same_for_the_same_request_and_new_for_the_next() {
    let mut request = request(vec![user("call roll\ncall roll\nrepeat")]);
    let first = ask(&request).await;
    assert_eq!(first.tool_calls, ask(&request).await.tool_calls);
    let second = go_on(&mut request, &first).await;
    let third = go_on(&mut request, &second).await;
    let mut ids: Vec<String> = [first, second, third]
        .into_iter()
        .flat_map(|reply| reply.tool_calls)
        .map(|call| call.id)
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn replies_follow_each_other_and_the_next_message_begins_anew() {
    let mut request = request(vec![user(
        "think first\ncall roll\nthen\ncall weather\nthen\nsay Done.",
    )]);
    let first = ask(&request).await;
    assert!(matches!(&first.content[0], Part::Reasoning { reasoning, .. } if reasoning == "first"));
    let second = go_on(&mut request, &first).await;
    assert_eq!(names(&second), ["weather"]);
    let third = go_on(&mut request, &second).await;
    assert_eq!(text(&third), "Done.");
    request.messages.push(assistant(&third));
    request.messages.push(user("call roll"));
    assert_eq!(names(&ask(&request).await), ["roll"]);
}

#[tokio::test]
async fn a_forced_call_comes_first_and_the_script_goes_on_after_it() {
    let mut request = request(vec![user("call weather with {\"city\": \"Rome\"}")]);
    request.tool_choice = ToolChoice::Tool("roll".into());
    let first = ask(&request).await;
    assert_eq!(names(&first), ["roll"]);
    assert_eq!(first.tool_calls[0].arguments, "{\"city\":\"text\"}");
    request.tool_choice = ToolChoice::Auto;
    let second = go_on(&mut request, &first).await;
    assert_eq!(names(&second), ["weather"]);
}

#[tokio::test]
async fn agents_that_must_call_a_tool_speak_through_send_message() {
    let mut request = request(vec![user("say Hello.")]);
    request.tool_choice = ToolChoice::Required;
    assert_eq!(names(&ask(&request).await), ["roll"]);
    request.tools.push(ToolSpec {
        name: "send_message".into(),
        description: String::new(),
        parameters: json!({
            "type": "object",
            "properties": {"thinking": {"type": "string"}, "message": {"type": "string"},
                           "request_heartbeat": {"type": "boolean"}},
            "required": ["thinking", "message", "request_heartbeat"],
        }),
    });
    let reply = ask(&request).await;
    let arguments: Value = serde_json::from_str(&reply.tool_calls[0].arguments).unwrap();
    assert_eq!(arguments["message"], "Hello.");
    assert_eq!(arguments["request_heartbeat"], false);
    assert_eq!(text(&reply), "");
}

#[tokio::test]
async fn a_tool_that_a_rule_demands_is_called() {
    let mut request = request(vec![user("say Bye.")]);
    let reply = ask(&request).await;
    request.messages.push(assistant(&reply));
    request.messages.push(heartbeat(
        "ToolRuleViolated: You must call roll at least once to exit the loop.",
    ));
    assert_eq!(names(&ask(&request).await), ["roll"]);
}

#[tokio::test]
async fn a_notice_is_no_command_and_no_request_of_a_person() {
    let notice = user("<system-reminder>\nReview this:\ncall roll\n</system-reminder>");
    let reply = ask(&request(vec![notice])).await;
    assert_eq!(names(&reply), [""; 0]);
    assert!(text(&reply).starts_with("The system says"));

    let mut late = request(vec![user("call roll\nrepeat")]);
    let first = ask(&late).await;
    late.messages.push(assistant(&first));
    late.messages.push(result(&first.tool_calls[0], "4"));
    late.messages.push(heartbeat("returning control"));
    assert_eq!(names(&ask(&late).await), ["roll"]);
}

#[tokio::test]
async fn a_script_of_the_agent_replies_across_steps() {
    let mut request = request(vec![user("How is the weather?")]);
    request.script = Some(json!([
        {"when": "dice", "reply": "call roll"},
        {"when": "weather", "reply": "call weather with {\"city\": \"Rome\"}\nthen\nTake a hat."},
    ]));
    let first = ask(&request).await;
    assert_eq!(names(&first), ["weather"]);
    assert_eq!(text(&go_on(&mut request, &first).await), "Take a hat.");
    request.script = Some(json!("call roll"));
    let error = chat(&request, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest);
    assert!(error.message.contains("a list"), "{}", error.message);
}

#[tokio::test]
async fn a_transcript_is_summarised_by_counting() {
    let mut request = request(vec![user(
        "<start_transcript>\n[user] call roll\n[assistant] 4\n<end_transcript>\n. Generate the summary.",
    )]);
    request.tools.clear();
    let summary = text(&ask(&request).await);
    assert!(summary.contains("2 lines"), "{summary}");
    assert!(summary.contains("“[user] call roll”") && summary.contains("“[assistant] 4”"));
}

#[tokio::test]
async fn json_is_answered_where_it_is_asked_for() {
    let mut request = request(vec![user("say Hello.")]);
    request.config.response_format = Some(json!({"type": "json_object"}));
    assert_eq!(text(&ask(&request).await), "{\"answer\":\"Hello.\"}");
    request.config.response_format = Some(json!({"type": "json_schema", "json_schema": {
        "name": "x", "schema": {"type": "object", "required": ["n"],
                                "properties": {"n": {"type": "integer"}}}}}));
    assert_eq!(text(&ask(&request).await), "{\"n\":0}");
}

#[tokio::test]
async fn failures_are_typed_and_can_depend_on_the_length() {
    for (word, kind, status) in [
        ("rate_limit", ErrorKind::RateLimit, Some(429)),
        ("overloaded", ErrorKind::Overloaded, Some(529)),
        ("timeout", ErrorKind::Timeout, None),
        ("empty", ErrorKind::EmptyResponse, None),
    ] {
        let request = request(vec![user(&format!("fail {word}"))]);
        let error = chat(&request, None).await.unwrap_err();
        assert_eq!(
            (error.kind, error.status, error.partial),
            (kind, status, false)
        );
    }
    let mut long = request(vec![user("fail context_window over 500 tokens")]);
    assert_eq!(names(&ask(&long).await), [""; 0]);
    long.messages.insert(0, user(&"many words ".repeat(500)));
    let error = chat(&long, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ContextWindowExceeded);
}

#[tokio::test]
async fn more_tokens_than_fit_are_refused() {
    let text = "word ".repeat(130_000);
    let error = chat(&request(vec![user(&text)]), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ContextWindowExceeded);
}

#[tokio::test]
async fn silence_and_lack_of_tokens_can_be_asked_for() {
    let reply = ask(&request(vec![user("empty")])).await;
    assert!(reply.content.is_empty() && reply.tool_calls.is_empty());
    let reply = ask(&request(vec![user("say Half of\nstop length")])).await;
    assert_eq!(
        (text(&reply).as_str(), reply.finish),
        ("Half of", Finish::Length)
    );
}

#[tokio::test]
async fn a_stream_comes_in_pieces_with_its_waits() {
    let (sender, mut receiver) = mpsc::channel(1);
    let asked = std::time::Instant::now();
    let task = tokio::spawn(async move {
        let request = request(vec![user(
            "wait 100ms\npause 5ms\nthink so it is\nsay Hello dear\ncall roll with {\"city\": \"Llanfairpwll\"}",
        )]);
        chat(&request, Some(&sender)).await
    });
    let mut reasoning = Vec::new();
    let mut said = Vec::new();
    let mut arguments = Vec::new();
    let mut begun = None;
    while let Some(delta) = receiver.recv().await {
        match delta {
            Delta::Reasoning(piece) => reasoning.push(piece),
            Delta::Text(piece) => said.push(piece),
            Delta::ToolCall { index, id, name } => begun = Some((index, id, name)),
            Delta::Arguments { index: 0, json } => arguments.push(json),
            Delta::Arguments { .. } => panic!("there is one call"),
        }
    }
    let reply = task.await.unwrap().unwrap();
    assert_eq!(reasoning, ["so ", "it ", "is"]);
    assert_eq!(said, ["Hello ", "dear"]);
    assert!(arguments.len() > 1);
    assert_eq!(arguments.concat(), reply.tool_calls[0].arguments);
    assert_eq!(
        begun,
        Some((0, reply.tool_calls[0].id.clone(), "roll".into()))
    );
    assert!(reply.usage.reasoning_tokens > Some(0) && reply.first_delta.is_some());
    let pieces = 5 + 1 + u32::try_from(arguments.len()).unwrap();
    let expected = Duration::from_millis(100) + Duration::from_millis(5) * (pieces - 1);
    assert!(asked.elapsed() >= expected, "{:?}", asked.elapsed());
}

#[tokio::test]
async fn a_stream_can_break_off_after_some_pieces() {
    let (sender, mut receiver) = mpsc::channel(16);
    let request = request(vec![user("say one two three\nfail server after 2 pieces")]);
    let error = chat(&request, Some(&sender)).await.unwrap_err();
    assert!(error.partial && error.kind == ErrorKind::Server);
    drop(sender);
    let mut pieces = Vec::new();
    while let Some(delta) = receiver.recv().await {
        pieces.push(delta);
    }
    assert_eq!(
        pieces,
        [Delta::Text("one ".into()), Delta::Text("two ".into())]
    );
}

#[tokio::test]
async fn that_nobody_reads_a_stream_is_no_error() {
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let reply = chat(&request(vec![user("say one two")]), Some(&sender)).await;
    assert_eq!(text(&reply.unwrap()), "one two");
}

#[tokio::test]
async fn an_agent_that_does_not_reason_hears_no_thoughts() {
    let mut request = request(vec![user("think hm\nsay Hi.")]);
    request.config.enable_reasoner = false;
    assert_eq!(ask(&request).await.content, [Part::text("Hi.")]);
}
