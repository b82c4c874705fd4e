//! Anthropic's wire format, against a server on loopback that speaks it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bulkhead_domain::{ImageSource, LlmConfig, Part, ToolCall, Usage};
use bulkhead_llm::{ChatMessage, ChatRequest, Delta, ErrorKind, Finish, ToolChoice, ToolSpec};
use common::{Answer, Server, ask, stream, user};
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-4-5";

fn request(server: &Server, model: &str, messages: Vec<ChatMessage>) -> ChatRequest {
    let config = LlmConfig::new("anthropic", "anthropic", model, 200_000);
    server.request("Anthropic", config, messages)
}

fn image() -> Part {
    Part::Image {
        source: ImageSource::Base64 {
            media_type: "image/png".to_owned(),
            data: "iVBORw0K".to_owned(),
            detail: None,
        },
    }
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "look".to_owned(),
        arguments: arguments.to_owned(),
        signature: None,
    }
}

fn look() -> ToolSpec {
    ToolSpec {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        parameters: json!({"type": "object", "properties": {"at": {"type": "string"}}}),
    }
}

fn signed(text: &str) -> Part {
    Part::Reasoning {
        is_native: true,
        reasoning: text.to_owned(),
        signature: Some("sig".to_owned()),
    }
}

/// A person asks, the model of this name thinks and calls twice, both tools answer, a notice comes.
fn tool_turn(model: &str) -> Vec<ChatMessage> {
    let result = |id: &str, text: &str, images: Vec<Part>, is_error| ChatMessage::Tool {
        tool_call_id: id.to_owned(),
        name: "look".to_owned(),
        text: text.to_owned(),
        images,
        is_error,
    };
    vec![
        ChatMessage::User(vec![Part::text("What is there?"), image()]),
        ChatMessage::Assistant {
            content: vec![
                signed("I must look."),
                Part::RedactedReasoning {
                    data: "opaque".to_owned(),
                },
                Part::text("Looking."),
                Part::text(""),
            ],
            tool_calls: vec![
                call("toolu_1", r#"{"at":"left"}"#),
                call("toolu:2", "no JSON"),
            ],
            model: Some(model.to_owned()),
        },
        result("toolu_1", "a tree", vec![image()], false),
        result("toolu:2", "no eyes", Vec::new(), true),
        ChatMessage::System("Memory was updated.".to_owned()),
    ]
}

fn whole() -> Value {
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [
            {"type": "thinking", "thinking": "I must look.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"type": "text", "text": "Ich schaue … 🌳"},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "left"}},
            {"type": "tool_use", "id": "toolu_2", "name": "wait", "input": {}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": null,
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 200,
            "cache_creation_input_tokens": 30,
            "output_tokens": 44,
        },
    })
}

/// The same answer as events.
fn events() -> Vec<Value> {
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let mut message = whole();
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    vec![
        json!({"type": "message_start", "message": message}),
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "I must "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "look."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "b3BhcXVl"})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "Ich schaue "})),
        delta(2, json!({"type": "text_delta", "text": "… 🌳"})),
        stop(2),
        start(
            3,
            json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}),
        ),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            3,
            json!({"type": "input_json_delta", "partial_json": "{\"at\":"}),
        ),
        delta(
            3,
            json!({"type": "input_json_delta", "partial_json": "\"left\"}"}),
        ),
        stop(3),
        start(
            4,
            json!({"type": "tool_use", "id": "toolu_2", "name": "wait", "input": {}}),
        ),
        stop(4),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": null},
            "usage": {"input_tokens": null, "output_tokens": 44},
        }),
        json!({"type": "message_stop"}),
    ]
}

fn sse(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"]);
    events.iter().map(event).collect()
}

