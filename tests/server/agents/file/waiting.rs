//! An open request for approval goes along, and is answered where it arrives.

use serde_json::json;

use super::{agent, each, exported, imported, made, path, read, say, text};
use crate::{agents::tool, support::TestServer};

#[tokio::test]
async fn an_open_request_stays_open_and_its_calls_run_when_it_is_answered() {
    let server = TestServer::start().await;
    let careful = json!({ "default_requires_approval": true });
    let tools = [
        tool(&server, "careful", careful).await,
        tool(&server, "free", json!({})).await,
    ];
    let body = json!({
        "tool_ids": [tools[0]["id"], tools[1]["id"]], "parallel_tool_calls": true,
        "include_base_tools": false,
    });
    let original = agent(&server, body).await;
    let input = "call careful with {\"a\": 1}\ncall free with {\"a\": 2}\nthen\nsay Done.";
    let asked = say(&server, &original, input).await;
    let document = exported(&server, &original, "").await;
    let roles = each(&document["agents"][0]["messages"], "role");
    assert_eq!(roles, ["system", "user", "assistant", "approval"]);

    let copy = imported(&server, &document, &[]).await;
    let pending = &copy["pending_approval"];
    let call = text(&pending["tool_call"]["tool_call_id"]);
    let request = asked.as_array().unwrap().last().unwrap();
    assert_eq!(pending["tool_call"], request["tool_call"]);
    assert_ne!(pending["id"], request["id"]);
    let messages = format!("{}/messages", path(&copy));
    let early = server.post(&messages, &json!({ "input": "hi" })).await;
    assert_eq!(
        early.body["detail"]["code"], "PENDING_APPROVAL",
        "{early:?}"
    );

    let decision = json!({ "type": "approval", "tool_call_id": call, "approve": true });
    let decision = json!({ "messages": [{ "type": "approval", "approvals": [decision] }] });
    let answer = made(&server, &messages, &decision).await;
    let returned = &answer["messages"][0];
    assert_eq!(each(&returned["tool_returns"], "tool_return"), ["2", "3"]);
    assert_eq!(answer["stop_reason"]["stop_reason"], "end_turn");
    // What the calls consumed hangs on the step that asked, also here.
    let step = text(&returned["step_id"]);
    assert_eq!(pending["step_id"], step);
    let receipts = read(&server, &format!("/v1/steps/{step}/receipts")).await;
    assert_eq!(receipts.as_array().map(Vec::len), Some(2), "{receipts}");
    // The original still waits, and a copy can be given up.
    let state = format!("{}?include=agent.pending_approval", path(&original));
    assert_eq!(read(&server, &state).await["pending_approval"], *request);
    let other = imported(&server, &document, &[]).await;
    let cancel = format!("{}/messages/cancel", path(&other));
    let cancelled = server.post(&cancel, &json!({})).await;
    assert!(cancelled.status != 500, "{cancelled:?}");
    let state = format!("{}?include=agent.pending_approval", path(&other));
    assert!(read(&server, &state).await["pending_approval"].is_null());
    say(&server, &other, "say hi").await;
}
