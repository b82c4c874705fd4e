//! Gemini's wire format, against a server on loopback that speaks it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bulkhead_domain::{EmbeddingConfig, ImageSource, LlmConfig, Part, ToolCall, Usage};
use bulkhead_llm::{
    ChatMessage, ChatRequest, Client, Delta, ErrorKind, Finish, ToolChoice, ToolSpec,
};
use common::{Answer, Server, ask, stream, user};
use serde_json::{Value, json};

const MODEL: &str = "gemini-2.5-flash";

fn request(server: &Server, model: &str, messages: Vec<ChatMessage>) -> ChatRequest {
    let config = LlmConfig::new("google_ai", "google_ai", model, 1_000_000);
    server.request("Google AI", config, messages)
}

fn image(url: &str) -> Part {
    Part::Image {
        source: ImageSource::Url {
            url: url.to_owned(),
        },
    }
}

fn call(id: &str, arguments: &str, signature: Option<&str>) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "look".to_owned(),
        arguments: arguments.to_owned(),
        signature: signature.map(str::to_owned),
    }
}

fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "Does something.".to_owned(),
        parameters,
    }
}

/// A person asks, the model of this name thinks and calls twice, both tools answer, a notice comes.
fn tool_turn(model: &str) -> Vec<ChatMessage> {
    let signature = Some("sig-text".to_owned());
    let result = |id: &str, text: &str, images: Vec<Part>, is_error| ChatMessage::Tool {
        tool_call_id: id.to_owned(),
        name: "look".to_owned(),
        text: text.to_owned(),
        images,
        is_error,
    };
    vec![
        ChatMessage::User(vec![
            Part::text("What is there?"),
            image("data:image/png;base64,iVBORw0K"),
            image("https://example.com/a.JPG?x=1"),
        ]),
        ChatMessage::Assistant {
            content: vec![
                Part::Reasoning {
                    is_native: true,
                    reasoning: "A summary for people.".to_owned(),
                    signature: None,
                },
                Part::Text {
                    text: "Looking.".to_owned(),
                    signature,
                },
            ],
            tool_calls: vec![
                call("id-1", r#"{"at":"left"}"#, Some("sig-call")),
                call("call_made-here", "no JSON", None),
            ],
            model: Some(model.to_owned()),
        },
        result("call_made-here", "no eyes", Vec::new(), true),
        result(
            "id-1",
            r#"{"status":"OK","message":"a tree"}"#,
            vec![image("data:image/png;base64,AAAA")],
            false,
        ),
        ChatMessage::System("Memory was updated.".to_owned()),
    ]
}

fn whole() -> Value {
    json!({
        "candidates": [{
            "index": 0,
            "content": {"role": "model", "parts": [
                {"text": "I must look.", "thought": true},
                {"text": "Ich schaue … 🌳", "thoughtSignature": "sig-text"},
                {
                    "functionCall": {"id": "id-1", "name": "look", "args": {"at": "left"}},
                    "thoughtSignature": "sig-call",
                },
                {"functionCall": {"name": "wait"}},
            ]},
            "finishReason": "STOP",
        }],
        "usageMetadata": {
            "promptTokenCount": 240,
            "cachedContentTokenCount": 200,
            "candidatesTokenCount": 40,
            "thoughtsTokenCount": 4,
            "totalTokenCount": 284,
        },
        "modelVersion": "gemini-2.5-flash-preview-09-2025",
        "responseId": "r-1",
    })
}

/// The same answer as events.
fn events() -> Vec<Value> {
    let event = |parts: Value| {
        json!({
            "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}],
            "usageMetadata": {"promptTokenCount": 240, "cachedContentTokenCount": 200},
            "modelVersion": "gemini-2.5-flash-preview-09-2025",
            "responseId": "r-1",
        })
    };
    let parts = &whole()["candidates"][0]["content"]["parts"];
    let mut last = event(json!([parts[3]]));
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"] = whole()["usageMetadata"].clone();
    vec![
        event(json!([{"text": "I must ", "thought": true}])),
        event(json!([{"text": "look.", "thought": true}, {"text": "Ich schaue "}])),
        event(json!([{"text": "… 🌳"}])),
        event(json!([{"text": "", "thoughtSignature": "sig-text"}])),
        event(json!([parts[2]])),
        last,
    ]
}

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("data: {event}\r\n\r\n"))
        .collect()
}