#[tokio::test]
async fn a_conversation_is_sent_with_nothing_lost() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let mut request = request(&server, MODEL, tool_turn("claude-sonnet-4-5-20250929"));
    request.system = "Be kind.".to_owned();
    request.tools = vec![look()];
    request.user = Some("user-1".to_owned());
    request.config.max_reasoning_tokens = 2_048;
    ask(&request, None).await.unwrap();

    let sent = server.only_request();
    assert_eq!(sent.uri, "/v1/messages");
    assert_eq!(sent.header("x-api-key"), common::KEY);
    assert_eq!(sent.header("anthropic-version"), "2023-06-01");
    assert_eq!(
        sent.header("anthropic-beta"),
        "interleaved-thinking-2025-05-14"
    );
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}});
    let cache = json!({"type": "ephemeral"});
    let expected = json!({
        "model": MODEL,
        "max_tokens": 16_384,
        "system": [{"type": "text", "text": "Be kind.", "cache_control": cache}],
        "thinking": {"type": "enabled", "budget_tokens": 2_048},
        "temperature": 1.0,
        "metadata": {"user_id": "user-1"},
        "tools": [{
            "name": "look",
            "description": "Looks.",
            "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}},
            "cache_control": cache,
        }],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What is there?"}, image]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "I must look.", "signature": "sig"},
                {"type": "redacted_thinking", "data": "opaque"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "left"}},
                {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                    {"type": "text", "text": "a tree"}, image,
                ]},
                {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": true, "content": [
                    {"type": "text", "text": "no eyes"},
                ]},
                {
                    "type": "text",
                    "text": "<system-alert>Memory was updated.</system-alert>",
                    "cache_control": cache,
                },
            ]},
        ],
    });
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn what_another_model_signed_is_not_sent_and_ends_reasoning_for_this_request() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let mut request = request(&server, MODEL, tool_turn("claude-opus-4-1"));
    request.tools = vec![look()];
    request.tool_choice = ToolChoice::Required;
    request.parallel_tool_calls = true;
    request.config.temperature = 1.5;
    ask(&request, None).await.unwrap();

    let sent = server.only_request();
    assert_eq!(sent.header("anthropic-beta"), "");
    assert_eq!(sent.body.get("thinking"), None);
    // The vendor's range ends at 1.
    assert_eq!(sent.body["temperature"], 1.0);
    let choice = json!({"type": "any", "disable_parallel_tool_use": false});
    assert_eq!(sent.body["tool_choice"], choice);
    let said = sent.body["messages"][1]["content"].as_array().unwrap();
    let kinds: Vec<_> = said
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["text", "tool_use", "tool_use"]);
}

#[tokio::test]
async fn the_newest_models_reason_as_they_like_and_get_an_effort() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let omitted = ChatMessage::Assistant {
        content: vec![Part::OmittedReasoning {
            signature: Some("sig".to_owned()),
        }],
        tool_calls: Vec::new(),
        model: Some("claude-opus-4-7".to_owned()),
    };
    let messages = vec![user("a"), omitted, user("b")];
    let mut request = request(&server, "claude-opus-4-7", messages);
    request.tools = vec![look()];
    request.tool_choice = ToolChoice::Tool("look".to_owned());
    request.config.effort = Some("max".to_owned());
    request.config.max_tokens = Some(1_000_000);
    ask(&request, None).await.unwrap();

    let body = server.only_request().body;
    assert_eq!(
        body["thinking"],
        json!({"type": "adaptive", "display": "summarized"})
    );
    assert_eq!(body["output_config"], json!({"effort": "max"}));
    assert_eq!(body.get("temperature"), None);
    assert_eq!(body["max_tokens"], 128_000);
    assert_eq!(body["tool_choice"]["type"], "auto");
    let thinking = json!({"type": "thinking", "thinking": "", "signature": "sig"});
    assert_eq!(body["messages"][1]["content"], json!([thinking]));
}

