//! OpenAI's Responses API, against a server on loopback that speaks it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bulkhead_domain::{ImageSource, LlmConfig, Part, ToolCall, message::SummaryPart};
use bulkhead_llm::{ChatMessage, ChatRequest, Delta, ErrorKind, Finish, ToolChoice, ToolSpec};
use common::{Answer, Server, ask, stream, user};
use serde_json::{Value, json};

fn request(server: &Server, messages: Vec<ChatMessage>) -> ChatRequest {
    let config = LlmConfig::new("openai", "openai", "o4-mini", 200_000);
    server.request("OpenAI", config, messages)
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "look".to_owned(),
        arguments: "{\"at\":1}".to_owned(),
        signature: None,
    }
}

fn thought(id: &str, encrypted: Option<&str>) -> Part {
    let summary = ["First.", "Second."].into_iter().zip(0..);
    Part::SummarizedReasoning {
        id: id.to_owned(),
        summary: summary
            .map(|(text, index)| SummaryPart {
                index,
                text: text.to_owned(),
            })
            .collect(),
        encrypted_content: encrypted.map(str::to_owned),
    }
}

fn look() -> ToolSpec {
    ToolSpec {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        parameters: json!({"type": "object", "properties": {"at": {"type": "integer"}}}),
    }
}

fn reasoning_item(id: &str) -> Value {
    json!({
        "type": "reasoning",
        "id": id,
        "summary": [
            {"type": "summary_text", "text": "First."},
            {"type": "summary_text", "text": "Second."},
        ],
        "encrypted_content": "opaque",
    })
}

fn call_item(call_id: &str) -> Value {
    json!({
        "type": "function_call", "id": "fc_1", "call_id": call_id,
        "name": "look", "arguments": "{\"at\":1}", "status": "completed",
    })
}

fn message_item(text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [part]})
}

fn whole(output: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "status": "completed", "model": "o4-mini-2025-04-16",
        "output": output,
        "error": null,
        "usage": {
            "input_tokens": 40, "input_tokens_details": {"cached_tokens": 32},
            "output_tokens": 12, "output_tokens_details": {"reasoning_tokens": 8},
            "total_tokens": 52,
        },
    })
}

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| {
            format!(
                "event: {}\ndata: {event}\n\n",
                event["type"].as_str().unwrap()
            )
        })
        .collect()
}

