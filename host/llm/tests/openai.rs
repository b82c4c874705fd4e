//! OpenAI's chat completions and its relatives, against a server on loopback that speaks them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bulkhead_domain::{ImageSource, LlmConfig, Part, ToolCall, Usage};
use bulkhead_llm::{ChatMessage, ChatRequest, Delta, ErrorKind, Finish, ToolChoice, ToolSpec};
use common::{Answer, KEY, Server, ask, stream, user};
use serde_json::{Value, json};

fn request(server: &Server, endpoint_type: &str, messages: Vec<ChatMessage>) -> ChatRequest {
    let config = LlmConfig::new(endpoint_type, endpoint_type, "gpt-4o", 128_000);
    server.request("OpenAI", config, messages)
}

fn image() -> Part {
    Part::Image {
        source: ImageSource::Base64 {
            media_type: "image/png".to_owned(),
            data: "iVBORw0K".to_owned(),
            detail: Some("low".to_owned()),
        },
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        signature: None,
    }
}

fn result(id: &str, text: &str, images: Vec<Part>) -> ChatMessage {
    ChatMessage::Tool {
        tool_call_id: id.to_owned(),
        name: "look".to_owned(),
        text: text.to_owned(),
        images,
        is_error: false,
    }
}

fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters,
    }
}

fn thought(text: &str) -> Part {
    Part::Reasoning {
        is_native: true,
        reasoning: text.to_owned(),
        signature: None,
    }
}

fn assistant(content: Vec<Part>, tool_calls: Vec<ToolCall>) -> ChatMessage {
    ChatMessage::Assistant {
        content,
        tool_calls,
        model: Some("gpt-4o".to_owned()),
    }
}

fn whole(message: Value, finish: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25,
            "prompt_tokens_details": {"cached_tokens": 16},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    })
}

fn said(text: &str) -> Value {
    whole(json!({"role": "assistant", "content": text}), "stop")
}

/// Chunks as events, and the end.
fn sse(chunks: &[Value]) -> String {
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    events.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    })
}

#[tokio::test]
async fn a_conversation_is_sent_as_openai_documents_it() {
    let server = Server::with(vec![Answer::json(200, said("Done."))]).await;
    let mut request = request(
        &server,
        "openai",
        vec![
            ChatMessage::User(vec![Part::text("One."), Part::text("Two.")]),
            ChatMessage::User(vec![Part::text("See:"), image()]),
            assistant(
                vec![],
                vec![call("a", "look", "{\"at\":1}"), call("b", "look", "{")],
            ),
            result("a", "first", vec![image()]),
            result("b", "second", vec![]),
            ChatMessage::System("It is late.".to_owned()),
            assistant(vec![Part::text("So it is.")], vec![]),
            user("Go on."),
        ],
    );
    let schema = json!({"type": "object", "properties": {"at": {"type": "integer"}}});
    request.tools = vec![tool("look", schema.clone())];
    request.tool_choice = ToolChoice::Tool("look".to_owned());
    request.parallel_tool_calls = true;
    request.user = Some("user-1".to_owned());
    request.config.temperature = 0.5;
    request.config.max_tokens = Some(100);
    request.config.frequency_penalty = Some(0.25);
    request.config.response_format = Some(json!({"type": "json_object"}));
    request.config.return_logprobs = true;
    request.config.top_logprobs = Some(2);
    // Settings of reasoning, which this model would refuse.
    request.config.reasoning_effort = Some("high".to_owned());

    let reply = ask(&request, None).await.unwrap();

    let sent = server.only_request();
    assert_eq!(sent.uri, "/chat/completions");
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(sent.headers["content-type"], "application/json");
    let url = "data:image/png;base64,iVBORw0K";
    let shown = json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}});
    let function = |id: &str, arguments: &str| {
        json!({
            "id": id, "type": "function",
            "function": {"name": "look", "arguments": arguments},
        })
    };
    assert_eq!(
        sent.body,
        json!({
            "model": "gpt-4o",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "One.\n\nTwo."},
                {"role": "user", "content": [{"type": "text", "text": "See:"}, shown]},
                {
                    "role": "assistant", "content": null,
                    "tool_calls": [
                        function("a", "{\"at\":1}"),
                        function("b", "{\"invalid_arguments\":\"{\"}"),
                    ],
                },
                {"role": "tool", "tool_call_id": "a", "content": "first"},
                {"role": "tool", "tool_call_id": "b", "content": "second"},
                {"role": "user", "content": [
                    {"type": "text", "text": "Images that the tool look returned:"}, shown,
                ]},
                {"role": "system", "content": "It is late."},
                {"role": "assistant", "content": "So it is."},
                {"role": "user", "content": "Go on."},
            ],
            "tools": [{
                "type": "function",
                "function": {"name": "look", "description": "Does it.", "parameters": schema},
            }],
            "tool_choice": {"type": "function", "function": {"name": "look"}},
            "parallel_tool_calls": true,
            "user": "user-1",
            "temperature": 0.5,
            "max_completion_tokens": 100,
            "frequency_penalty": 0.25,
            "response_format": {"type": "json_object"},
            "logprobs": true,
            "top_logprobs": 2,
        })
    );
    assert_eq!(reply.request_json, sent.body);
    assert!(!reply.request_json.to_string().contains(KEY));
}

