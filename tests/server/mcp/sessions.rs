use std::time::Duration;

use serde_json::{Value, json};

use super::{fake::Fake, path, registered, tool};
use crate::{
    clients::{agent, made, told},
    support::TestServer,
};

/// An agent with this tool, and the path of its messages.
async fn with_tool(server: &TestServer, id: &str) -> String {
    let body = json!({ "tool_ids": [id], "include_base_tools": false });
    format!("/v1/agents/{}/messages", agent(server, body).await)
}

#[tokio::test]
async fn each_agent_has_a_session_of_its_own() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["echo"]).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    let echo = tool(&server, &mcp, "echo").await;
    let (ada, bob) = (
        with_tool(&server, &echo).await,
        with_tool(&server, &echo).await,
    );
    for messages in [&ada, &bob, &ada, &bob] {
        told(&server, messages, "call echo").await;
    }
    let run = format!("{}/tools/{echo}/run", path(&mcp));
    made(&server, &run, &json!({ "args": {} })).await;
    let [first, second, third, fourth, by_hand] = &fake.sessions("tools/call")[..] else {
        panic!("five calls");
    };
    assert_eq!((first, second), (third, fourth));
    assert_ne!(first, second);
    assert_eq!(by_hand, &fake.sessions("tools/list")[0], "no agent's");
    assert_eq!(fake.count("initialize"), 3);
}

#[tokio::test]
async fn a_session_that_nobody_uses_is_ended() {
    let server = TestServer::start_with(|config| {
        config.mcp.session_idle = Duration::from_millis(500);
    })
    .await;
    let fake = Fake::start(&["echo"]).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    fake.wait_for("(closed)").await;
    assert_eq!(fake.sessions("(closed)"), ["session-1"]);
    let run = format!(
        "{}/tools/{}/run",
        path(&mcp),
        tool(&server, &mcp, "echo").await
    );
    let result = made(&server, &run, &json!({ "args": {} })).await;
    assert_eq!(result["status"], "success");
    assert_eq!(fake.sessions("tools/call"), ["session-2"]);
}

#[tokio::test]
async fn a_call_is_sent_again_only_where_its_session_was_refused() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["echo"]).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    let run = format!(
        "{}/tools/{}/run",
        path(&mcp),
        tool(&server, &mcp, "echo").await
    );
    let error = |id: &str, message: &str| {
        let id: Value = serde_json::from_str(id).unwrap_or_else(|_| json!(id));
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": message } })
            .to_string()
            .replace("\"(id)\"", "(id)")
    };
    for (status, body, sent) in [
        (
            400,
            error("null", "Bad Request: No valid session ID provided"),
            2,
        ),
        (400, error("server-error", "Session not found"), 2),
        (404, String::new(), 2),
        (400, error("null", "Bad Request"), 1),
        (400, "the text is too long".to_owned(), 1),
        // Said of the call itself, which may have run.
        (400, error("(id)", "the session of the shop is over"), 1),
        (500, error("null", "the session broke"), 1),
    ] {
        let before = fake.count("tools/call");
        fake.change(|it| it.refuses = Some((status, body.clone())));
        let result = made(&server, &run, &json!({ "args": {} })).await;
        assert_eq!(result["status"], "error");
        assert_eq!(fake.count("tools/call") - before, sent, "{status} {body}");
        fake.change(|it| it.refuses = None);
        let result = made(&server, &run, &json!({ "args": {} })).await;
        assert_eq!(result["status"], "success", "{status} {body}");
    }
}