#[tokio::test]
async fn a_conversation_is_sent_as_items_with_its_reasoning() {
    let server = Server::with(vec![Answer::json(200, whole(json!([message_item("Hi.")])))]).await;
    let assistant = |content, tool_calls, model: &str| ChatMessage::Assistant {
        content,
        tool_calls,
        model: Some(model.to_owned()),
    };
    let image = Part::Image {
        source: ImageSource::Url {
            url: "https://example.com/x.png".to_owned(),
        },
    };
    let mut request = request(
        &server,
        vec![
            ChatMessage::User(vec![Part::text("One."), Part::text("Two.")]),
            assistant(
                vec![thought("rs_0", Some("other's"))],
                vec![call("z")],
                "o3",
            ),
            assistant(
                vec![thought("rs_1", Some("opaque"))],
                vec![call("a"), call("b")],
                "o4-mini-2025-04-16",
            ),
            ChatMessage::Tool {
                tool_call_id: "a".to_owned(),
                name: "look".to_owned(),
                text: "seen".to_owned(),
                images: vec![image.clone()],
                is_error: false,
            },
            // Reasoning that led to nothing, and that was never given.
            assistant(vec![thought("rs_2", Some("opaque"))], vec![], "o4-mini"),
            assistant(
                vec![thought("rs_3", None), Part::text("Done.")],
                vec![],
                "o4-mini",
            ),
            ChatMessage::System("It is late.".to_owned()),
            ChatMessage::User(vec![Part::text("See:"), image]),
        ],
    );
    request.tools = vec![look()];
    request.tool_choice = ToolChoice::Tool("look".to_owned());
    request.parallel_tool_calls = true;
    request.user = Some("user-1".to_owned());
    request.config.max_tokens = Some(100);
    request.config.reasoning_effort = Some("low".to_owned());
    request.config.verbosity = Some("low".to_owned());
    let schema = json!({"name": "x", "schema": {"type": "object"}});
    request.config.response_format = Some(json!({"type": "json_schema", "json_schema": schema}));

    ask(&request, None).await.unwrap();

    let sent = server.only_request();
    assert_eq!(sent.uri, "/responses");
    let call = |id: &str| {
        json!({
            "type": "function_call", "call_id": id,
            "name": "look", "arguments": "{\"at\":1}",
        })
    };
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let unknown = "No result of this call was recorded.";
    let shown = json!({
        "type": "input_image", "image_url": "https://example.com/x.png", "detail": "auto",
    });
    assert_eq!(
        sent.body,
        json!({
            "model": "o4-mini",
            "input": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": "One.\n\nTwo."},
                call("z"),
                output("z", unknown),
                reasoning_item("rs_1"),
                call("a"),
                call("b"),
                output("a", "seen"),
                output("b", unknown),
                {"role": "user", "content": [
                    {"type": "input_text", "text": "Images that the tool look returned:"}, shown,
                ]},
                {"role": "assistant", "content": "Done."},
                {"role": "developer", "content": "It is late."},
                {"role": "user", "content": [{"type": "input_text", "text": "See:"}, shown]},
            ],
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "low", "summary": "auto"},
            "max_output_tokens": 100,
            "text": {
                "format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}},
                "verbosity": "low",
            },
            "user": "user-1",
            "tools": [{
                "type": "function", "name": "look", "description": "Looks.", "strict": false,
                "parameters": {"type": "object", "properties": {"at": {"type": "integer"}}},
            }],
            "tool_choice": {"type": "function", "name": "look"},
            "parallel_tool_calls": true,
        })
    );
}

#[tokio::test]
async fn other_models_and_other_endpoints_are_asked_for_chat_completions() {
    let chat = json!({"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]});
    for (endpoint_type, model) in [("openai", "gpt-4o"), ("ollama", "o3"), ("groq", "gpt-5")] {
        let server = Server::with(vec![Answer::json(200, chat.clone())]).await;
        let mut request = request(&server, vec![user("Hi")]);
        request.config = LlmConfig::new(endpoint_type, endpoint_type, model, 128_000);
        ask(&request, None).await.unwrap();
        assert_eq!(server.only_request().uri, "/chat/completions", "{model}");
    }
}

#[tokio::test]
async fn a_whole_answer_is_read_with_all_it_holds() {
    let output = json!([
        reasoning_item("rs_1"),
        message_item("Let me look."),
        call_item("a"),
        call_item("a"),
        {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]},
    ]);
    let server = Server::with(vec![Answer::json(200, whole(output.clone()))]).await;
    let reply = ask(&request(&server, vec![user("Hi")]), None)
        .await
        .unwrap();
    assert_eq!(
        reply.content,
        [
            thought("rs_1", Some("opaque")),
            Part::text("Let me look."),
            Part::text("No."),
        ]
    );
    assert_eq!(reply.tool_calls[0], call("a"));
    assert_ne!(reply.tool_calls[1].id, "a");
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.model, "o4-mini-2025-04-16");
    assert_eq!(reply.usage.cached_input_tokens, Some(32));
    assert_eq!(reply.usage.reasoning_tokens, Some(8));
    assert_eq!(reply.usage.total_tokens, 52);
    assert_eq!(reply.response_json, whole(output));
}

