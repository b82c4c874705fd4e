//! Agents whose first model fails, while its provider is there.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, type_body};
use crate::{
    both::on_both,
    clients::{patched, said, text},
    support::{Answer, TestServer},
    vendor::{ANSWER, KEY, MODEL, Vendor},
};

/// An agent of a type that asks the vendor's model, and then these; its path and the provider's.
async fn agent_with(
    server: &TestServer,
    root: &Person,
    vendor: &Vendor,
    fallbacks: Value,
) -> (String, String) {
    let provider = json!({
        "name": "mine", "provider_type": "openai", "api_key": KEY, "base_url": vendor.base_url,
    });
    let provider = server.post("/v1/providers/", &provider).await;
    assert_eq!(provider.status, 200, "{provider:?}");
    let provider = format!("/v1/providers/{}", text(&provider.body["id"]));
    let mut of_type = type_body("helper");
    of_type["primary_model"] = json!(format!("mine/{MODEL}"));
    of_type["fallback_models"] = fallbacks;
    let of_type = root.made(server, "/api/v1/agent-types", &of_type).await;
    let project = json!({ "name": "P", "slug": "p" });
    let project = root.made(server, "/api/v1/projects", &project).await;
    let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
    let body = json!({ "agent_type_id": of_type["id"], "name": "A" });
    let agent = root.made(server, &agents, &body).await;
    (format!("{agents}/{}", text(&agent["id"])), provider)
}

async fn hello(server: &TestServer, person: &Person, agent: &str) -> Answer {
    let input = json!({ "input": "say from the script", "streaming": false });
    person
        .post(server, &format!("{agent}/messages"), &input)
        .await
}

async fn models(server: &TestServer, person: &Person, agent: &str) -> Vec<(String, u64)> {
    let sums = person.get(server, &format!("{agent}/metrics")).await.body;
    let models = sums["models"].as_array().unwrap().iter();
    let models = models.map(|of| (text(&of["model"]).to_owned(), of["steps"].as_u64().unwrap()));
    models.collect()
}

on_both! {
    async fn a_model_that_fails_is_stood_in_for_and_the_steps_name_who_answered(server) {
        let vendor = Vendor::start().await;
        let root = Person::superuser(&server, "root").await;
        let (agent, provider) =
            agent_with(&server, &root, &vendor, json!(["bulkhead/scripted"])).await;
        let first = hello(&server, &root, &agent).await;
        assert_eq!(said(&first.body), [ANSWER], "{first:?}");
        patched(&server, &provider, &json!({ "api_key": "sk-bad" })).await;
        let second = hello(&server, &root, &agent).await;
        assert_eq!(second.status, 200, "{second:?}");
        assert_eq!(said(&second.body), ["from the script"]);
        let own = format!("mine/{MODEL}");
        let expected = [("bulkhead/scripted".to_owned(), 1), (own.clone(), 1)];
        assert_eq!(models(&server, &root, &agent).await, expected);
        patched(&server, &provider, &json!({ "api_key": KEY })).await;
        let third = hello(&server, &root, &agent).await;
        assert_eq!(said(&third.body), [ANSWER], "the own model is asked again: {third:?}");
        let id = agent.rsplit('/').next().unwrap();
        let v1 = root.get(&server, &format!("/v1/agents/{id}")).await;
        assert_eq!(v1.body["llm_config"]["handle"], own);
    }

    async fn where_all_models_fail_the_first_ones_reason_is_the_answer(server) {
        let vendor = Vendor::start().await;
        let root = Person::superuser(&server, "root").await;
        let (agent, provider) =
            agent_with(&server, &root, &vendor, json!(["bulkhead/scripted"])).await;
        patched(&server, &provider, &json!({ "api_key": "sk-bad" })).await;
        let input = json!({ "input": "fail bad_request", "streaming": false });
        let failed = root.post(&server, &format!("{agent}/messages"), &input).await;
        assert_eq!(failed.status, 401, "{failed:?}");
        assert_eq!(failed.body["error"]["type"], "llm_authentication");
        let messages = root.ask(&server, Method::GET, &format!("{agent}/messages")).await;
        assert!(!messages.text.contains("fail bad_request"), "{messages:?}");
    }
}