#[tokio::test]
async fn nothing_is_said_of_tools_where_there_are_none() {
    let server = Server::with(vec![Answer::json(200, said("Hi."))]).await;
    let mut request = request(&server, "openai", vec![user("Hi")]);
    request.parallel_tool_calls = true;
    request.tool_choice = ToolChoice::Required;
    request.endpoint.api_key = None;
    ask(&request, None).await.unwrap();
    let sent = server.only_request();
    assert!(!sent.headers.contains_key("authorization"));
    let messages = [
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "Hi"}),
    ];
    assert_eq!(
        sent.body,
        json!({"model": "gpt-4o", "messages": messages, "temperature": 1.0})
    );
}

#[tokio::test]
async fn each_endpoint_gets_only_what_it_takes() {
    let body = |endpoint_type: &'static str| async move {
        let server = Server::with(vec![Answer::json(200, said("Hi."))]).await;
        let history = vec![
            user("Hi"),
            assistant(vec![thought("Hm.")], vec![call("call_abc", "look", "{}")]),
            result("call_abc", "seen", vec![]),
        ];
        let mut request = request(&server, endpoint_type, history);
        request.tools = vec![tool("look", json!({})), tool("other", json!({}))];
        request.tool_choice = ToolChoice::Tool("look".to_owned());
        request.user = Some("user-1".to_owned());
        request.config.max_tokens = Some(7);
        request.config.reasoning_effort = Some("low".to_owned());
        ask(&request, None).await.unwrap();
        server.only_request().body
    };

    let ollama = body("ollama").await;
    assert_eq!(ollama["max_tokens"], 7);
    assert_eq!(ollama["max_completion_tokens"], Value::Null);
    assert_eq!(ollama["messages"][2]["reasoning"], "Hm.");
    assert_eq!(ollama["reasoning_effort"], "low");

    // Only words are taken for `tool_choice`, so that the tool is the only one.
    let lmstudio = body("lmstudio").await;
    assert_eq!(lmstudio["tool_choice"], "required");
    assert_eq!(lmstudio["tools"].as_array().unwrap().len(), 1);

    // Fields that it does not know are refused, and ids that are not its own.
    let mistral = body("mistral").await;
    assert_eq!(mistral["user"], Value::Null);
    let id = mistral["messages"][2]["tool_calls"][0]["id"]
        .as_str()
        .unwrap();
    assert_eq!(id.len(), 9);
    assert_eq!(mistral["messages"][3]["tool_call_id"], id);
    assert_eq!(mistral["messages"][2]["reasoning_content"], Value::Null);

    let groq = body("groq").await;
    assert_eq!(groq["messages"][2]["reasoning"], Value::Null);
    assert_eq!(groq["messages"][2]["reasoning_content"], Value::Null);
}

