use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{fake::Fake, path, registered, tool};
use crate::{
    both::on_both,
    clients::{agent, made, patched, read, told},
    support::TestServer,
};

const TOOLS: [&str; 8] = [
    "echo", "two", "fail", "value", "picture", "smudge", "stream", "refuse",
];

/// What came of the first call of an answer.
fn returned(answer: &Value) -> &Value {
    let messages = answer["messages"].as_array().unwrap();
    let mut returns = messages
        .iter()
        .filter(|message| message["message_type"] == "tool_return_message");
    returns.next().unwrap_or_else(|| panic!("{answer}"))
}

on_both! {
    async fn an_agent_calls_the_tools_of_a_server(server) {
        let fake = Fake::start(&TOOLS).await;
        let mcp = registered(&server, "mine", &fake.url()).await;
        let mut ids = Vec::new();
        for name in TOOLS {
            ids.push(tool(&server, &mcp, name).await);
        }
        let agent = agent(&server, json!({ "tool_ids": ids, "include_base_tools": false })).await;
        let messages = format!("/v1/agents/{agent}/messages");
        for (input, status, expected) in [
            ("call echo with {\"text\": \"hi\"}", "success", "echo: hi"),
            ("call stream with {\"text\": \"flow\"}", "success", "stream: flow"),
            ("call two", "success", "one\ntwo\n{\"type\":\"resource_link\",\"uri\":\"x:y\",\"name\":\"z\"}"),
            ("call value", "success", "{\"sum\":3}"),
            ("call fail", "error", "it did not work"),
            ("call refuse", "error",
                "Error executing function refuse: McpError: the MCP server mine gave no result: it \
                 answered with the error -32602: Unknown tool"),
            ("call echo with {\"text\": 7}", "error",
                "Error executing function echo: InvalidArguments: the arguments do not match the \
                 schema of the tool: /text: 7 is not of type \"string\""),
        ] {
            let answer = told(&server, &messages, input).await;
            let returned = returned(&answer);
            assert_eq!(returned["status"], status, "{input}");
            // Field order of JSON that the server wrote is the server's.
            let text = returned["tool_return"].as_str().unwrap();
            if input == "call two" {
                assert!(text.starts_with("one\ntwo\n{") && text.contains("\"uri\":\"x:y\""), "{text}");
            } else {
                assert_eq!(text, expected, "{input}");
            }
            assert_eq!(returned["stdout"], Value::Null, "{input}");
        }
        // What a server asks meanwhile is answered.
        assert!(fake.methods().contains(&"(answer)".to_owned()), "{:?}", fake.methods());
        assert_eq!(fake.params("tools/call")["arguments"].get("request_heartbeat"), None);

        let answer = told(&server, &messages, "call picture").await;
        let parts = &returned(&answer)["tool_returns"][0]["tool_return"];
        assert_eq!(parts[0]["text"], "a dot\n[image/png, 72 bytes]", "{parts}");
        assert_eq!((&parts[1]["type"], parts[1]["source"]["media_type"].as_str()),
            (&json!("image"), Some("image/png")), "its type is that of its bytes: {parts}");
        let answer = told(&server, &messages, "call smudge").await;
        let text = returned(&answer)["tool_return"].as_str().unwrap();
        assert_eq!(text, "[not an image that models take: image/png, 6 bytes]");
        assert!(!returned(&answer).to_string().contains("aGVsbG8"), "{answer}");

        let answer = told(&server, &messages, "call echo with {\"text\": \"again\"}").await;
        let step = answer["messages"][0]["step_id"].as_str().unwrap();
        let receipts = read(&server, &format!("/v1/steps/{step}/receipts")).await;
        let receipt = &receipts[0]["receipt"];
        assert_eq!(receipt["outcome"], "ok");
        assert_eq!(receipt["tool"], "echo");
        assert_eq!(receipt["agent_id"], agent);
        let call = &receipt["host_calls"][0];
        assert_eq!((&call["interface"], &call["function"]), (&json!("mcp"), &json!("tools/call")));
        assert_eq!(call["target"], format!("POST {}", fake.origin), "and not its path");
        assert_eq!(call["outcome"], "ok");
        for count in ["bytes_in", "bytes_out", "wall_us"] {
            assert!(call[count].as_u64().unwrap() > 0, "{count} of {call}");
        }
    }

    async fn a_person_runs_a_tool_and_learns_how_it_ended(server) {
        let fake = Fake::start(&TOOLS).await;
        let mcp = registered(&server, "mine", &fake.url()).await;
        let run = async |name: &str, args: Value| {
            let id = tool(&server, &mcp, name).await;
            made(&server, &format!("{}/tools/{id}/run", path(&mcp)), &json!({ "args": args })).await
        };
        let result = run("echo", json!({ "text": "hi" })).await;
        assert_eq!((&result["status"], &result["func_return"]), (&json!("success"), &json!("echo: hi")));
        let receipt = result["receipt"]["id"].as_str().unwrap();
        let receipt = read(&server, &format!("/v1/receipts/{receipt}")).await;
        assert_eq!(receipt["outcome"], "ok");
        let result = run("fail", json!({})).await;
        assert_eq!((&result["status"], &result["func_return"]), (&json!("error"), &json!("it did not work")));
        assert_eq!(result["receipt"]["outcome"], "tool_error");
        let result = run("echo", json!({ "more": 1 })).await;
        assert_eq!(result["receipt"]["outcome"], "invalid_input");

        let id = tool(&server, &mcp, "echo").await;
        let call = json!({ "args": { "text": "hi" } });
        let called = made(&server, &format!("/v1/tools/{id}/call"), &call).await;
        assert_eq!(called["tool_return"], "echo: hi");
        let agent = agent(&server, json!({ "tool_ids": [id] })).await;
        let result = made(&server, &format!("/v1/agents/{agent}/tools/echo/run"), &call).await;
        assert_eq!(result["func_return"], "echo: hi");
    }

    async fn a_call_waits_for_approval_and_runs_once_or_never(server) {
        let fake = Fake::start(&["echo"]).await;
        let mcp = registered(&server, "mine", &fake.url()).await;
        let echo = tool(&server, &mcp, "echo").await;
        let asks = json!({ "default_requires_approval": true });
        patched(&server, &format!("/v1/tools/{echo}"), &asks).await;
        let calls = || fake.methods().iter().filter(|method| *method == "tools/call").count();
        for (approve, status, expected, called) in [
            (true, "success", "echo: hi", 1),
            (false, "error", "not now", 1),
        ] {
            let agent = agent(&server, json!({ "tool_ids": [echo] })).await;
            let messages = format!("/v1/agents/{agent}/messages");
            let answer = told(&server, &messages, "call echo with {\"text\": \"hi\"}").await;
            assert_eq!(answer["stop_reason"]["stop_reason"], "requires_approval");
            assert_eq!(calls(), usize::from(!approve), "nothing left yet");
            let asked = answer["messages"].as_array().unwrap().iter();
            let mut asked = asked.filter(|message| message["message_type"] == "approval_request_message");
            let call = asked.next().unwrap()["tool_call"]["tool_call_id"].clone();
            let decision = json!({ "type": "approval", "tool_call_id": call, "approve": approve,
                "reason": "not now" });
            let decided = json!({ "messages": [{ "type": "approval", "approvals": [decision] }],
                "streaming": false });
            let answer = made(&server, &messages, &decided).await;
            assert_eq!(answer["stop_reason"]["stop_reason"], "end_turn", "{answer}");
            assert_eq!(calls(), called);
            let history = read(&server, &format!("{messages}?limit=50")).await;
            let returned = returned(&json!({ "messages": history })).clone();
            assert_eq!(returned["status"], status, "{returned}");
            let text = returned["tool_return"].as_str().unwrap();
            assert!(text.contains(expected), "{text}");
        }
    }
}

