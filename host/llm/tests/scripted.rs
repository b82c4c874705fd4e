//! The offline model through the doors that a server uses: its handle and the client.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bulkhead_domain::Part;
use bulkhead_llm::{
    ChatMessage, ChatRequest, Client, Delta, ErrorKind, ToolChoice, catalog::Catalog, scripted,
};
use serde_json::{Value, json};

async fn request(text: &str) -> ChatRequest {
    let client = Client::new(common::settings()).unwrap();
    let catalog = Catalog::from_env(|_| None, &client).unwrap();
    let resolved = catalog.resolve(scripted::HANDLE, &[]).await.unwrap();
    ChatRequest {
        config: resolved.config,
        endpoint: resolved.endpoint,
        system: "Be brief.".to_owned(),
        messages: vec![ChatMessage::User(vec![Part::text(text)])],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: false,
        user: None,
        script: None,
    }
}

#[tokio::test]
async fn a_streamed_answer_is_the_sum_of_its_pieces() {
    let request = request("think hm hm\nsay Good day.\ncall roll with {\"sides\": 6}").await;
    let (reply, deltas) = common::stream(&request).await;
    let reply = reply.unwrap();
    let mut said = String::new();
    let mut arguments = String::new();
    for delta in deltas {
        match delta {
            Delta::Reasoning(piece) | Delta::Text(piece) => said.push_str(&piece),
            Delta::Arguments { json, .. } => arguments.push_str(&json),
            Delta::ToolCall { id, .. } => assert_eq!(id, reply.tool_calls[0].id),
        }
    }
    assert_eq!(said, "hm hmGood day.");
    assert_eq!(arguments, "{\"sides\": 6}");
    let usage = &reply.usage;
    assert_eq!(
        usage.total_tokens,
        usage.prompt_tokens + usage.completion_tokens
    );
    assert_eq!(reply.response_json["tool_calls"][0]["name"], "roll");
    assert_eq!(reply.request_json["stream"], true);
    let same = common::ask(&request, None).await.unwrap();
    assert_eq!(
        (same.content, same.tool_calls),
        (reply.content, reply.tool_calls)
    );
}

#[tokio::test]
async fn every_failure_of_the_grammar_is_another_kind() {
    let words = "timeout rate_limit authentication server overloaded bad_request unprocessable \
        credits permission not_found context_window connection empty invalid";
    let mut kinds: Vec<ErrorKind> = Vec::new();
    for word in words.split_whitespace() {
        assert!(scripted::GRAMMAR.contains(word), "{word}");
        let error = common::ask(&request(&format!("fail {word}")).await, None).await;
        let error = error.unwrap_err();
        assert!(!kinds.contains(&error.kind), "{word}");
        if let Some(status) = error.status {
            let begin = format!("Bulkhead: Error code: {status} - ");
            let body = error.message.strip_prefix(&begin).unwrap();
            assert!(serde_json::from_str::<Value>(body).unwrap()["error"].is_object());
        }
        kinds.push(error.kind);
    }
}

#[tokio::test]
async fn the_example_of_the_grammar_works() {
    let line = scripted::GRAMMAR
        .lines()
        .find(|line| line.contains("{\"script\""));
    let example: Value = serde_json::from_str(line.unwrap()).unwrap();
    let mut request = request("How is the weather?").await;
    request.script = Some(example["script"].clone());
    let reply = common::ask(&request, None).await.unwrap();
    assert_eq!(reply.tool_calls[0].name, "get_weather");
    assert_eq!(reply.tool_calls[0].arguments, json!({}).to_string());
}