#[tokio::test]
async fn deepseek_gets_the_reasoning_of_every_call_back() {
    let server = Server::with(vec![Answer::json(200, said("Hi."))]).await;
    let history = vec![
        user("Hi"),
        assistant(vec![thought("Look first.")], vec![call("a", "look", "{}")]),
        result("a", "seen", vec![]),
        assistant(vec![], vec![call("b", "look", "{}")]),
        result("b", "seen", vec![]),
        assistant(vec![thought("Done."), Part::text("There.")], vec![]),
        user("And?"),
    ];
    ask(&request(&server, "deepseek", history), None)
        .await
        .unwrap();
    let messages = server.only_request().body["messages"].clone();
    assert_eq!(messages[2]["reasoning_content"], "Look first.");
    assert_eq!(messages[4]["reasoning_content"], "");
    assert_eq!(messages[6]["reasoning_content"], "Done.");
}

#[tokio::test]
async fn schemas_are_enforced_where_they_can_be() {
    let server = Server::with(vec![Answer::json(200, said("Hi."))]).await;
    let mut request = request(&server, "openai", vec![user("Hi")]);
    let properties = json!({"x": {"type": "string"}});
    let fixed = json!({"type": "object", "properties": properties, "required": ["x"]});
    let optional = json!({"type": "object", "properties": properties});
    request.tools = vec![tool("fixed", fixed), tool("optional", optional.clone())];
    request.config.strict = true;
    ask(&request, None).await.unwrap();
    let tools = server.only_request().body["tools"].clone();
    assert_eq!(tools[0]["function"]["strict"], true);
    let closed = &tools[0]["function"]["parameters"]["additionalProperties"];
    assert_eq!(*closed, false);
    assert_eq!(tools[1]["function"]["strict"], Value::Null);
    assert_eq!(tools[1]["function"]["parameters"], optional);
}

#[tokio::test]
async fn a_whole_answer_is_read_with_all_it_holds() {
    let message = json!({
        "role": "assistant",
        "content": "Let me see.",
        "reasoning_content": "Hm.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}},
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": "no JSON"}},
        ],
    });
    let body = whole(message, "tool_calls");
    let server = Server::with(vec![Answer::json(200, body.clone())]).await;
    let reply = ask(&request(&server, "vllm", vec![user("Hi")]), None)
        .await
        .unwrap();
    assert_eq!(reply.content, [thought("Hm."), Part::text("Let me see.")]);
    assert_eq!(reply.tool_calls[0], call("a", "look", "{\"at\":1}"));
    assert_eq!(reply.tool_calls[1].arguments, "no JSON");
    assert_ne!(reply.tool_calls[1].id, "a");
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.model, "gpt-4o-2024-08-06");
    assert_eq!(
        reply.usage,
        Usage {
            prompt_tokens: 20,
            completion_tokens: 5,
            total_tokens: 25,
            cached_input_tokens: Some(16),
            cache_write_tokens: None,
            reasoning_tokens: Some(3),
        }
    );
    assert_eq!(reply.response_json, body);
    assert_eq!(reply.first_delta, None);
}

