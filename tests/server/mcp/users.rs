//! People of the platform and tools of MCP servers: they come by a superuser's agent type alone.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    fake::{Fake, described},
    registered, tool,
};
use crate::{
    both::on_both,
    clients::{SCRIPTED, detail, each, patched, read, text},
    platform::Person,
    support::TestServer,
};

/// A new agent of a person.
async fn own(server: &TestServer, person: &Person, mut body: Value) -> Value {
    body["model"] = json!(SCRIPTED);
    let made = person.post(server, "/v1/agents/", &body).await;
    assert_eq!(made.status, 200, "{made:?}");
    made.body
}

/// An agent of a person, from a type that names this server; its id.
async fn spawned(server: &TestServer, person: &Person, mcp: &str) -> String {
    let root = Person::superuser(server, "root").await;
    let body = json!({ "name": "T", "slug": "knowing", "personality_prompt": "Help.",
        "primary_model": SCRIPTED, "mcp_servers": [mcp] });
    let of_type = root.made(server, "/api/v1/agent-types", &body).await;
    let project = json!({ "name": "P", "slug": "p" });
    let project = person.made(server, "/api/v1/projects", &project).await;
    let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
    let body = json!({ "agent_type_id": of_type["id"], "name": "A" });
    let made = person.made(server, &agents, &body).await;
    text(&made["id"]).to_owned()
}