#[tokio::test]
async fn an_answer_that_is_to_be_continued_ends_without_white_space() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let begun = ChatMessage::Assistant {
        content: vec![Part::text("It began \n")],
        tool_calls: Vec::new(),
        model: None,
    };
    let messages = vec![begun.clone(), user("  "), begun];
    ask(&request(&server, "claude-3-5-haiku-latest", messages), None)
        .await
        .unwrap();
    let body = server.only_request().body;
    let said: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (
                &message["role"],
                message["content"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(said, [(&json!("user"), 1), (&json!("assistant"), 2)]);
    assert_eq!(body["messages"][1]["content"][1]["text"], "It began");
    assert_eq!(body["max_tokens"], 8_192);
}

#[tokio::test]
async fn without_tools_those_of_the_history_are_declared_and_barred() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    ask(&request(&server, MODEL, tool_turn(MODEL)), None)
        .await
        .unwrap();
    let body = server.only_request().body;
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["tools"][0]["name"], "look");
}

fn expected_content() -> Vec<Part> {
    vec![
        Part::Reasoning {
            is_native: true,
            reasoning: "I must look.".to_owned(),
            signature: Some("c2ln".to_owned()),
        },
        Part::RedactedReasoning {
            data: "b3BhcXVl".to_owned(),
        },
        Part::text("Ich schaue … 🌳"),
    ]
}

fn expected_usage() -> Usage {
    Usage {
        completion_tokens: 44,
        prompt_tokens: 240,
        total_tokens: 284,
        cached_input_tokens: Some(200),
        cache_write_tokens: Some(30),
        reasoning_tokens: None,
    }
}

#[tokio::test]
async fn a_whole_answer_is_read_with_nothing_lost() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let reply = ask(&request(&server, MODEL, vec![user("Hi")]), None)
        .await
        .unwrap();
    assert_eq!(reply.content, expected_content());
    let mut wait = call("toolu_2", "{}");
    wait.name = "wait".to_owned();
    assert_eq!(
        reply.tool_calls,
        [call("toolu_1", r#"{"at":"left"}"#), wait]
    );
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.usage, expected_usage());
    assert_eq!(reply.model, "claude-sonnet-4-5-20250929");
    assert_eq!(reply.response_json, whole());
    assert_eq!(reply.request_json, server.only_request().body);
    assert_eq!(reply.first_delta, None);
}

#[tokio::test]
async fn a_stream_in_pieces_of_any_size_is_the_same_answer() {
    for size in [1, 3, 7, 64, 100_000] {
        let server = Server::with(vec![Answer::stream(&sse(&events()), size)]).await;
        let request = request(&server, MODEL, vec![user("Hi")]);
        let (reply, deltas) = stream(&request).await;
        let reply = reply.unwrap();
        assert_eq!(server.only_request().body["stream"], true);
        assert_eq!(reply.content, expected_content());
        assert_eq!(reply.usage, expected_usage());
        assert_eq!(reply.finish, Finish::Stop);
        assert_eq!(reply.response_json, whole());
        assert!(reply.first_delta.is_some());
        let arguments: Vec<_> = reply
            .tool_calls
            .iter()
            .map(|call| &call.arguments)
            .collect();
        assert_eq!(arguments, [r#"{"at":"left"}"#, "{}"]);

        let tool = |index, id: &str, name: &str| Delta::ToolCall {
            index,
            id: id.to_owned(),
            name: name.to_owned(),
        };
        let piece = |index, json: &str| Delta::Arguments {
            index,
            json: json.to_owned(),
        };
        let expected = [
            Delta::Reasoning("I must ".to_owned()),
            Delta::Reasoning("look.".to_owned()),
            Delta::Text("Ich schaue ".to_owned()),
            Delta::Text("… 🌳".to_owned()),
            tool(0, "toolu_1", "look"),
            piece(0, r#"{"at":"#),
            piece(0, r#""left"}"#),
            tool(1, "toolu_2", "wait"),
            piece(1, "{}"),
        ];
        assert_eq!(deltas, expected);
    }
}

#[tokio::test]
async fn arguments_that_are_cut_off_come_as_they_are() {
    let mut events = events();
    let cut = events
        .iter()
        .position(|event| event["delta"]["partial_json"] == "\"left\"}");
    events.remove(cut.unwrap());
    let delta = events
        .iter_mut()
        .find(|event| event["type"] == "message_delta");
    delta.unwrap()["delta"]["stop_reason"] = json!("max_tokens");
    let server = Server::with(vec![Answer::stream(&sse(&events), 50)]).await;
    let (reply, _) = stream(&request(&server, MODEL, vec![user("Hi")])).await;
    let reply = reply.unwrap();
    assert_eq!(reply.finish, Finish::Length);
    assert_eq!(reply.tool_calls[0].arguments, r#"{"at":"#);
}

#[tokio::test]
async fn a_stream_that_ends_early_or_reports_an_error_is_a_typed_error() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}});
    let begun = &events()[..5];
    let with_error: Vec<Value> = begun.iter().chain([&error]).cloned().collect();
    for (sent, kind, partial) in [
        (sse(&with_error), ErrorKind::Overloaded, true),
        (sse(&[error]), ErrorKind::Overloaded, false),
        (sse(begun), ErrorKind::InvalidResponse, true),
        (String::new(), ErrorKind::InvalidResponse, false),
        (
            "data: {\"type\":\n\n".to_owned(),
            ErrorKind::InvalidResponse,
            false,
        ),
    ] {
        let server = Server::with(vec![Answer::stream(&sent, 40)]).await;
        let (reply, _) = stream(&request(&server, MODEL, vec![user("Hi")])).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, error.partial), (kind, partial), "{sent}");
        assert!(error.message.starts_with("Anthropic: "), "{error}");
    }
}

