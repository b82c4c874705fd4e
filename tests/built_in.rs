//! The tools that agents have by default, as components in a real sandbox.

use std::sync::Arc;

use bulkhead_sandbox::{
    Authority, Call, Report, Sandbox, Services, Settings,
    services::{Passage, RecallError, RecallFilter, RecallService, Turn},
};
use bulkhead_testkit::{Capabilities, Loaded, Outcome, Testkit, Value, expect_outcome, json, text};
use futures::future::{BoxFuture, ready};

/// The memory tools of an agent with two blocks.
fn memory() -> Loaded {
    let kit = Testkit::new()
        .block("human", "Name: Ann\nCity: Rome")
        .block("notes", "")
        .grant(&granted(
            json!({ "memory": { "labels": ["*"], "write": true } }),
        ));
    kit.load_bytes(bulkhead_tools::MEMORY).expect("it loads")
}

fn granted(capabilities: Value) -> Capabilities {
    serde_json::from_value(capabilities).expect("they are capabilities")
}

#[test]
fn an_agents_memory_is_edited_through_the_sandbox() {
    let tools = memory();
    let replace = json!({ "label": "human", "old_string": "Rome", "new_string": "Oslo" });
    let replaced = tools.call("memory_replace", replace.clone());
    assert_eq!(text(&replaced), "Name: Ann\nCity: Oslo");
    assert_eq!(
        tools.blocks().value("human").as_deref(),
        Some("Name: Ann\nCity: Oslo")
    );
    let again = tools.call("memory_replace", replace);
    expect_outcome(&again, Outcome::ToolError);
    let failure = again.result.expect_err("it is not there any more");
    assert_eq!(
        failure.message,
        "No replacement was performed, old_string `Rome` did not appear verbatim in memory block with label `human`."
    );
    // A model may send null for what it leaves out.
    let insert = json!({ "label": "notes", "new_string": "tea", "insert_line": null });
    assert_eq!(text(&tools.call("memory_insert", insert)), "tea");
    let patch = json!({ "label": "notes", "patch": "@@\n-tea\n+coffee" });
    assert_eq!(text(&tools.call("memory_apply_patch", patch)), "coffee");
    let create = json!({ "command": "create", "path": "/memories/plan", "file_text": "x" });
    assert!(text(&tools.call("memory", create)).starts_with("Successfully created"));
    assert_eq!(tools.blocks().value("plan").as_deref(), Some("x"));
    let finished = tools.call("memory_finish_edits", json!({}));
    let output = finished.result.expect("it succeeds");
    assert_eq!(
        (output.text().as_str(), output.structured),
        ("None", Some(Value::Null))
    );
}

#[test]
fn what_is_not_granted_is_denied() {
    let tools = Testkit::new()
        .load_bytes(bulkhead_tools::MEMORY)
        .expect("it loads");
    let append = json!({ "label": "human", "content": "x" });
    expect_outcome(&tools.call("core_memory_append", append), Outcome::Denied);
    let tools = Testkit::new()
        .agent("agent-a")
        .load_bytes(bulkhead_tools::MESSAGES)
        .expect("it loads");
    let message = json!({ "message": "hi", "other_agent_id": "agent-b" });
    expect_outcome(
        &tools.call("send_message_to_agent_async", message),
        Outcome::Denied,
    );
    let spoken = tools.call("send_message", json!({ "message": "hi" }));
    assert_eq!(text(&spoken), "Sent message successfully.");
}

/// A conversation of one message, which is there whatever is asked for.
struct OneMessage;

impl RecallService for OneMessage {
    fn insert(
        &self,
        text: String,
        tags: Vec<String>,
    ) -> BoxFuture<'_, Result<Passage, RecallError>> {
        Box::pin(ready(Ok(Passage {
            id: "passage-1".to_owned(),
            text,
            tags,
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            score: None,
        })))
    }

    fn search_archive(
        &self,
        _: String,
        _: RecallFilter,
    ) -> BoxFuture<'_, Result<Vec<Passage>, RecallError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn search_conversation(
        &self,
        query: Option<String>,
        filter: RecallFilter,
    ) -> BoxFuture<'_, Result<Vec<Turn>, RecallError>> {
        Box::pin(ready(Ok(vec![Turn {
            id: "message-1".to_owned(),
            role: filter.roles.join(" "),
            text: format!("{query:?} from {:?} to {:?}", filter.since, filter.until),
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            score: None,
        }])))
    }
}

async fn recall(tool: &str, input: Value) -> Report {
    let sandbox = Sandbox::new(Settings {
        slots: 1,
        pooling: false,
        ..Settings::default()
    });
    let sandbox = sandbox.expect("there is a sandbox");
    let component = sandbox.install(Arc::<[u8]>::from(bulkhead_tools::RECALL));
    let component = component.await.expect("it loads");
    let granted = granted(json!({ "recall": true }));
    let authority = Authority::for_tool(&component, tool, &granted, None, Vec::new(), "recall");
    let call = Call::new(tool, input.to_string())
        .with_authority(authority.expect("there is such a tool"))
        .with_services(Services {
            recall: Some(Arc::new(OneMessage)),
            ..Services::default()
        });
    sandbox.call(&component, call).await
}

#[tokio::test]
async fn a_conversation_is_searched_through_the_sandbox() {
    let input = json!({ "query": "tea", "roles": ["user"], "start_date": "2026-01-01", "end_date": "2026-01-02" });
    let report = recall("conversation_search", input).await;
    let output = report.result.expect("it succeeds");
    let found = &output.structured.as_ref().expect("a value")["results"][0];
    assert_eq!(found["role"], "user");
    assert_eq!(
        found["content"],
        r#"Some("tea") from Some("2026-01-01T00:00:00Z") to Some("2026-01-02T23:59:59.999999Z")"#
    );
    // The clock of the guest is the host's: it is long ago.
    let ago = found["time_ago"].as_str().expect("a text");
    assert!(ago.ends_with(" days ago"), "{ago}");
    let text = output.text();
    let start = "{'message': 'Showing 1 results:', 'results': [{'timestamp': '2026-01-01T00:00:00Z', 'time_ago': '";
    assert!(text.starts_with(start), "{text}");
}

#[tokio::test]
async fn a_date_that_is_none_is_the_tools_own_failure() {
    let report = recall("conversation_search", json!({ "start_date": "soon" })).await;
    expect_outcome(&report, Outcome::ToolError);
    let report = recall("conversation_search", json!({ "roles": ["system"] })).await;
    expect_outcome(&report, Outcome::InvalidInput);
}
