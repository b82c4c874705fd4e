//! What a team does: types of agents, projects, agents in them, and what they cost.

use reqwest::Method;
use serde_json::json;

use super::{Person, ask, project_with_agent, type_body};
use crate::{
    both::on_both,
    clients::{said, text},
    mcp::{fake::Fake, registered},
    support::TestServer,
};

const TYPES: &str = "/api/v1/agent-types";

on_both! {
    async fn only_superusers_make_agent_types(server) {
        let ada = Person::new(&server, "ada").await;
        let body = type_body("helper");
        assert_eq!(ada.post(&server, TYPES, &body).await.refusal(), (403, "forbidden"));
        let nobody = ask(&server, None, Method::POST, TYPES, Some(&body)).await;
        assert_eq!(nobody.refusal(), (401, "unauthorized"));
    }

    async fn a_superuser_makes_and_changes_a_type_with_all_its_fields(server) {
        let root = Person::superuser(&server, "root").await;
        let body = json!({
            "name": "Product Owner", "slug": "product-owner", "description": "Asks why.",
            "expertise": ["requirements", "prioritisation"],
            "personality_prompt": "You are focused on value.", "primary_model": "claude-3-opus",
            "fallback_models": ["claude-3-sonnet"],
            "model_params": { "temperature": 0.7, "max_tokens": 4000 },
            "mcp_servers": ["knowledge-base"], "is_active": true,
        });
        let made = root.made(&server, TYPES, &body).await;
        for (field, value) in body.as_object().unwrap() {
            assert_eq!(&made[field], value, "{field}");
        }
        let one = format!("{TYPES}/{}", text(&made["id"]));
        let change = json!({ "name": "Owner", "description": null });
        let changed = root.patch(&server, &one, &change).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        assert_eq!((&changed.body["name"], &changed.body["description"]), (&json!("Owner"), &json!(null)));
        assert_eq!(changed.body["personality_prompt"], body["personality_prompt"]);
        let read = root.get(&server, &format!("{TYPES}/slug/product-owner")).await;
        assert_eq!(read.body, changed.body);
        assert_eq!(root.get(&server, &one).await.body, changed.body);
        let taken = root.post(&server, TYPES, &type_body("product-owner")).await;
        assert_eq!(taken.refusal(), (409, "slug_taken"));
        for (field, wrong, place) in [
            ("slug", json!("Not A Slug"), "/slug"),
            ("name", json!(""), "/name"),
            ("personality_prompt", json!(" "), "/personality_prompt"),
            ("model_params", json!({ "temperature": "hot" }), "/model_params/temperature"),
            ("model_params", json!({ "temprature": 1 }), "/model_params/temprature"),
            ("expertise", json!(["a\nb"]), "/expertise/0"),
        ] {
            let mut body = type_body("other");
            body[field] = wrong;
            let refused = root.post(&server, TYPES, &body).await;
            assert_eq!((refused.refusal(), refused.places()), ((422, "invalid_body"), vec![place]), "{refused:?}");
        }
        let unknown = root.patch(&server, &one, &json!({ "nmae": "x" })).await;
        assert_eq!(unknown.status, 422, "{unknown:?}");
    }

    async fn everybody_who_signed_in_sees_the_types_page_by_page(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        for number in 0..3 {
            root.made(&server, TYPES, &type_body(&format!("type-{number}"))).await;
        }
        let page = ada.get(&server, &format!("{TYPES}?page=2&page_size=2")).await;
        assert_eq!(page.body["data"].as_array().unwrap().len(), 1, "{page:?}");
        assert_eq!(page.body["data"][0]["slug"], "type-2");
        let pagination = json!({
            "total": 3, "page": 2, "page_size": 2, "total_pages": 2, "has_next": false, "has_prev": true,
        });
        assert_eq!(page.body["pagination"], pagination);
        for query in ["page=0", "page_size=0", "page_size=101", "page=x"] {
            let refused = ada.get(&server, &format!("{TYPES}?{query}")).await;
            assert_eq!(refused.refusal(), (422, "invalid_parameter"), "{query}");
        }
        assert_eq!(ada.get(&server, &format!("{TYPES}/slug/none")).await.status, 404);
    }

    async fn an_agent_is_made_from_a_type_and_is_one_of_v1(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let shown = ada.get(&server, &agent).await;
        assert_eq!(shown.status, 200, "{shown:?}");
        assert_eq!((&shown.body["name"], &shown.body["status"]), (&json!("Agent"), &json!("idle")));
        let id = text(&shown.body["id"]);
        let v1 = ada.get(&server, &format!("/v1/agents/{id}")).await;
        assert_eq!(v1.status, 200, "{v1:?}");
        assert_eq!(v1.body["system"], "You are a helpful agent.");
        assert_eq!(v1.body["created_by_id"], json!(ada.id));
        let of_type = &shown.body["agent_type_id"];
        for number in 1..3 {
            let body = json!({ "agent_type_id": of_type, "name": format!("Agent {number}"),
                "project_id": project.rsplit('/').next() });
            ada.made(&server, &format!("{project}/agents"), &body).await;
        }
        let list = ada.get(&server, &format!("{project}/agents")).await;
        assert_eq!(list.body["pagination"]["total"], 3);
        assert_eq!(list.body["data"].as_array().unwrap().len(), 3);
        let renamed = ada.patch(&server, &agent, &json!({ "name": "Other" })).await;
        assert_eq!(renamed.body["name"], "Other", "{renamed:?}");
    }

    async fn no_agent_is_made_from_a_type_that_is_not_active_or_not_there(server) {
        let root = Person::superuser(&server, "root").await;
        let (project, agent) = project_with_agent(&server, (&root, &root), "shop").await;
        let agents = format!("{project}/agents");
        let of_type = root.get(&server, &agent).await.body["agent_type_id"].clone();
        let one = format!("{TYPES}/{}", text(&of_type));
        root.patch(&server, &one, &json!({ "is_active": false })).await;
        let body = json!({ "agent_type_id": of_type, "name": "A" });
        let refused = root.post(&server, &agents, &body).await;
        assert_eq!(refused.refusal(), (422, "agent_type_inactive"));
        for (field, value) in [
            ("agent_type_id", json!("agent_type-1")),
            ("name", json!("")),
            ("project_id", json!("project-1")),
        ] {
            let mut body = body.clone();
            body[field] = value;
            let refused = root.post(&server, &agents, &body).await;
            assert_eq!(refused.refusal(), (422, "invalid_body"), "{refused:?}");
            assert_eq!(refused.places(), [format!("/{field}")]);
        }
        assert_eq!(root.get(&server, &agents).await.body["pagination"]["total"], 1);
    }

    async fn an_agent_has_the_tools_of_the_mcp_servers_that_its_type_names(server) {
        let root = Person::superuser(&server, "root").await;
        let fake = Fake::start(&["look_up"]).await;
        registered(&server, "knowledge-base", &fake.url()).await;
        let mut body = type_body("knowing");
        body["mcp_servers"] = json!(["knowledge-base"]);
        let of_type = root.made(&server, TYPES, &body).await;
        let project = root.made(&server, "/api/v1/projects", &json!({ "name": "P", "slug": "p" })).await;
        let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
        let body = json!({ "agent_type_id": of_type["id"], "name": "A" });
        let made = root.made(&server, &agents, &body).await;
        let tools = format!("/v1/agents/{}/tools", text(&made["id"]));
        let tools = root.get(&server, &tools).await;
        assert!(tools.text.contains("look_up"), "{tools:?}");
        let one = format!("{TYPES}/{}", text(&of_type["id"]));
        root.patch(&server, &one, &json!({ "mcp_servers": ["nowhere"] })).await;
        let refused = root.post(&server, &agents, &body).await;
        assert_eq!(refused.refusal(), (422, "invalid_body"));
        assert!(refused.text.contains("nowhere"), "{refused:?}");
    }

    async fn a_model_that_nobody_has_yet_makes_an_agent_whose_answers_say_so(server) {
        let root = Person::superuser(&server, "root").await;
        let mut body = type_body("claude");
        body["primary_model"] = json!("claude-3-sonnet");
        let of_type = root.made(&server, TYPES, &body).await;
        let project = root.made(&server, "/api/v1/projects", &json!({ "name": "P", "slug": "p" })).await;
        let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
        let body = json!({ "agent_type_id": of_type["id"], "name": "A" });
        let made = root.made(&server, &agents, &body).await;
        let agent = format!("{agents}/{}", text(&made["id"]));
        let input = json!({ "input": "hello", "streaming": false });
        let refused = root.post(&server, &format!("{agent}/messages"), &input).await;
        assert_eq!(refused.status, 404, "{refused:?}");
        assert!(refused.text.contains("anthropic"), "{refused:?}");
    }

    async fn where_the_first_model_fails_the_next_one_answers(server) {
        let root = Person::superuser(&server, "root").await;
        let mut body = type_body("fallback");
        body["primary_model"] = json!("claude-3-sonnet");
        body["fallback_models"] = json!(["gpt-unknown", "bulkhead/scripted"]);
        let of_type = root.made(&server, TYPES, &body).await;
        let project = root.made(&server, "/api/v1/projects", &json!({ "name": "P", "slug": "p" })).await;
        let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
        let body = json!({ "agent_type_id": of_type["id"], "name": "A" });
        let made = root.made(&server, &agents, &body).await;
        let agent = format!("{agents}/{}", text(&made["id"]));
        let input = json!({ "input": "hello", "streaming": false });
        let answer = root.post(&server, &format!("{agent}/messages"), &input).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(said(&answer.body).len(), 1);
        let v1 = root.get(&server, &format!("/v1/agents/{}", text(&made["id"]))).await;
        assert_eq!(v1.body["llm_config"]["model"], "claude-3-sonnet", "the agent's own model stays");
    }

    async fn what_an_agent_did_is_summed_from_its_steps(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let none = ada.get(&server, &format!("{agent}/metrics")).await.body;
        assert_eq!((&none["total_instances"], &none["idle_instances"]), (&json!(1), &json!(1)));
        assert_eq!(none["total_tokens_used"], 0);
        assert_eq!(none["total_cost_incurred"].to_string(), "0.0");
        let mut tokens = 0;
        for _ in 0..2 {
            let input = json!({ "input": "hello", "streaming": false });
            let answer = ada.post(&server, &format!("{agent}/messages"), &input).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            tokens += answer.body["usage"]["total_tokens"].as_i64().unwrap();
        }
        let sums = ada.get(&server, &format!("{agent}/metrics")).await.body;
        assert_eq!((&sums["total_tasks_completed"], &sums["total_tokens_used"]), (&json!(2), &json!(tokens)));
        assert_eq!(sums["unpriced_models"], json!(["bulkhead/scripted"]));
        assert_eq!(sums["models"][0]["steps"], 2);
        let all = ada.get(&server, &format!("{project}/metrics")).await.body;
        assert_eq!(all, sums, "it is the only agent of its project");
        let runs = ada.get(&server, &format!("{agent}/runs")).await.body;
        assert_eq!(runs.as_array().unwrap().len(), 2);
        let run = ada.get(&server, &format!("{agent}/runs/{}", text(&runs[0]["id"]))).await;
        assert_eq!(run.body["status"], "completed");
    }

    async fn members_do_what_their_role_says_and_a_deleted_project_is_gone(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        assert_eq!(bob.get(&server, &project).await.status, 404);
        let member = format!("{project}/members/{}", bob.email);
        let role = |role: &str| Some(json!({ "role": role }));
        let put = ask(&server, Some(&ada.token), Method::PUT, &member, role("viewer").as_ref()).await;
        assert_eq!((put.status.as_u16(), &put.body["role"]), (200, &json!("viewer")), "{put:?}");
        assert_eq!(bob.get(&server, &project).await.body["role"], "viewer");
        let input = json!({ "input": "hello", "streaming": false });
        let messages = format!("{agent}/messages");
        assert_eq!(bob.post(&server, &messages, &input).await.refusal(), (403, "forbidden"));
        ask(&server, Some(&ada.token), Method::PUT, &member, role("member").as_ref()).await;
        assert_eq!(bob.post(&server, &messages, &input).await.status, 200);
        let owner = ask(&server, Some(&ada.token), Method::PUT, &member, role("owner").as_ref()).await;
        assert_eq!(owner.refusal(), (422, "invalid_body"));
        let list = bob.get(&server, "/api/v1/projects").await;
        assert_eq!(list.body["pagination"]["total"], 1);
        let out = ada.ask(&server, Method::DELETE, &member).await;
        assert_eq!(out.status, 200, "{out:?}");
        assert_eq!(bob.get(&server, &agent).await.status, 404);
        let slug = json!({ "name": "Again", "slug": "shop" });
        assert_eq!(ada.post(&server, "/api/v1/projects", &slug).await.refusal(), (409, "slug_taken"));
        assert_eq!(bob.post(&server, "/api/v1/projects", &slug).await.status, 201, "another owner's slug is free");
        assert_eq!(ada.ask(&server, Method::DELETE, &project).await.status, 200);
        assert_eq!(ada.get(&server, &project).await.status, 404);
        assert_eq!(ada.get(&server, &agent).await.status, 404);
        assert_eq!(ada.post(&server, "/api/v1/projects", &slug).await.status, 201);
    }
}