#[tokio::test]
async fn a_stream_gives_the_same_however_its_bytes_arrive() {
    let text = "Größe 🦀";
    let mut usage = chunk(&json!({}), None);
    usage["choices"] = json!([]);
    usage["usage"] = said("")["usage"].clone();
    let tool = |delta: Value| chunk(&json!({"tool_calls": [delta]}), None);
    let chunks = [
        chunk(&json!({"role": "assistant", "content": ""}), None),
        chunk(&json!({"reasoning_content": "Hm"}), None),
        chunk(&json!({"reasoning_content": "."}), None),
        chunk(&json!({"content": "\n\n"}), None),
        chunk(&json!({"content": text}), None),
        tool(
            json!({"index": 0, "id": "a", "type": "function", "function": {"name": "look", "arguments": ""}}),
        ),
        tool(json!({"index": 0, "function": {"arguments": "{\"at\""}})),
        tool(
            json!({"index": 1, "id": "b", "type": "function", "function": {"name": "look", "arguments": ""}}),
        ),
        tool(json!({"index": 0, "function": {"arguments": ":1}"}})),
        chunk(&json!({}), Some("tool_calls")),
        usage,
    ];
    let events = sse(&chunks);
    for size in [1, 2, 3, 7, 64, events.len()] {
        let server = Server::with(vec![Answer::stream(&events, size)]).await;
        let (reply, deltas) = stream(&request(&server, "vllm", vec![user("Hi")])).await;
        let reply = reply.unwrap();
        let begun = |index, id: &str| Delta::ToolCall {
            index,
            id: id.to_owned(),
            name: "look".to_owned(),
        };
        let piece = |index, json: &str| Delta::Arguments {
            index,
            json: json.to_owned(),
        };
        assert_eq!(
            deltas,
            [
                Delta::Reasoning("Hm".to_owned()),
                Delta::Reasoning(".".to_owned()),
                Delta::Text(format!("\n\n{text}")),
                begun(0, "a"),
                piece(0, "{\"at\""),
                begun(1, "b"),
                piece(0, ":1}"),
                piece(1, "{}"),
            ]
        );
        let spoken = Part::text(format!("\n\n{text}"));
        assert_eq!(reply.content, [thought("Hm."), spoken]);
        let calls = [call("a", "look", "{\"at\":1}"), call("b", "look", "{}")];
        assert_eq!(reply.tool_calls, calls);
        assert_eq!(reply.usage.cached_input_tokens, Some(16));
        assert_eq!(reply.finish, Finish::Stop);
        assert!(reply.first_delta.is_some());
        let message = &reply.response_json["choices"][0]["message"];
        assert_eq!(
            message["tool_calls"][0]["function"]["arguments"],
            "{\"at\":1}"
        );
        assert_eq!(message["content"], format!("\n\n{text}"));
        assert_eq!(reply.response_json["usage"]["total_tokens"], 25);
        let body = server.only_request().body;
        assert_eq!(body["stream"], true);
        assert_eq!(body["stream_options"], json!({"include_usage": true}));
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let message = json!({
        "role": "assistant", "content": null,
        "tool_calls": [{"function": {"name": "look", "arguments": {"at": 1}}}],
    });
    let server = Server::with(vec![Answer::json(200, whole(message, "stop"))]).await;
    let (reply, deltas) = stream(&request(&server, "ollama", vec![user("Hi")])).await;
    let reply = reply.unwrap();
    assert_eq!(reply.tool_calls[0].arguments, "{\"at\":1}");
    assert!(reply.tool_calls[0].id.starts_with("call_"));
    assert_eq!(deltas.len(), 2);
}

#[tokio::test]
async fn why_an_answer_ended_is_told() {
    for (reason, finish) in [
        ("length", Finish::Length),
        ("content_filter", Finish::Filtered),
        ("stop", Finish::Stop),
        (
            "insufficient_system_resource",
            Finish::Other("insufficient_system_resource".to_owned()),
        ),
    ] {
        let body = whole(json!({"role": "assistant", "content": "x"}), reason);
        let server = Server::with(vec![Answer::json(200, body)]).await;
        let reply = ask(&request(&server, "openai", vec![user("Hi")]), None).await;
        assert_eq!(reply.unwrap().finish, finish);
    }
}

#[tokio::test]
async fn a_refusal_is_text_and_an_empty_message_is_empty() {
    let refusal = json!({"role": "assistant", "content": null, "refusal": "I can't."});
    let empty = json!({"role": "assistant", "content": ""});
    let answers = [refusal, empty].map(|message| Answer::json(200, whole(message, "stop")));
    let server = Server::with(answers.to_vec()).await;
    let request = request(&server, "openai", vec![user("Hi")]);
    let reply = ask(&request, None).await.unwrap();
    assert_eq!(reply.content, [Part::text("I can't.")]);
    let reply = ask(&request, None).await.unwrap();
    assert!(reply.content.is_empty() && reply.tool_calls.is_empty());
}

#[tokio::test]
async fn refusals_are_told_apart_by_status_and_by_code() {
    let error = |code: Value, message: &str| json!({"error": {"message": message, "type": "invalid_request_error", "code": code}});
    let key = format!("Incorrect API key provided: {KEY}");
    let cases = [
        (400, error(Value::Null, "no"), ErrorKind::BadRequest),
        (
            400,
            error(json!("context_length_exceeded"), "…"),
            ErrorKind::ContextWindowExceeded,
        ),
        (
            401,
            error(json!("invalid_api_key"), &key),
            ErrorKind::Authentication,
        ),
        (
            402,
            error(Value::Null, "Insufficient Balance"),
            ErrorKind::InsufficientCredits,
        ),
        (403, error(Value::Null, "no"), ErrorKind::PermissionDenied),
        (
            404,
            error(json!("model_not_found"), "no"),
            ErrorKind::NotFound,
        ),
        (422, error(Value::Null, "no"), ErrorKind::Unprocessable),
        (
            429,
            error(json!("insufficient_quota"), "pay"),
            ErrorKind::InsufficientCredits,
        ),
        (
            429,
            error(json!("rate_limit_exceeded"), "slow"),
            ErrorKind::RateLimit,
        ),
        (500, error(Value::Null, "no"), ErrorKind::Server),
        (529, json!("busy"), ErrorKind::Overloaded),
    ];
    for (status, body, kind) in cases {
        let server = Server::with(vec![Answer::json(status, body.clone()); 6]).await;
        let request = request(&server, "openai", vec![user("Hi")]);
        for streamed in [false, true] {
            let error = if streamed {
                stream(&request).await.0.unwrap_err()
            } else {
                ask(&request, None).await.unwrap_err()
            };
            assert_eq!(error.kind, kind, "{status} {body}");
            assert_eq!(error.status, Some(status));
            assert_eq!(error.provider, "OpenAI");
            assert!(!error.partial);
            let shown = body.to_string().replace(KEY, "[key]");
            assert_eq!(
                error.message,
                format!("OpenAI: Error code: {status} - {shown}")
            );
        }
    }
}

#[tokio::test]
async fn an_error_in_the_place_of_an_answer_is_one() {
    let body = json!({"error": {"message": "Provider returned error", "code": 502}});
    let server = Server::with(vec![
        Answer::json(200, body),
        Answer::json(200, json!({"choices": []})),
        Answer::json(200, json!("hello")),
        Answer::stream("data: [DONE]\n\n", 100),
    ])
    .await;
    let request = request(&server, "openrouter", vec![user("Hi")]);
    let error = ask(&request, None).await.unwrap_err();
    assert_eq!((error.kind, error.status), (ErrorKind::Server, Some(502)));
    let kind = ask(&request, None).await.unwrap_err().kind;
    assert_eq!(kind, ErrorKind::EmptyResponse);
    let kind = ask(&request, None).await.unwrap_err().kind;
    assert_eq!(kind, ErrorKind::InvalidResponse);
    let kind = stream(&request).await.0.unwrap_err().kind;
    assert_eq!(kind, ErrorKind::EmptyResponse);
}

#[tokio::test]
async fn a_stream_that_goes_wrong_says_how_and_that_pieces_had_come() {
    let begun = format!("data: {}\n\n", chunk(&json!({"content": "He"}), None));
    let refusal = json!({"error": {"message": "overloaded", "type": "overloaded_error"}});
    let cases = [
        (format!("{begun}data: {refusal}\n\n"), ErrorKind::Overloaded),
        (begun.clone(), ErrorKind::InvalidResponse),
        (
            format!("{begun}data: {{\"cho\n\n"),
            ErrorKind::InvalidResponse,
        ),
        (
            format!("{begun}data: {{\"choices\": 1}}\n\n"),
            ErrorKind::InvalidResponse,
        ),
    ];
    for (events, kind) in cases {
        let server = Server::with(vec![Answer::stream(&events, 20)]).await;
        let (reply, deltas) = stream(&request(&server, "openai", vec![user("Hi")])).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind, kind, "{events}");
        assert!(error.partial);
        assert_eq!(deltas, [Delta::Text("He".to_owned())]);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn logarithms_of_probabilities_are_collected() {
    let mut chunks = [
        chunk(&json!({"content": "a"}), None),
        chunk(&json!({"content": "b"}), Some("stop")),
    ];
    for (chunk, token) in chunks.iter_mut().zip(["a", "b"]) {
        chunk["choices"][0]["logprobs"] =
            json!({"content": [{"token": token, "logprob": -0.5}], "refusal": null});
    }
    let server = Server::with(vec![Answer::stream(&sse(&chunks), 40)]).await;
    let (reply, _) = stream(&request(&server, "openai", vec![user("Hi")])).await;
    let logprobs = reply.unwrap().logprobs.unwrap();
    assert_eq!(logprobs["content"].as_array().unwrap().len(), 2);
    assert_eq!(logprobs["content"][1]["token"], "b");
}
