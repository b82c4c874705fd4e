//! Agents as clients of OpenAI's API see them.

use serde_json::{Value, json};

use crate::{
    clients::{NOBODY, agent, detail, events, made, read, text},
    support::{Answer, TestServer},
};

const PATH: &str = "/v1/chat/completions";

async fn asked(server: &TestServer, agent: &str, messages: Value) -> Answer {
    let body = json!({ "model": agent, "messages": messages, "stream": true, "temperature": 0.1 });
    server.post(PATH, &body).await
}

/// A message of the user alone.
async fn told(server: &TestServer, agent: &str, content: &str) -> Answer {
    asked(
        server,
        agent,
        json!([{ "role": "user", "content": content }]),
    )
    .await
}

/// What is said in chunks.
fn said(chunks: &[Value]) -> String {
    let pieces = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    pieces.collect()
}

#[tokio::test]
async fn an_agent_answers_in_chunks() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let answer = asked(
        &server,
        &agent,
        json!([
            { "role": "system", "content": "say no" },
            { "role": "user", "content": "say never" },
            { "role": "assistant", "content": "never" },
            { "role": "user", "content": "think hard\nsay one two three" },
        ]),
    )
    .await;
    let events = events(&answer);
    let (done, chunks) = events.split_last().unwrap();
    assert_eq!(done, "[DONE]");
    assert_eq!(said(chunks), "one two three");
    assert!(chunks.len() > 2, "in pieces: {chunks:?}");
    let run = text(&chunks[0]["id"]).strip_prefix("chatcmpl-").unwrap();
    for (at, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!(chunk["model"], "scripted");
        assert_eq!(chunk["id"], chunks[0]["id"]);
        assert!(
            chunk["created"]
                .as_i64()
                .is_some_and(|at| at > 1_700_000_000)
        );
        let choice = &chunk["choices"][0];
        assert_eq!(choice["index"], 0);
        let is_last = at + 1 == chunks.len();
        assert_eq!(
            choice["finish_reason"],
            if is_last { json!("stop") } else { Value::Null }
        );
        let role = choice["delta"].get("role");
        assert_eq!(role, (at == 0).then_some(&json!("assistant")));
        assert_eq!(choice["delta"] == json!({}), is_last);
    }
    let run = read(&server, &format!("/v1/runs/{run}")).await;
    assert_eq!(run["metadata"]["run_type"], "openai_chat_completions");
    assert_eq!(run["status"], "completed");
    let messages = read(&server, &format!("/v1/agents/{agent}/messages")).await;
    let messages = messages.as_array().unwrap();
    let users: Vec<_> = messages
        .iter()
        .filter(|message| message["message_type"] == "user_message")
        .map(|message| text(&message["content"]))
        .collect();
    assert_eq!(users, ["think hard\nsay one two three"]);
}

#[tokio::test]
async fn tools_run_without_a_word_of_them() {
    let server = TestServer::start().await;
    let schema = json!({
        "name": "twice", "description": "Doubles.",
        "parameters": {
            "type": "object", "properties": { "a": { "type": "integer", "description": "it" } },
            "required": ["a"],
        },
    });
    let tool = json!({
        "source_type": "javascript", "source_code": "function twice(a) { return a * 2 }",
        "json_schema": schema,
    });
    made(&server, "/v1/tools/", &tool).await;
    let body = json!({ "include_base_tools": false, "tools": ["twice"] });
    let agent = agent(&server, body).await;
    let answer = told(
        &server,
        &agent,
        "call twice with {\"a\": 21}\nthen\nsay It is done.",
    )
    .await;
    let chunks = events(&answer);
    assert_eq!(said(&chunks), "It is done.");
    assert!(!answer.text.contains("twice"), "{}", answer.text);
    let messages = read(&server, &format!("/v1/agents/{agent}/messages")).await;
    assert!(messages.to_string().contains("42"), "{messages}");
}