#[tokio::test]
async fn a_server_without_streams_may_answer_with_the_message() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let (reply, deltas) = stream(&request(&server, MODEL, vec![user("Hi")])).await;
    let reply = reply.unwrap();
    assert_eq!(reply.content, expected_content());
    assert_eq!(reply.tool_calls[0].arguments, r#"{"at":"left"}"#);
    assert_eq!(deltas[1], Delta::Text("Ich schaue … 🌳".to_owned()));
}

#[tokio::test]
async fn each_refusal_has_its_kind() {
    for (status, name, message, kind) in [
        (
            400,
            "invalid_request_error",
            "prompt is too long: 210000 tokens > 200000 maximum",
            ErrorKind::ContextWindowExceeded,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            ErrorKind::InsufficientCredits,
        ),
        (
            400,
            "invalid_request_error",
            "messages: required",
            ErrorKind::BadRequest,
        ),
        (
            401,
            "authentication_error",
            "invalid x-api-key",
            ErrorKind::Authentication,
        ),
        (402, "billing_error", "Pay.", ErrorKind::InsufficientCredits),
        (403, "permission_error", "No.", ErrorKind::PermissionDenied),
        (
            404,
            "not_found_error",
            "model: claude-9",
            ErrorKind::NotFound,
        ),
        (
            413,
            "request_too_large",
            "Too large",
            ErrorKind::ContextWindowExceeded,
        ),
        (429, "rate_limit_error", "Slow down", ErrorKind::RateLimit),
        (500, "api_error", "Oops", ErrorKind::Server),
        (504, "timeout_error", "Late", ErrorKind::Timeout),
        (529, "overloaded_error", "Overloaded", ErrorKind::Overloaded),
    ] {
        let body = json!({"type": "error", "error": {"type": name, "message": message}});
        // As often as a request is repeated.
        let server = Server::with(vec![Answer::json(status, body.clone()); 3]).await;
        let error = ask(&request(&server, MODEL, vec![user("Hi")]), None)
            .await
            .unwrap_err();
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{body}");
        let expected = format!("Anthropic: Error code: {status} - {body}");
        assert_eq!(error.message, expected);
    }
}

#[tokio::test]
async fn each_end_has_its_meaning() {
    for (reason, finish) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("max_tokens", Finish::Length),
        ("refusal", Finish::Filtered),
        ("pause_turn", Finish::Other("pause_turn".to_owned())),
    ] {
        let mut message = whole();
        message["stop_reason"] = json!(reason);
        let server = Server::with(vec![Answer::json(200, message)]).await;
        let reply = ask(&request(&server, MODEL, vec![user("Hi")]), None).await;
        assert_eq!(reply.unwrap().finish, finish);
    }
}