#[tokio::test]
async fn tokens_cost_what_the_operator_says() {
    let server = TestServer::start_with(|config| {
        let prices = json!({ "bulkhead/scripted": { "input": 1000.0, "output": 2000.0 } });
        config.prices = serde_json::from_value(prices).unwrap();
        config.token = Some("t0ken".to_owned());
    })
    .await;
    let ada = Person::new(&server, "ada").await;
    let body = type_body("helper");
    let of_type = ask(&server, Some("t0ken"), Method::POST, TYPES, Some(&body)).await;
    assert_eq!(of_type.status, 201, "{of_type:?}");
    let body = json!({ "name": "P", "slug": "p" });
    let project = ada.made(&server, "/api/v1/projects", &body).await;
    let agents = format!("/api/v1/projects/{}/agents", text(&project["id"]));
    let body = json!({ "agent_type_id": of_type.body["id"], "name": "A" });
    let made = ada.made(&server, &agents, &body).await;
    let agent = format!("{agents}/{}", text(&made["id"]));
    let input = json!({ "input": "hello", "streaming": false });
    let answer = ada
        .post(&server, &format!("{agent}/messages"), &input)
        .await;
    let tokens = |field: &str| answer.body["usage"][field].as_f64().unwrap();
    let expected = (tokens("prompt_tokens") * 1000.0 + tokens("completion_tokens") * 2000.0) / 1e6;
    let sums = ada.get(&server, &format!("{agent}/metrics")).await.body;
    let cost = sums["total_cost_incurred"].as_f64().unwrap();
    assert!(expected > 0.0 && (cost - expected).abs() < 1e-9, "{sums}");
    assert_eq!(sums["unpriced_models"], json!([]));
}