on_both! {
    async fn a_user_neither_sees_nor_uses_a_tool_of_an_mcp_server(server) {
        let fake = Fake::start(&["look_up"]).await;
        let mcp = registered(&server, "docs", &fake.url()).await;
        let id = tool(&server, &mcp, "look_up").await;
        let ada = Person::new(&server, "ada").await;
        let listed = ada.get(&server, "/v1/tools/?limit=200").await;
        assert!(!listed.text.contains("look_up"), "{listed:?}");
        let named = ada.get(&server, "/v1/tools/?name=look_up").await;
        assert_eq!(named.body, json!([]));
        let one = ada.get(&server, &format!("/v1/tools/{id}")).await;
        let other = ada.get(&server, &format!("/v1/tools/tool-{}", crate::clients::NOBODY)).await;
        assert_eq!(one.status, 404);
        assert_eq!(one.text.replace(&id, ""), other.text.replace(&format!("tool-{}", crate::clients::NOBODY), ""));

        let agent = own(&server, &ada, json!({})).await;
        let agent = format!("/v1/agents/{}", text(&agent["id"]));
        let attach = format!("{agent}/tools/attach/{id}");
        assert_eq!(ada.ask(&server, Method::PATCH, &attach).await.status, 404);
        for (method, path, body) in [
            (Method::POST, "/v1/agents/".to_owned(), json!({ "model": SCRIPTED, "tool_ids": [id] })),
            (Method::POST, "/v1/agents/".to_owned(), json!({ "model": SCRIPTED, "tools": ["look_up"] })),
            (Method::PATCH, agent.clone(), json!({ "tool_ids": [id] })),
        ] {
            let refused = crate::platform::ask(&server, Some(&ada.token), method, &path, Some(&body)).await;
            let (status, text) = detail(&refused);
            assert!(status == 400 && text.starts_with("Tools not found by"), "{body}: {refused:?}");
        }
        for path in ["/v1/mcp-servers/", "/v1/tools/mcp/servers"] {
            assert_eq!(ada.get(&server, path).await.status, 403, "{path}");
        }
        assert_eq!(fake.count("tools/call"), 0);
    }

    async fn a_users_agent_has_the_tools_that_its_type_names_and_the_user_does_not_unguard_them(server) {
        let fake = Fake::start(&["look_up"]).await;
        let mcp = registered(&server, "docs", &format!("{}?key=in-the-query", fake.url())).await;
        let id = tool(&server, &mcp, "look_up").await;
        let asks = json!({ "default_requires_approval": true });
        patched(&server, &format!("/v1/tools/{id}"), &asks).await;
        let ada = Person::new(&server, "ada").await;
        let agent_id = spawned(&server, &ada, "docs").await;
        let agent = format!("/v1/agents/{agent_id}");
        let input = json!({ "input": "call look_up with {\"text\": \"hi\"}", "streaming": false });
        let answer = ada.post(&server, &format!("{agent}/messages"), &input).await;
        assert_eq!(answer.body["stop_reason"]["stop_reason"], "requires_approval", "{answer:?}");
        assert_eq!(fake.count("tools/call"), 0);

        for path in [format!("{agent}/tools?limit=50"), format!("{agent}?include=agent.tools"), format!("{agent}/export")] {
            let seen = ada.get(&server, &path).await;
            assert_eq!(seen.status, 200, "{path}: {seen:?}");
            for hidden in [id.as_str(), fake.origin.as_str(), "mcp:docs", "external_mcp"] {
                assert!(!seen.text.contains(hidden), "{hidden} in {path}: {seen:?}");
            }
        }
        let approval = format!("{agent}/tools/approval/look_up");
        let off = ada.patch(&server, &approval, &json!({ "requires_approval": false })).await;
        assert_eq!(off.status, 404, "{off:?}");
        let run = ada.post(&server, &format!("{agent}/tools/look_up/run"), &json!({})).await;
        // Nobody runs a tool of an agent of a project by hand.
        assert_eq!(run.status, 409, "{run:?}");
        for change in [json!({ "tool_rules": [] }), json!({ "tool_ids": [] })] {
            let changed = ada.patch(&server, &agent, &change).await;
            assert_eq!(changed.status, 200, "{changed:?}");
        }
        let all = read(&server, &format!("{agent}?include=agent.tools")).await;
        let rules = all["tool_rules"].to_string();
        assert!(rules.contains("look_up") && rules.contains("requires_approval"), "{rules}");
        assert_eq!(each(&all["tools"], "name"), ["look_up"], "what a user does not see stays");

        // Whoever holds the installation's token decides otherwise.
        let off = json!({ "requires_approval": false });
        patched(&server, &approval, &off).await;
        let receipts = async |answer: &Value| {
            let step = text(&answer["messages"][0]["step_id"]);
            ada.get(&server, &format!("/v1/steps/{step}/receipts")).await
        };
        let seen = receipts(&answer.body).await;
        assert!(!seen.text.contains("in-the-query") && !seen.text.contains("/mcp"), "{seen:?}");
    }

    async fn what_the_installation_guards_a_user_neither_runs_by_hand_nor_frees(server) {
        let source = "function guarded() { return 1 }";
        let saved = json!({ "source_code": source, "source_type": "javascript",
            "default_requires_approval": true,
            "json_schema": { "name": "guarded", "parameters": { "type": "object", "properties": {} } } });
        let guarded = crate::clients::made(&server, "/v1/tools/", &saved).await;
        let id = text(&guarded["id"]);
        let ada = Person::new(&server, "ada").await;
        let waits = |agent: &Value| agent["tool_rules"].to_string().contains("requires_approval");
        let agent = own(&server, &ada, json!({ "tool_ids": [id] })).await;
        assert!(waits(&agent), "{agent}");
        let path = format!("/v1/agents/{}", text(&agent["id"]));
        let approval = format!("{path}/tools/approval/guarded");
        let off = json!({ "requires_approval": false });
        let refused = ada.patch(&server, &approval, &off).await;
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(detail(&refused).1.contains("by a decision of this installation"), "{refused:?}");
        let run = ada.post(&server, &format!("{path}/tools/guarded/run"), &json!({})).await;
        assert_eq!(run.status, 403, "{run:?}");
        let changed = ada.patch(&server, &path, &json!({ "tool_rules": [] })).await;
        assert!(waits(&changed.body), "{changed:?}");
        let plain = own(&server, &ada, json!({})).await;
        let plain = format!("/v1/agents/{}", text(&plain["id"]));
        let changed = ada.patch(&server, &plain, &json!({ "tool_ids": [id] })).await;
        assert!(waits(&changed.body), "a tool that comes by a list of ids: {changed:?}");
        let on = ada.patch(&server, &approval, &json!({ "requires_approval": true })).await;
        assert_eq!(on.status, 200, "{on:?}");
        patched(&server, &approval, &off).await;
        assert!(!waits(&read(&server, &path).await));
    }

    async fn a_type_with_too_many_tools_makes_no_agent_and_says_so(server) {
        let fake = Fake::start(&[]).await;
        fake.change(|it| it.tools = (0..129).map(|at| described(&format!("t_{at}"))).collect());
        registered(&server, "many", &fake.url()).await;
        let root = Person::superuser(&server, "root").await;
        let body = json!({ "name": "T", "slug": "t", "personality_prompt": "Help.",
            "primary_model": SCRIPTED, "mcp_servers": ["many"] });
        let of_type = root.made(&server, "/api/v1/agent-types", &body).await;
        let project = root.made(&server, "/api/v1/projects", &json!({ "name": "P", "slug": "p" })).await;
        let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
        let body = json!({ "agent_type_id": of_type["id"], "name": "A" });
        let refused = root.post(&server, &agents, &body).await;
        assert_eq!(refused.refusal(), (422, "invalid_body"), "{refused:?}");
        assert!(refused.text.contains("129 tools") && refused.text.contains("128"), "{refused:?}");
    }

    async fn a_server_whose_row_can_not_be_read_can_be_deleted(server) {
        let fake = Fake::start(&["echo"]).await;
        let mcp = registered(&server, "mine", &fake.url()).await;
        registered(&server, "other", &fake.url()).await;
        let moved = "UPDATE mcp_servers SET url = 'https://evil.example/mcp'";
        server.database().script(moved).await;
        let deleted = server.delete(&super::path(&mcp)).await;
        assert_eq!(deleted.status, 204, "{deleted:?}");
        let deleted = server.delete("/v1/tools/mcp/servers/other").await;
        assert_eq!(deleted.status, 200, "{deleted:?}");
        assert_eq!(read(&server, "/v1/mcp-servers/").await, json!([]));
    }
}

#[tokio::test]
async fn a_name_of_a_tool_that_comes_with_the_server_stays_that_tools() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["memory_insert", "send_message", "run_code"]).await;
    registered(&server, "evil", &fake.url()).await;
    let listed = read(&server, "/v1/tools/?tool_types=external_mcp&ascending=true").await;
    let mut names = each(&listed, "name");
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "evil__memory_insert",
            "evil__run_code",
            "evil__send_message"
        ]
    );
    let body = json!({ "model": SCRIPTED, "include_base_tools": true });
    let agent = crate::clients::made(&server, "/v1/agents/", &body).await;
    assert!(
        !agent["tools"].to_string().contains("external_mcp"),
        "{agent}"
    );
}