#[tokio::test]
async fn a_conversation_is_sent_with_nothing_lost() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let model = "gemini-2.5-flash-preview-09-2025";
    let mut request = request(&server, MODEL, tool_turn(model));
    request.system = "Be kind.".to_owned();
    request.config.max_tokens = Some(4_096);
    request.config.max_reasoning_tokens = 1_024;
    let at = json!({"type": "object", "properties": {"at": {"type": "string", "title": "At"}}});
    let nothing = json!({"type": "object", "properties": {}});
    request.tools = vec![tool("look", at), tool("wait", nothing)];
    ask(&request, None).await.unwrap();

    let sent = server.only_request();
    assert_eq!(sent.uri, "/v1beta/models/gemini-2.5-flash:generateContent");
    assert_eq!(sent.header("x-goog-api-key"), common::KEY);
    let inline = |data: &str| json!({"inlineData": {"mimeType": "image/png", "data": data}});
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [
                {"text": "What is there?"},
                inline("iVBORw0K"),
                {"fileData": {
                    "mimeType": "image/jpeg",
                    "fileUri": "https://example.com/a.JPG?x=1",
                }},
            ]},
            {"role": "model", "parts": [
                {"text": "Looking.", "thoughtSignature": "sig-text"},
                {
                    "functionCall": {"id": "id-1", "name": "look", "args": {"at": "left"}},
                    "thoughtSignature": "sig-call",
                },
                {"functionCall": {"name": "look", "args": {}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {
                    "id": "id-1",
                    "name": "look",
                    "response": {"output": {"status": "OK", "message": "a tree"}},
                }},
                {"functionResponse": {"name": "look", "response": {"error": "no eyes"}}},
                inline("AAAA"),
            ]},
            {"role": "user", "parts": [
                {"text": "<system-alert>Memory was updated.</system-alert>"},
            ]},
        ],
        "tools": [{"functionDeclarations": [
            {
                "name": "look",
                "description": "Does something.",
                "parametersJsonSchema": {
                    "type": "object",
                    "properties": {"at": {"type": "string"}},
                },
            },
            {"name": "wait", "description": "Does something."},
        ]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {
            "temperature": 1.0,
            "maxOutputTokens": 4_096,
            "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 1_024},
        },
    });
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn calls_that_another_model_made_go_without_its_signatures() {
    for (model, signature) in [
        (MODEL, None),
        (
            "gemini-3-pro-preview",
            Some("skip_thought_signature_validator"),
        ),
    ] {
        let server = Server::with(vec![Answer::json(200, whole())]).await;
        ask(&request(&server, model, tool_turn("claude-opus-4-1")), None)
            .await
            .unwrap();
        let body = server.only_request().body;
        let parts = &body["contents"][1]["parts"];
        assert_eq!(parts[0], json!({"text": "Looking."}));
        assert_eq!(parts[1]["thoughtSignature"].as_str(), signature);
        assert_eq!(parts[2].get("thoughtSignature"), None);
    }
}

#[tokio::test]
async fn calls_can_be_demanded_and_answers_held_to_a_schema() {
    let any = json!({"mode": "ANY"});
    let one = json!({"mode": "ANY", "allowedFunctionNames": ["look"]});
    for (choice, expected) in [
        (ToolChoice::Required, any),
        (ToolChoice::Tool("look".to_owned()), one),
    ] {
        let server = Server::with(vec![Answer::json(200, whole()); 2]).await;
        let mut request = request(&server, MODEL, vec![user("Hi")]);
        request.config.response_format = Some(json!({
            "type": "json_schema",
            "json_schema": {"name": "x", "schema": {"type": "object", "title": "X"}},
        }));
        ask(&request, None).await.unwrap();
        request.tools = vec![tool("look", json!({}))];
        request.tool_choice = choice;
        ask(&request, None).await.unwrap();

        let sent = server.requests();
        let generation = &sent[0].body["generationConfig"];
        assert_eq!(generation["responseMimeType"], "application/json");
        assert_eq!(generation["responseJsonSchema"], json!({"type": "object"}));
        assert_eq!(
            sent[1].body["toolConfig"]["functionCallingConfig"],
            expected
        );
        // Models of this generation can't be held to both.
        assert_eq!(
            sent[1].body["generationConfig"].get("responseMimeType"),
            None
        );
    }
}

