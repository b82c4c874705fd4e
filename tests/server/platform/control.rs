//! What the routes of the platform say and do while an agent works or waits for an approval.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, ask, project_with_agent};
use crate::{
    both::on_both,
    clients::{detail, each, events, text},
    messages::tool_with,
    support::TestServer,
};

/// An agent of a project, a tool of which waits for an approval: the agent's path and its id.
pub(super) async fn careful(
    server: &TestServer,
    root: &Person,
    owner: &Person,
) -> (String, String) {
    let waits = json!({ "default_requires_approval": true });
    let tool = tool_with(server, "secret", "return 'the secret ' + a", waits).await;
    let (_, agent) = project_with_agent(server, (root, owner), "shop").await;
    let id = agent.rsplit('/').next().unwrap().to_owned();
    let attach = format!("/v1/agents/{id}/tools/attach/{tool}");
    let attached = root.patch(server, &attach, &json!({})).await;
    assert_eq!(attached.status, 200, "{attached:?}");
    (agent, id)
}

pub(super) async fn status(server: &TestServer, person: &Person, agent: &str) -> String {
    let shown = person.get(server, agent).await.body;
    text(&shown["status"]).to_owned()
}

/// Sends a message, and gives the answer.
async fn said(server: &TestServer, person: &Person, messages: &str, input: &str) -> Value {
    let body = json!({ "input": input, "streaming": false });
    let answer = person.post(server, messages, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

fn stop(answer: &Value) -> &str {
    text(&answer["stop_reason"]["stop_reason"])
}

/// Has the agent's default thread wait for an approval; the id of the call.
pub(super) async fn waiting(server: &TestServer, person: &Person, agent: &str) -> String {
    let messages = format!("{agent}/messages");
    let asked = said(server, person, &messages, "call secret with {\"a\":\"x\"}").await;
    assert_eq!(stop(&asked), "requires_approval", "{asked}");
    let request = asked["messages"].as_array().unwrap().iter();
    let mut request =
        request.filter(|message| message["message_type"] == "approval_request_message");
    text(&request.next().unwrap()["tool_call"]["tool_call_id"]).to_owned()
}

/// Approves a call.
fn approval(call: &str) -> Value {
    json!({ "streaming": false, "messages": [{
        "type": "approval",
        "approvals": [{ "type": "approval", "tool_call_id": call, "approve": true }],
    }] })
}

async fn conversation(server: &TestServer, person: &Person, id: &str) -> String {
    let path = format!("/v1/conversations/?agent_id={id}");
    let made = person.post(server, &path, &json!({})).await;
    format!("/v1/conversations/{}", text(&made.body["id"]))
}

async fn control(server: &TestServer, person: &Person, agent: &str, action: &str) -> Value {
    let path = format!("{agent}/{action}");
    let done = person.ask(server, Method::POST, &path).await;
    assert_eq!(done.status, 200, "{done:?}");
    done.body["status"].clone()
}

on_both! {
    async fn an_approval_outlasts_a_pause_and_is_given_by_the_platform_s_route(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (agent, _) = careful(&server, &root, &ada).await;
        let call = waiting(&server, &ada, &agent).await;
        assert_eq!(status(&server, &ada, &agent).await, "waiting");
        assert_eq!(control(&server, &ada, &agent, "pause").await, "paused");
        let messages = format!("{agent}/messages");
        let refused = ada.post(&server, &messages, &approval(&call)).await;
        assert_eq!(detail(&refused).0, 409, "{refused:?}");
        assert_eq!(control(&server, &ada, &agent, "resume").await, "waiting");
        let done = ada.post(&server, &messages, &approval(&call)).await;
        assert_eq!(stop(&done.body), "end_turn", "{done:?}");
        assert!(done.text.contains("the secret x"), "{done:?}");
        assert_eq!(status(&server, &ada, &agent).await, "idle");
    }

    async fn what_a_conversation_does_hides_no_request_of_the_agent(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (agent, id) = careful(&server, &root, &ada).await;
        let other = conversation(&server, &ada, &id).await;
        let other = format!("{other}/messages");
        // One that waits itself, and then does not.
        let asked = said(&server, &ada, &other, "call secret with {\"a\":\"y\"}").await;
        assert_eq!(stop(&asked), "requires_approval");
        assert_eq!(status(&server, &ada, &agent).await, "waiting");
        let cancel = other.replace("/messages", "/cancel");
        let cancelled = ada.post(&server, &cancel, &json!({})).await;
        assert_eq!(cancelled.status, 200, "{cancelled:?}");
        assert_eq!(status(&server, &ada, &agent).await, "idle");
        let call = waiting(&server, &ada, &agent).await;
        assert_eq!(stop(&said(&server, &ada, &other, "hello").await), "end_turn");
        assert_eq!(status(&server, &ada, &agent).await, "waiting");
        let asked = said(&server, &ada, &other, "call secret with {\"a\":\"y\"}").await;
        assert_eq!(stop(&asked), "requires_approval");
        let cancelled = ada.post(&server, &cancel, &json!({})).await;
        assert_eq!(cancelled.status, 200, "{cancelled:?}");
        assert_eq!(status(&server, &ada, &agent).await, "waiting");
        let done = ada.post(&server, &format!("{agent}/messages"), &approval(&call)).await;
        assert_eq!(stop(&done.body), "end_turn", "{done:?}");
        assert_eq!(status(&server, &ada, &agent).await, "idle");
    }

    async fn a_refused_transition_names_the_state_that_is_shown(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (agent, _) = careful(&server, &root, &ada).await;
        let resume = async || {
            let refused = ada.ask(&server, Method::POST, &format!("{agent}/resume")).await;
            assert_eq!(refused.refusal(), (422, "invalid_transition"));
            let (state, words) = (&refused.body["error"]["state"], &refused.body["detail"]);
            (text(state).to_owned(), text(words).to_owned())
        };
        let words = |state: &str| (state.to_owned(), format!("the agent is {state}: it cannot be resumed"));
        assert_eq!(resume().await, words("idle"));
        waiting(&server, &ada, &agent).await;
        assert_eq!(resume().await, words("waiting"));
        let cancel = format!("{agent}/messages/cancel");
        assert_eq!(ada.post(&server, &cancel, &json!({})).await.status, 200);
        let begun = json!({ "input": "wait 60s" });
        let begun = ada.post(&server, &format!("{agent}/messages/async"), &begun).await;
        assert_eq!(begun.status, 200, "{begun:?}");
        assert_eq!(resume().await, words("working"));
        ada.post(&server, &cancel, &json!({})).await;
        let failed = ada.post(&server, &format!("{agent}/messages"),
            &json!({ "input": "fail server", "streaming": false })).await;
        assert!(failed.status.is_server_error(), "{failed:?}");
        assert_eq!(resume().await, words("error"));
    }

    async fn nobody_writes_how_the_last_run_of_an_agent_of_a_project_ended(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let v1 = format!("/v1/agents/{}", agent.rsplit('/').next().unwrap());
        let before = ada.get(&server, &v1).await.body;
        let lie = json!({ "last_stop_reason": "requires_approval", "description": "other",
            "last_run_completion": "2020-01-01T00:00:00Z", "last_run_duration_ms": 5 });
        let patched = ada.patch(&server, &v1, &lie).await;
        assert_eq!((patched.status.as_u16(), &patched.body["description"]), (200, &json!("other")));
        for field in ["last_stop_reason", "last_run_completion", "last_run_duration_ms"] {
            assert_eq!(patched.body[field], before[field], "{field}");
        }
        assert_eq!(status(&server, &ada, &agent).await, "idle");
        // An agent of no project has no status that this would falsify.
        let plain = json!({ "model": crate::clients::SCRIPTED });
        let plain = ada.post(&server, "/v1/agents/", &plain).await.body;
        let patched = ada.patch(&server, &format!("/v1/agents/{}", text(&plain["id"])), &lie).await;
        assert_eq!(patched.body["last_stop_reason"], "requires_approval", "{patched:?}");
    }

    async fn a_name_is_taken_by_spawning_and_renaming_alike(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let shown = ada.get(&server, &agent).await.body;
        let agents = format!("{project}/agents");
        let too_long = "a".repeat(129);
        for (name, is_taken) in [
            ("Zoë's agent-2_b", true), ("a/b", false), ("a.b", false), ("", false), ("a\nb", false),
            (too_long.as_str(), false), (&too_long[1..], true),
        ] {
            let body = json!({ "agent_type_id": shown["agent_type_id"], "name": name });
            let spawned = ada.post(&server, &agents, &body).await;
            let renamed = ada.patch(&server, &agent, &json!({ "name": name })).await;
            for (answer, good) in [(spawned, 201), (renamed, 200)] {
                if is_taken {
                    assert_eq!((answer.status.as_u16(), &answer.body["name"]), (good, &json!(name)));
                } else {
                    assert_eq!(answer.refusal(), (422, "invalid_body"), "{name:?}");
                    assert_eq!(answer.places(), ["/name"], "{name:?}");
                }
            }
        }
        let renamed = ada.get(&server, &agent).await.body;
        assert!(text(&renamed["updated_at"]) > text(&shown["updated_at"]), "{renamed}");
    }

    async fn streams_of_the_platform_s_routes_say_what_happens_and_end(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let input = json!({ "input": "say streamed" });
        let streamed = ada.post(&server, &format!("{agent}/messages/stream"), &input).await;
        let heard = events(&streamed);
        let kinds: Vec<&str> = heard.iter().filter_map(|event| event["message_type"].as_str()).collect();
        for kind in ["assistant_message", "stop_reason", "usage_statistics"] {
            assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
        }
        assert!(streamed.text.contains("streamed"), "{streamed:?}");
        assert_eq!(heard.last(), Some(&json!("[DONE]")));
        let input = json!({ "input": "say from behind" });
        let run = ada.post(&server, &format!("{agent}/messages/async"), &input).await.body;
        let stream = format!("{agent}/runs/{}/stream", text(&run["id"]));
        // Once while it goes on, perhaps, and once when it has ended for sure.
        for _ in 0..2 {
            let answer = ada.post(&server, &stream, &json!({})).await;
            let heard = events(&answer);
            assert!(answer.text.contains("from behind"), "{answer:?}");
            assert!(heard.iter().any(|event| event["stop_reason"] == "end_turn"), "{heard:?}");
            assert_eq!(heard.last(), Some(&json!("[DONE]")));
        }
        let bob = Person::new(&server, "bob").await;
        assert_eq!(bob.post(&server, &stream, &json!({})).await.status, 404);
    }

    async fn a_run_of_another_agent_is_no_cursor(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (_, of_ada) = project_with_agent(&server, (&root, &ada), "shop").await;
        let (_, of_bob) = project_with_agent(&server, (&root, &bob), "lab").await;
        for (person, agent) in [(&ada, &of_ada), (&bob, &of_bob)] {
            said(&server, person, &format!("{agent}/messages"), "hello").await;
        }
        let runs = bob.get(&server, &format!("{of_bob}/runs")).await.body;
        let (foreign, unknown) = (each(&runs, "id")[0].to_owned(), format!("run-{}", crate::clients::NOBODY));
        for cursor in ["after", "before"] {
            let refused = async |id: &str| {
                let path = format!("{of_ada}/runs?{cursor}={id}");
                let refused = ada.get(&server, &path).await;
                assert_eq!(refused.status, 404, "{refused:?}");
                refused.text.replace(id, "it")
            };
            assert_eq!(refused(&foreign).await, refused(&unknown).await);
            let own = bob.get(&server, &format!("{of_bob}/runs?{cursor}={foreign}")).await;
            assert_eq!((own.status.as_u16(), &own.body), (200, &json!([])), "{own:?}");
        }
    }
}

#[tokio::test]
async fn a_pause_waits_once_for_all_runs_of_another_server() {
    let kind = bulkhead_store::testing::Kind::Postgres;
    let Some(server) = TestServer::start_kind(kind).await else {
        return;
    };
    let other = server.beside().await;
    let root = Person::superuser(&server, "root").await;
    let ada = Person::new(&server, "ada").await;
    let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
    let id = agent.rsplit('/').next().unwrap();
    let mut runs = Vec::new();
    for _ in 0..20 {
        let messages = format!("{}/messages", conversation(&server, &ada, id).await);
        let body = json!({ "input": "wait 60s", "background": true });
        let request = other
            .request(Method::POST, &messages)
            .bearer_auth(&ada.token);
        let begun = request.json(&body).send().await.unwrap();
        assert_eq!(begun.status(), 200);
        // Nobody reads its stream, and it goes on.
        runs.push(begun);
    }
    assert_eq!(status(&server, &ada, &agent).await, "working");
    let began = Instant::now();
    let paused = ask(
        &server,
        Some(&ada.token),
        Method::POST,
        &format!("{agent}/pause"),
        None,
    )
    .await;
    assert_eq!(paused.body["status"], "paused", "{paused:?}");
    // One after another they take some half a second each.
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    let active = ada
        .get(&server, &format!("{agent}/runs?limit=100"))
        .await
        .body;
    assert_eq!(each(&active, "status"), vec!["cancelled"; 20]);
}
