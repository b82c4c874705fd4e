//! Ids of other people's things in the routes of the platform and in bodies: what answers like nothing.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, ask, project_with_agent};
use crate::{
    both::on_both,
    clients::{NOBODY, SCRIPTED, text},
    support::{Answer, TestServer},
};

/// Every route to an agent of a project, with a body that is taken.
const ROUTES: [(Method, &str, &str); 13] = [
    (Method::GET, "", "null"),
    (Method::PATCH, "", r#"{"name": "Taken"}"#),
    (Method::DELETE, "", "null"),
    (Method::POST, "/pause", "null"),
    (Method::POST, "/resume", "null"),
    (Method::GET, "/metrics", "null"),
    (Method::GET, "/messages", "null"),
    (
        Method::POST,
        "/messages",
        r#"{"input": "hello", "streaming": false}"#,
    ),
    (Method::POST, "/messages/stream", r#"{"input": "hello"}"#),
    (Method::POST, "/messages/async", r#"{"input": "hello"}"#),
    (Method::POST, "/messages/cancel", "{}"),
    (Method::GET, "/runs", "null"),
    (Method::GET, "/runs/{run}", "null"),
];

async fn asked(
    server: &TestServer,
    person: &Person,
    method: &Method,
    path: &str,
    body: &str,
) -> Answer {
    let body: Value = serde_json::from_str(body).unwrap();
    let body = (!body.is_null()).then_some(&body);
    ask(server, Some(&person.token), method.clone(), path, body).await
}

/// The last part of a path.
fn id(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// A run of an agent that goes on, its id.
async fn working(server: &TestServer, person: &Person, agent: &str) -> String {
    let body = json!({ "input": "wait 60s" });
    let begun = person
        .post(server, &format!("{agent}/messages/async"), &body)
        .await;
    assert_eq!(begun.status, 200, "{begun:?}");
    text(&begun.body["id"]).to_owned()
}

/// A body that names this id.
type Body<'a> = Box<dyn Fn(&str) -> Value + 'a>;

on_both! {
    async fn an_agent_of_another_project_is_not_there_in_ones_own(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (_, of_ada) = project_with_agent(&server, (&root, &ada), "shop").await;
        let (of_bob, own) = project_with_agent(&server, (&root, &bob), "lab").await;
        let (_, second) = project_with_agent(&server, (&root, &bob), "attic").await;
        let before = ada.get(&server, &of_ada).await.body;
        // Somebody else's agent, and one's own of another project.
        for (foreign, run) in [
            (&of_ada, working(&server, &ada, &of_ada).await),
            (&second, working(&server, &bob, &second).await),
        ] {
            let unknown = format!("agent-{NOBODY}");
            for (method, rest, body) in &ROUTES {
                let rest = rest.replace("{run}", &run);
                for person in [&bob, &root] {
                    let path = |agent: &str| format!("{of_bob}/agents/{agent}{rest}");
                    let refused = asked(&server, person, method, &path(id(foreign)), body).await;
                    assert_eq!(refused.status, 404, "{method} {rest}: {refused:?}");
                    let none = asked(&server, person, method, &path(&unknown), body).await;
                    assert_eq!(refused.text, none.text.replace(&unknown, id(foreign)), "{method} {rest}");
                }
            }
        }
        let after = ada.get(&server, &of_ada).await.body;
        assert_eq!((&after["name"], &after["status"]), (&before["name"], &json!("working")));
        assert_eq!(bob.get(&server, &own).await.body["status"], "idle");
    }

    async fn a_run_of_another_agent_is_not_there_for_ones_own(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (_, of_ada) = project_with_agent(&server, (&root, &ada), "shop").await;
        let (_, own) = project_with_agent(&server, (&root, &bob), "lab").await;
        let (_, second) = project_with_agent(&server, (&root, &bob), "attic").await;
        let unknown = format!("run-{NOBODY}");
        for (owner, agent) in [(&ada, &of_ada), (&bob, &second)] {
            let run = working(&server, owner, agent).await;
            for (method, path, body) in [
                (Method::GET, "/runs/{run}", "null"),
                (Method::POST, "/runs/{run}/stream", "{}"),
                (Method::POST, "/messages/cancel", r#"{"run_ids": ["{run}"]}"#),
            ] {
                let (path, body) = (format!("{own}{path}"), body);
                let refused = asked(&server, &bob, &method, &path.replace("{run}", &run), &body.replace("{run}", &run)).await;
                let none = asked(&server, &bob, &method, &path.replace("{run}", &unknown), &body.replace("{run}", &unknown)).await;
                assert_eq!((refused.status, &refused.text), (none.status, &none.text.replace(&unknown, &run)), "{path}");
                if path.contains("/runs/") {
                    assert_eq!(refused.status, 404, "{path}: {refused:?}");
                }
            }
            let shown = owner.get(&server, &format!("{agent}/runs/{run}")).await.body;
            assert!(["created", "running"].contains(&text(&shown["status"])), "{shown}");
        }
    }

    async fn ids_of_others_are_ids_of_nothing_in_every_body(server) {
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let made = async |person: &Person, path: &str, body: Value| {
            let made = person.post(&server, path, &body).await;
            assert_eq!(made.status, 200, "{path}: {made:?}");
            text(&made.body["id"]).to_owned()
        };
        let config = json!({ "embedding_endpoint_type": "openai", "embedding_model": "m", "embedding_dim": 8 });
        let agent = json!({ "model": SCRIPTED, "include_base_tools": false });
        let foreign_agent = made(&ada, "/v1/agents/", agent.clone()).await;
        let foreign_block = made(&ada, "/v1/blocks/", json!({ "label": "l", "value": "private" })).await;
        let foreign_folder = made(&ada, "/v1/folders/", json!({ "name": "f", "embedding_config": config })).await;
        let foreign_archive = made(&ada, "/v1/archives/", json!({ "name": "private" })).await;
        let own = made(&bob, "/v1/agents/", agent).await;
        let group = made(&bob, "/v1/groups/", json!({ "agent_ids": [own], "description": "d" })).await;
        let run = made(&ada, &format!("/v1/agents/{foreign_agent}/messages/async"), json!({ "input": "wait 60s" })).await;
        let with = |field: &str, id: &str| json!({ "model": SCRIPTED, "include_base_tools": false, field: [id] });
        let manager = |id: &str| json!({ "agent_ids": [own], "description": "d",
            "manager_config": { "manager_type": "supervisor", "manager_agent_id": id } });
        let agents = "/v1/agents/".to_owned();
        let of_own = format!("/v1/agents/{own}");
        let cases: Vec<(Method, String, &str, Body<'_>)> = vec![
            (Method::POST, agents.clone(), &foreign_block, Box::new(|id| with("block_ids", id))),
            (Method::POST, agents.clone(), &foreign_folder, Box::new(|id| with("source_ids", id))),
            (Method::POST, agents.clone(), &foreign_folder, Box::new(|id| with("folder_ids", id))),
            (Method::POST, agents, &foreign_archive, Box::new(|id| with("archive_ids", id))),
            (Method::PATCH, of_own.clone(), &foreign_block, Box::new(|id| json!({ "block_ids": [id] }))),
            (Method::PATCH, of_own.clone(), &foreign_folder, Box::new(|id| json!({ "source_ids": [id] }))),
            (Method::POST, "/v1/groups/".to_owned(), &foreign_agent, Box::new(|id| json!({ "agent_ids": [id], "description": "d" }))),
            (Method::POST, "/v1/groups/".to_owned(), &foreign_agent, Box::new(manager)),
            (Method::PATCH, format!("/v1/groups/{group}"), &foreign_agent, Box::new(|id| json!({ "agent_ids": [id] }))),
            (Method::POST, format!("{of_own}/messages/cancel"), &run, Box::new(|id| json!({ "run_ids": [id] }))),
            (Method::POST, "/v1/conversations/default/messages".to_owned(), &foreign_agent,
                Box::new(|id| json!({ "agent_id": id, "input": "hello", "streaming": false }))),
            (Method::POST, "/v1/conversations/default/stream".to_owned(), &run, Box::new(|id| json!({ "run_id": id }))),
        ];
        for (method, path, foreign, body) in cases {
            let unknown = format!("{}-{NOBODY}", foreign.split('-').next().unwrap());
            let asked = async |id: &str| ask(&server, Some(&bob.token), method.clone(), &path, Some(&body(id))).await;
            let (refused, none) = (asked(foreign).await, asked(&unknown).await);
            assert_eq!(refused.status, none.status, "{method} {path} {foreign}: {refused:?} {none:?}");
            assert!(!refused.text.contains("private"), "{refused:?}");
            if refused.status.is_success() {
                // A field that says nothing here is no way to a thing either.
                assert!(!refused.text.contains(foreign), "{method} {path}: {refused:?}");
            } else {
                assert_eq!(refused.text, none.text.replace(&unknown, foreign), "{method} {path}");
            }
        }
        let shown = ada.get(&server, &format!("/v1/runs/{run}")).await.body;
        assert!(["created", "running"].contains(&text(&shown["status"])), "{shown}");
        let blocks = bob.get(&server, &format!("{of_own}/core-memory/blocks")).await;
        assert!(!blocks.text.contains("private"), "{blocks:?}");
    }

    async fn a_trace_is_shown_by_both_of_its_names_to_whose_it_is(server) {
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let agent = ada.post(&server, "/v1/agents/", &json!({ "model": SCRIPTED, "include_base_tools": false })).await;
        let messages = format!("/v1/agents/{}/messages", text(&agent.body["id"]));
        let said = ada.post(&server, &messages, &json!({ "input": "hello", "streaming": false })).await;
        let step = text(&said.body["messages"][0]["step_id"]).to_owned();
        let names = [format!("/v1/steps/{step}/trace"), format!("/v1/telemetry/{step}")];
        let shown = ada.get(&server, &names[0]).await;
        assert_eq!((shown.status.as_u16(), &shown.body["step_id"]), (200, &json!(step)), "{shown:?}");
        let other = ada.get(&server, &names[1]).await;
        assert_eq!((other.status, &other.body), (shown.status, &shown.body));
        for name in &names {
            let refused = bob.get(&server, name).await;
            assert_eq!(refused.status, 404, "{name}: {refused:?}");
        }
    }

    async fn where_a_run_is_reported_is_shown_to_who_may_send(server) {
        let root = Person::superuser(&server, "root").await;
        let owner = Person::new(&server, "owner").await;
        let (project, agent) = project_with_agent(&server, (&root, &owner), "shop").await;
        let receiver = "http://127.0.0.1:9/hook?key=s3cret-key";
        let body = json!({ "input": "hello", "callback_url": receiver });
        let begun = owner.post(&server, &format!("{agent}/messages/async"), &body).await;
        assert_eq!(begun.status, 200, "{begun:?}");
        let run = text(&begun.body["id"]);
        for (role, is_shown) in [("viewer", false), ("member", true)] {
            let person = Person::new(&server, role).await;
            let path = format!("{project}/members/{}", person.email);
            ask(&server, Some(&owner.token), Method::PUT, &path, Some(&json!({ "role": role }))).await;
            for path in [format!("{agent}/runs"), format!("{agent}/runs/{run}")] {
                let shown = person.get(&server, &path).await;
                assert_eq!(shown.status, 200, "{role}: {shown:?}");
                assert_eq!(shown.text.contains("s3cret-key"), is_shown, "{role} {path}: {shown:?}");
            }
        }
        for person in [&owner, &root] {
            let shown = person.get(&server, &format!("{agent}/runs/{run}")).await.body;
            assert_eq!(shown["callback_url"], receiver);
        }
    }
}
