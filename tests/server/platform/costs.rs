//! What agents cost is what their models used, whatever an owner does about it.

use serde_json::json;

use super::{Person, ask, type_body};
use crate::{clients::text, support::TestServer};

const TOKEN: &str = "t0ken";

/// An agent of a server that has prices, as its owner reaches it: its path, and that of `/v1`.
async fn priced() -> (TestServer, Person, String, String) {
    let server = TestServer::start_with(|config| {
        let prices = json!({
            "bulkhead/scripted": { "input": 1000.0, "output": 2000.0 },
            "bulkhead/free": { "input": 0.0, "output": 0.0 },
        });
        config.prices = serde_json::from_value(prices).unwrap();
        config.token = Some(TOKEN.to_owned());
    })
    .await;
    let ada = Person::new(&server, "ada").await;
    let of_type = ask(
        &server,
        Some(TOKEN),
        reqwest::Method::POST,
        "/api/v1/agent-types",
        Some(&type_body("helper")),
    )
    .await;
    let body = json!({ "name": "P", "slug": "p" });
    let project = ada.made(&server, "/api/v1/projects", &body).await;
    let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
    let body = json!({ "agent_type_id": of_type.body["id"], "name": "A" });
    let made = ada.made(&server, &agents, &body).await;
    let id = text(&made["id"]);
    let (agent, v1) = (format!("{agents}/{id}"), format!("/v1/agents/{id}"));
    (server, ada, agent, v1)
}

#[tokio::test]
async fn a_handle_that_an_owner_writes_does_not_make_an_agent_cheaper() {
    let (server, ada, agent, v1) = priced().await;
    let mut config = ada.get(&server, &v1).await.body["llm_config"].clone();
    config["handle"] = json!("bulkhead/free");
    config["provider_category"] = json!("byok");
    let patched = ada
        .patch(&server, &v1, &json!({ "llm_config": config }))
        .await;
    assert_eq!(patched.status, 200, "{patched:?}");
    let input = json!({ "input": "hello", "streaming": false });
    let messages = format!("{agent}/messages");
    let answer = ada.post(&server, &messages, &input).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let sums = ada.get(&server, &format!("{agent}/metrics")).await.body;
    assert_eq!(sums["models"][0]["model"], "bulkhead/scripted", "{sums}");
    assert!(
        sums["total_cost_incurred"].as_f64().unwrap() > 0.0,
        "{sums}"
    );
    let steps = format!("/v1/steps/?agent_id={}", text(&patched.body["id"]));
    let steps = ada.get(&server, &steps).await.body;
    let step = &steps[0];
    assert_eq!(step["model_handle"], "bulkhead/scripted", "{step}");
    assert_eq!(
        (&step["provider_name"], &step["provider_category"]),
        (&json!("bulkhead"), &json!("base"))
    );
}

#[tokio::test]
async fn a_compaction_costs_what_its_summary_used() {
    let (server, ada, agent, v1) = priced().await;
    for _ in 0..3 {
        let input = json!({ "input": "hello", "streaming": false });
        let answer = ada
            .post(&server, &format!("{agent}/messages"), &input)
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let sums = async || ada.get(&server, &format!("{agent}/metrics")).await.body;
    let before = sums().await;
    let settings = json!({ "compaction_settings": { "mode": "all" } });
    let compacted = ada
        .post(&server, &format!("{v1}/summarize"), &settings)
        .await;
    assert!(compacted.status.is_success(), "{compacted:?}");
    let after = sums().await;
    for field in ["total_tokens_used", "total_cost_incurred"] {
        let (before, after) = (
            before[field].as_f64().unwrap(),
            after[field].as_f64().unwrap(),
        );
        assert!(after > before, "{field}: {before} {after}");
    }
    assert_eq!(after["models"][0]["steps"], 4);
    assert_eq!(
        after["total_tasks_completed"],
        before["total_tasks_completed"]
    );
}