fn expected_content() -> Vec<Part> {
    vec![
        Part::Reasoning {
            is_native: true,
            reasoning: "I must look.".to_owned(),
            signature: None,
        },
        Part::Text {
            text: "Ich schaue … 🌳".to_owned(),
            signature: Some("sig-text".to_owned()),
        },
    ]
}

fn expected_usage() -> Usage {
    Usage {
        completion_tokens: 44,
        prompt_tokens: 240,
        total_tokens: 284,
        cached_input_tokens: Some(200),
        cache_write_tokens: None,
        reasoning_tokens: Some(4),
    }
}

#[tokio::test]
async fn a_whole_answer_is_read_with_nothing_lost() {
    let server = Server::with(vec![Answer::json(200, whole())]).await;
    let reply = ask(&request(&server, MODEL, vec![user("Hi")]), None)
        .await
        .unwrap();
    assert_eq!(reply.content, expected_content());
    assert_eq!(
        reply.tool_calls[0],
        call("id-1", r#"{"at":"left"}"#, Some("sig-call"))
    );
    let wait = &reply.tool_calls[1];
    assert!(wait.id.starts_with("call_"));
    assert_eq!(
        (wait.name.as_str(), wait.arguments.as_str()),
        ("wait", "{}")
    );
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.usage, expected_usage());
    assert_eq!(reply.model, "gemini-2.5-flash-preview-09-2025");
    assert_eq!(reply.response_json, whole());
    assert_eq!(reply.request_json, server.only_request().body);
}

#[tokio::test]
async fn a_stream_in_pieces_of_any_size_is_the_same_answer() {
    for size in [1, 3, 7, 64, 100_000] {
        let server = Server::with(vec![Answer::stream(&sse(&events()), size)]).await;
        let (reply, deltas) = stream(&request(&server, MODEL, vec![user("Hi")])).await;
        let reply = reply.unwrap();
        assert_eq!(
            server.only_request().uri,
            "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
        );
        assert_eq!(reply.content, expected_content());
        assert_eq!(reply.usage, expected_usage());
        assert_eq!(reply.finish, Finish::Stop);
        assert_eq!(reply.response_json, whole());
        assert!(reply.first_delta.is_some());
        assert_eq!(
            reply.tool_calls[0],
            call("id-1", r#"{"at":"left"}"#, Some("sig-call"))
        );

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
            tool(0, "id-1", "look"),
            piece(0, r#"{"at":"left"}"#),
            tool(1, &reply.tool_calls[1].id, "wait"),
            piece(1, "{}"),
        ];
        assert_eq!(deltas, expected);
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_or_reports_an_error_is_a_typed_error() {
    let error = json!({"error": {"code": 503, "status": "UNAVAILABLE",
        "message": "The model is overloaded."}});
    let begun = &events()[..3];
    let with_error: Vec<Value> = begun.iter().chain([&error]).cloned().collect();
    let listed = sse(&[json!([error])]);
    for (sent, kind, status, partial) in [
        (sse(&with_error), ErrorKind::Overloaded, Some(503), true),
        (listed, ErrorKind::Overloaded, Some(503), false),
        (sse(begun), ErrorKind::InvalidResponse, None, true),
        (String::new(), ErrorKind::InvalidResponse, None, false),
        (
            "data: {\n\n".to_owned(),
            ErrorKind::InvalidResponse,
            None,
            false,
        ),
    ] {
        let server = Server::with(vec![Answer::stream(&sent, 40)]).await;
        let (reply, _) = stream(&request(&server, MODEL, vec![user("Hi")])).await;
        let error = reply.unwrap_err();
        assert_eq!(
            (error.kind, error.status, error.partial),
            (kind, status, partial),
            "{sent}"
        );
        assert!(error.message.starts_with("Google AI: "), "{error}");
    }
}

#[tokio::test]
async fn each_refusal_has_its_kind() {
    for (code, status, message, kind) in [
        (
            400,
            "INVALID_ARGUMENT",
            "Bad schema.",
            ErrorKind::BadRequest,
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            ErrorKind::Authentication,
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ErrorKind::ContextWindowExceeded,
        ),
        (401, "UNAUTHENTICATED", "No.", ErrorKind::Authentication),
        (403, "PERMISSION_DENIED", "No.", ErrorKind::PermissionDenied),
        (
            404,
            "NOT_FOUND",
            "models/x is not found",
            ErrorKind::NotFound,
        ),
        (
            429,
            "RESOURCE_EXHAUSTED",
            "Quota exceeded",
            ErrorKind::RateLimit,
        ),
        (500, "INTERNAL", "Oops", ErrorKind::Server),
        (
            503,
            "UNAVAILABLE",
            "The model is overloaded.",
            ErrorKind::Overloaded,
        ),
        (504, "DEADLINE_EXCEEDED", "Late", ErrorKind::Timeout),
    ] {
        let body = json!({"error": {"code": code, "status": status, "message": message}});
        // As often as a request is repeated.
        let server = Server::with(vec![Answer::json(code, body.clone()); 3]).await;
        let error = ask(&request(&server, MODEL, vec![user("Hi")]), None)
            .await
            .unwrap_err();
        assert_eq!((error.kind, error.status), (kind, Some(code)), "{body}");
    }
}

#[tokio::test]
async fn each_end_has_its_meaning() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "g"});
    let ended = |reason: &str| {
        let content = json!({"parts": [{"text": "Well"}]});
        json!({"candidates": [{"content": content, "finishReason": reason}]})
    };
    for (answer, finish) in [
        (ended("STOP"), Finish::Stop),
        (ended("MAX_TOKENS"), Finish::Length),
        (ended("SAFETY"), Finish::Filtered),
        (ended("OTHER"), Finish::Other("OTHER".to_owned())),
        (blocked, Finish::Filtered),
    ] {
        let server = Server::with(vec![Answer::json(200, answer)]).await;
        let reply = ask(&request(&server, MODEL, vec![user("Hi")]), None).await;
        assert_eq!(reply.unwrap().finish, finish);
    }
}