#[tokio::test]
async fn a_cancelled_run_drops_the_request_and_tells_the_server() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["hang"]).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    let hang = tool(&server, &mcp, "hang").await;
    let agent = agent(
        &server,
        json!({ "tool_ids": [hang], "include_base_tools": false }),
    )
    .await;
    let messages = format!("/v1/agents/{agent}/messages");
    let body = json!({ "input": "call hang" });
    let begun = made(&server, &format!("{messages}/async"), &body).await;
    fake.wait_for("tools/call").await;
    let began = Instant::now();
    let cancelled = server.post(&format!("{messages}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    fake.wait_for("notifications/cancelled").await;
    let told = &fake.params("notifications/cancelled")["requestId"];
    assert_eq!(*told, fake.id("tools/call"), "the id of the call");
    let run = format!("/v1/runs/{}", begun["id"].as_str().unwrap());
    while read(&server, &run).await["status"] == "running" {
        assert!(began.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(read(&server, &run).await["status"], "cancelled");
}

#[tokio::test]
async fn a_tool_whose_server_is_gone_fails_and_the_agent_goes_on() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["echo"]).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    let echo = tool(&server, &mcp, "echo").await;
    let agent = agent(
        &server,
        json!({ "tool_ids": [echo], "include_base_tools": false }),
    )
    .await;
    drop(fake);
    let answer = told(
        &server,
        &format!("/v1/agents/{agent}/messages"),
        "call echo",
    )
    .await;
    let text = returned(&answer)["tool_return"].as_str().unwrap();
    let expected = "Error executing function echo: McpConnectionError: Failed to connect to MCP \
                    server mine: no connection to http://127.0.0.1:";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(answer["stop_reason"]["stop_reason"], "end_turn");
}
