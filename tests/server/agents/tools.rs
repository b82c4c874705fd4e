//! The tools of an agent: attached, listed, approved, called by hand.

use reqwest::{Method, header::USER_AGENT};
use serde_json::json;

use super::{
    NOBODY, agent, detail, each, on_both_databases, patched, path, read, sorted, text, tool,
    touched,
};
use crate::support::{Answer, TestServer};

#[tokio::test]
async fn a_tool_is_attached_once_and_detached() {
    for server in on_both_databases().await {
        let one = tool(&server, "one", json!({})).await;
        let agent = agent(&server, json!({})).await;
        let attach = format!("{}/tools/attach/{}", path(&agent), text(&one["id"]));
        let detach = format!("{}/tools/detach/{}", path(&agent), text(&one["id"]));
        for (change, expected) in [
            (&attach, &["one"][..]),
            (&attach, &["one"]),
            (&detach, &[]),
            (&detach, &[]),
        ] {
            let answer = touched(&server, change).await;
            assert_eq!(
                (answer.status.as_u16(), answer.text.as_str()),
                (200, "null")
            );
            let list = read(&server, &format!("{}/tools", path(&agent))).await;
            assert_eq!(each(&list, "name"), expected);
        }
        let legacy = server
            .request(Method::PATCH, &attach)
            .header(USER_AGENT, "curl/8");
        let answer = Answer::read(legacy.send().await.unwrap()).await;
        assert_eq!(answer.body["id"], agent["id"]);
        assert_eq!(each(&answer.body["tools"], "name"), ["one"]);
    }
}

#[tokio::test]
async fn the_list_has_ten_tools_unless_more_are_asked_for() {
    let server = TestServer::start().await;
    let names: Vec<_> = (0..12).map(|n| format!("tool_{n:02}")).collect();
    for name in &names {
        tool(&server, name, json!({})).await;
    }
    let agent = agent(&server, json!({ "tools": names })).await;
    let tools = format!("{}/tools", path(&agent));
    let ten = read(&server, &tools).await;
    assert_eq!(each(&ten, "name").len(), 10);
    assert_eq!(ten[0]["name"], "tool_11");
    let rest = read(&server, &format!("{tools}?after={}", text(&ten[9]["id"]))).await;
    assert_eq!(each(&rest, "name"), ["tool_01", "tool_00"]);
    let all = read(&server, &format!("{tools}?limit=50&order=asc")).await;
    assert_eq!(sorted(&all, "name").len(), 12);
    assert_eq!(all[0]["name"], "tool_00");
}

#[tokio::test]
async fn approval_is_a_rule_that_is_set_and_taken_away() {
    for server in on_both_databases().await {
        tool(&server, "one", json!({})).await;
        let agent = agent(&server, json!({ "tools": ["one"] })).await;
        let approval = format!("{}/tools/approval/one", path(&agent));
        let rules = async || {
            let agent = read(&server, &path(&agent)).await;
            agent["tool_rules"].as_array().unwrap().len()
        };
        for (required, count) in [(true, 1), (true, 1), (false, 0), (false, 0)] {
            let body = json!({ "requires_approval": required });
            assert_eq!(patched(&server, &approval, &body).await, json!(null));
            assert_eq!(rules().await, count);
        }
        let older = touched(&server, &format!("{approval}?requires_approval=true")).await;
        assert_eq!((older.status.as_u16(), rules().await), (200, 1));
        // The body counts more.
        let both = format!("{approval}?requires_approval=true");
        patched(&server, &both, &json!({ "requires_approval": false })).await;
        assert_eq!(rules().await, 0);
        assert_eq!(detail(&touched(&server, &approval).await).0, 422);
        let extra = server
            .patch(&approval, &json!({ "requires_approval": true, "x": 1 }))
            .await;
        assert!(detail(&extra).1.contains("extra_forbidden"));
        let unknown = format!(
            "{}/tools/approval/nope?requires_approval=true",
            path(&agent)
        );
        let expected = format!(
            "Tool 'nope' not found or not attached to agent '{}'",
            text(&agent["id"])
        );
        assert_eq!(detail(&touched(&server, &unknown).await), (404, &*expected));
    }
}

#[tokio::test]
async fn attaching_a_tool_that_asks_for_approval_brings_the_rule() {
    let server = TestServer::start().await;
    let risky = tool(
        &server,
        "risky",
        json!({ "default_requires_approval": true }),
    )
    .await;
    let agent = agent(&server, json!({})).await;
    touched(
        &server,
        &format!("{}/tools/attach/{}", path(&agent), text(&risky["id"])),
    )
    .await;
    let after = read(&server, &path(&agent)).await;
    assert_eq!(after["tool_rules"][0]["type"], "requires_approval");
}

#[tokio::test]
async fn a_tool_is_called_by_hand_with_its_value_and_receipt() {
    let server = TestServer::start().await;
    tool(&server, "one", json!({})).await;
    let source = "function broken(a) { throw new Error('no luck') }";
    tool(&server, "broken", json!({ "source_code": source })).await;
    let agent = agent(&server, json!({ "tools": ["one", "broken"] })).await;
    // Whether or not a person would be asked.
    let approval = format!("{}/tools/approval/one", path(&agent));
    patched(&server, &approval, &json!({ "requires_approval": true })).await;
    let run = |name: &str, body: serde_json::Value| {
        let path = format!("{}/tools/{name}/run", path(&agent));
        let server = &server;
        async move { server.post(&path, &body).await }
    };
    let good = run("one", json!({ "args": { "a": 41 } })).await;
    assert_eq!(good.status, 200, "{good:?}");
    assert_eq!(
        (
            &good.body["status"],
            &good.body["func_return"],
            &good.body["agent_state"]
        ),
        (&json!("success"), &json!(42), &json!(null))
    );
    assert!(good.body["receipt"].is_object(), "{good:?}");
    let bad = run("broken", json!({ "args": { "a": 1 } })).await;
    assert_eq!(
        (&bad.body["status"], &bad.body["func_return"]),
        (&json!("error"), &json!(null))
    );
    assert!(
        bad.body["stderr"].to_string().contains("no luck"),
        "{bad:?}"
    );
    let unknown = run("zzz", json!({ "args": {} })).await;
    let expected = format!(
        "Tool 'zzz' not found or not attached to agent '{}'",
        text(&agent["id"])
    );
    assert_eq!(detail(&unknown), (404, &*expected));
}

#[tokio::test]
async fn tools_that_are_not_there_are_refused_in_the_contracts_words() {
    for server in on_both_databases().await {
        let agent = agent(&server, json!({})).await;
        let id = format!("tool-{NOBODY}");
        let attach = touched(&server, &format!("{}/tools/attach/{id}", path(&agent))).await;
        let expected = format!(
            "Tool with id={id} not found in organization=org-00000000-0000-4000-8000-000000000000"
        );
        assert_eq!(detail(&attach), (404, &*expected));
        for (body, expected) in [
            (
                json!({ "tools": ["zzz"] }),
                "Tools not found by name: {'zzz'}".to_owned(),
            ),
            (
                json!({ "tool_ids": [id] }),
                format!("Tools not found by id:   {{'{id}'}}"),
            ),
        ] {
            let mut body = body;
            body["model"] = json!(super::SCRIPTED);
            let refused = server.post("/v1/agents/", &body).await;
            assert_eq!(detail(&refused), (400, &*expected));
        }
        let refused = server
            .patch(&path(&agent), &json!({ "tool_ids": [id] }))
            .await;
        assert_eq!(detail(&refused).0, 400);
        assert_eq!(read(&server, "/v1/agents/count").await, 1);
    }
}