#[tokio::test]
async fn a_stream_gives_the_same_however_its_bytes_arrive() {
    let added = |at: u64, item: Value| json!({"type": "response.output_item.added", "output_index": at, "item": item});
    let done = |at: u64, item: Value| json!({"type": "response.output_item.done", "output_index": at, "item": item});
    let summary = |part: u64, text: &str| json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": part, "delta": text});
    let text = |delta: &str| json!({"type": "response.output_text.delta", "output_index": 1, "delta": delta});
    let arguments = |at: u64, delta: &str| json!({"type": "response.function_call_arguments.delta", "output_index": at, "delta": delta});
    let output = json!([
        reasoning_item("rs_1"),
        message_item("Größe 🦀"),
        call_item("a"),
        call_item("b"),
    ]);
    let mut pending = call_item("a");
    pending["arguments"] = json!("");
    let events = sse(&[
        json!({"type": "response.created", "response": {"status": "in_progress"}}),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        summary(0, "Fir"),
        summary(0, "st."),
        summary(1, "Second."),
        done(0, reasoning_item("rs_1")),
        added(1, json!({"type": "message", "content": []})),
        text("Größe "),
        text("🦀"),
        done(1, message_item("Größe 🦀")),
        added(2, pending),
        arguments(2, "{\"at\""),
        arguments(2, ":1}"),
        done(2, call_item("a")),
        // This one came whole.
        done(3, call_item("b")),
        json!({"type": "response.completed", "response": whole(output.clone())}),
    ]);
    let begun = |index, id: &str| Delta::ToolCall {
        index,
        id: id.to_owned(),
        name: "look".to_owned(),
    };
    let piece = |index, json: &str| Delta::Arguments {
        index,
        json: json.to_owned(),
    };
    let reasoning = |text: &str| Delta::Reasoning(text.to_owned());
    for size in [1, 5, 97, events.len()] {
        let server = Server::with(vec![Answer::stream(&events, size)]).await;
        let (reply, deltas) = stream(&request(&server, vec![user("Hi")])).await;
        let reply = reply.unwrap();
        assert_eq!(
            deltas,
            [
                reasoning("Fir"),
                reasoning("st."),
                reasoning("\n\n"),
                reasoning("Second."),
                Delta::Text("Größe ".to_owned()),
                Delta::Text("🦀".to_owned()),
                begun(0, "a"),
                piece(0, "{\"at\""),
                piece(0, ":1}"),
                begun(1, "b"),
                piece(1, "{\"at\":1}"),
            ]
        );
        let spoken = Part::text("Größe 🦀");
        assert_eq!(reply.content, [thought("rs_1", Some("opaque")), spoken]);
        assert_eq!(reply.tool_calls, [call("a"), call("b")]);
        assert_eq!(reply.response_json, whole(output.clone()));
        assert!(reply.first_delta.is_some());
        assert_eq!(server.only_request().body["stream"], true);
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_says_why() {
    for (reason, finish) in [
        ("max_output_tokens", Finish::Length),
        ("content_filter", Finish::Filtered),
    ] {
        let mut cut = whole(json!([message_item("So")]));
        cut["status"] = json!("incomplete");
        cut["incomplete_details"] = json!({"reason": reason});
        let events = sse(&[json!({"type": "response.incomplete", "response": cut})]);
        let answers = vec![Answer::json(200, cut), Answer::stream(&events, 30)];
        let server = Server::with(answers).await;
        let request = request(&server, vec![user("Hi")]);
        assert_eq!(ask(&request, None).await.unwrap().finish, finish);
        let (reply, _) = stream(&request).await;
        assert_eq!(reply.unwrap().finish, finish);
    }
}

#[tokio::test]
async fn a_stream_that_goes_wrong_says_how() {
    let begun = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "He"});
    let failed = |code: &str| json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": "no"}}});
    let error = json!({"type": "error", "code": "context_length_exceeded", "message": "no"});
    let lost =
        json!({"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{"});
    let cases = [
        (
            vec![begun.clone(), failed("server_error")],
            ErrorKind::Server,
            true,
        ),
        (
            vec![failed("rate_limit_exceeded")],
            ErrorKind::RateLimit,
            false,
        ),
        (vec![error], ErrorKind::ContextWindowExceeded, false),
        (vec![begun], ErrorKind::InvalidResponse, true),
        (vec![lost], ErrorKind::InvalidResponse, false),
    ];
    for (events, kind, partial) in cases {
        let server = Server::with(vec![Answer::stream(&sse(&events), 40)]).await;
        let (reply, _) = stream(&request(&server, vec![user("Hi")])).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, error.partial), (kind, partial), "{error}");
    }
}