#[tokio::test]
async fn an_answer_that_holds_nothing_says_why() {
    let malformed = json!({"candidates": [{
        "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: look(at=",
    }]});
    for (answer, said) in [
        (
            malformed,
            "MALFORMED_FUNCTION_CALL Malformed function call: look(at=",
        ),
        (json!({}), "no candidate"),
    ] {
        let server = Server::with(vec![Answer::json(200, answer)]).await;
        let error = ask(&request(&server, MODEL, vec![user("Hi")]), None)
            .await
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidResponse);
        assert!(error.message.contains(said), "{error}");
    }
}

#[tokio::test]
async fn texts_become_vectors_of_length_one_in_batches() {
    let vector = |values: [f64; 2]| json!({"values": values});
    let server = Server::with(vec![
        Answer::json(
            200,
            json!({"embeddings": [vector([3.0, 4.0]), vector([0.0, 0.0])]}),
        ),
        Answer::json(200, json!({"embeddings": [vector([0.0, 2.0])]})),
        Answer::json(200, json!({"embeddings": []})),
    ])
    .await;
    let config: EmbeddingConfig = serde_json::from_value(json!({
        "embedding_endpoint_type": "google_ai",
        "embedding_model": "gemini-embedding-001",
        "embedding_dim": 2,
        "batch_size": 2,
    }))
    .unwrap();
    let endpoint = server.endpoint("Google AI");
    let client = Client::new(common::settings()).unwrap();
    let texts = ["a", "b", "c"].map(str::to_owned);
    let vectors = client.embed(&config, &endpoint, &texts).await.unwrap();
    assert_eq!(vectors, [vec![0.6, 0.8], vec![0.0, 0.0], vec![0.0, 1.0]]);

    let sent = server.requests();
    assert_eq!(
        sent[0].uri,
        "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    );
    let question = |text: &str| {
        json!({
            "model": "models/gemini-embedding-001",
            "content": {"parts": [{"text": text}]},
            "outputDimensionality": 2,
        })
    };
    assert_eq!(
        sent[0].body,
        json!({"requests": [question("a"), question("b")]})
    );
    assert_eq!(sent[1].body, json!({"requests": [question("c")]}));

    let error = client
        .embed(&config, &endpoint, &texts[..1])
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidResponse);
}