#[tokio::test]
async fn parts_of_a_content_are_texts_and_images() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let image = json!({ "url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low" });
    let content = json!([
        { "type": "text", "text": "say seen" },
        { "type": "image_url", "image_url": image },
    ]);
    let answer = asked(
        &server,
        &agent,
        json!([{ "role": "user", "content": content }]),
    )
    .await;
    assert_eq!(said(&events(&answer)), "seen");
    let messages = read(&server, &format!("/v1/agents/{agent}/messages")).await;
    let sent = messages.as_array().unwrap().iter();
    let sent = sent
        .clone()
        .find(|message| message["message_type"] == "user_message")
        .unwrap();
    assert_eq!(sent["content"][0]["text"], "say seen");
    assert_eq!(sent["content"][1]["source"]["data"], "iVBORw0KGgo=");
}

#[tokio::test]
async fn a_run_that_fails_says_so_in_the_stream() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let events = events(&told(&server, &agent, "fail rate_limit").await);
    let error = events
        .iter()
        .find(|event| event["error"].is_object())
        .unwrap();
    assert_eq!(error["error"]["type"], "llm_rate_limit");
    assert!(
        text(&error["error"]["message"]).starts_with("Rate limit exceeded"),
        "{error}"
    );
    assert_eq!(said(&events), "");
    let after = told(&server, &agent, "say well").await;
    assert_eq!(said(&self::events(&after)), "well");
}

#[tokio::test]
async fn what_can_not_be_answered_is_refused_before_the_stream() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let user = json!([{ "role": "user", "content": "x" }]);
    for (body, status, expected) in [
        (
            json!({ "model": agent, "messages": user }),
            400,
            "INVALID_ARGUMENT: Non-streaming chat completions not yet implemented. Please set \
             stream=true.",
        ),
        (
            json!({ "model": "gpt-4", "messages": user, "stream": true }),
            400,
            "INVALID_ARGUMENT: For this endpoint, the 'model' field should contain an agent ID \
             (format: 'agent-...'). Received: 'gpt-4'",
        ),
        (
            json!({ "model": agent, "messages": [{ "role": "system", "content": "x" }], "stream": true }),
            400,
            "INVALID_ARGUMENT: No user message found in the request. Please include at least one \
             message with role='user'.",
        ),
        (
            json!({ "model": format!("agent-{NOBODY}"), "messages": user, "stream": true }),
            404,
            "Agent with ID agent-00000000-0000-4000-8000-000000000000 not found",
        ),
        (
            json!({ "model": agent, "stream": true, "messages": [
                { "role": "user", "content": [{ "type": "input_audio", "input_audio": {} }] },
            ] }),
            400,
            "INVALID_ARGUMENT: an agent takes content parts of the types text and image_url, not \
             'input_audio'",
        ),
        (
            json!({ "model": agent, "messages": "x", "stream": true }),
            422,
            "[{'type': 'list_type', 'loc': ('body', 'messages'), 'msg': 'Input should be a valid \
             list', 'input': 'x'}]",
        ),
    ] {
        let refused = server.post(PATH, &body).await;
        assert_eq!(detail(&refused), (status, expected), "{body}");
    }
    assert_eq!(
        read(&server, &format!("/v1/runs/?agent_id={agent}")).await,
        json!([])
    );
}

#[tokio::test]
async fn the_route_for_speech_is_gone() {
    let server = TestServer::start().await;
    let voice = format!("/v1/voice-beta/agent-{NOBODY}/chat/completions");
    for path in [voice.clone(), format!("{voice}/")] {
        let gone = server.post(&path, &json!({ "anything": true })).await;
        let expected = "The /voice-beta endpoint has been deprecated and is no longer available.";
        assert_eq!(detail(&gone), (410, expected), "{path}");
    }
}

#[tokio::test]
async fn what_an_agent_says_by_its_tool_is_said() {
    let server = crate::messages::memory::with_tools().await;
    let body = json!({ "include_base_tools": false, "tools": ["send_message"] });
    let agent = agent(&server, body).await;
    let input = "call send_message with {\"message\": \"Hi there.\"}\nthen\nsay Done.";
    let events = events(&told(&server, &agent, input).await);
    let (_, chunks) = events.split_last().unwrap();
    assert!(said(chunks).starts_with("Hi there."), "{chunks:?}");
}
