//! Runs and steps.

use bulkhead_store::testing::Kind;
use serde_json::{Value, json};

use super::{agent, outline, path, say, send, text, tool};
use crate::{
    both::on_both,
    clients::{read, told},
    consistency::agrees,
    conversations::begun,
    live::Live,
    support::TestServer,
};

fn ids(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list}"));
    list.iter().map(|entry| text(&entry["id"])).collect()
}

on_both! {
    async fn runs_are_listed_by_their_thread_and_by_how_they_went(server) {
        let agent = agent(&server, json!({})).await;
        say(&server, &agent, "say 1").await;
        let conversation = begun(&server, &agent).await;
        told(&server, &format!("{conversation}/messages"), "say 2").await;
        let body = json!({ "input": "say 3", "background": true });
        let mut live = Live::open(&server, &agent, &body).await;
        let background = live.run().await;
        live.end().await;
        send(&server, &agent, json!({ "input": "fail rate_limit" })).await;
        let all = read(&server, &format!("/v1/runs/?agent_id={agent}&order=asc")).await;
        let all = ids(&all);
        assert_eq!((all.len(), all[2]), (4, background.as_str()));
        let id = conversation.rsplit('/').next().unwrap();
        for (which, expected) in [
            ("background=true".to_owned(), &[2][..]),
            ("background=false".to_owned(), &[0, 1, 3]),
            ("stop_reason=end_turn".to_owned(), &[0, 1, 2]),
            ("stop_reason=llm_api_error".to_owned(), &[3]),
            ("stop_reason=cancelled".to_owned(), &[]),
            (format!("conversation_id={id}"), &[1]),
            ("conversation_id=default".to_owned(), &[0, 2, 3]),
            ("conversation_id=none".to_owned(), &[]),
        ] {
            let found = format!("/v1/runs/?agent_id={agent}&order=asc&{which}");
            let found = read(&server, &found).await;
            let expected: Vec<&str> = expected.iter().map(|at: &usize| all[*at]).collect();
            assert_eq!(ids(&found), expected, "{which}");
        }
    }

    async fn a_run_that_is_deleted_while_it_goes_on_is_cancelled_first(server) {
        let agent = agent(&server, json!({})).await;
        for background in [false, true] {
            let body = json!({ "input": "wait 60s\nsay late", "background": background });
            let mut live = Live::open(&server, &agent, &body).await;
            let run = format!("/v1/runs/{}", live.run().await);
            let deleted = server.delete(&run).await;
            assert_eq!((deleted.status.as_u16(), deleted.body), (200, Value::Null));
            assert_eq!(server.get(&run).await.status, 404);
            assert_eq!(outline(&live.end().await), ["ping", "stop_reason \"cancelled\""]);
            agrees(&server, &agent).await;
            say(&server, &agent, "say hi").await;
        }
    }
}

#[tokio::test]
async fn runs_and_steps_are_listed_by_what_they_are_of() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let twice = tool(&server, "twice", "return a + a").await;
        let ada = agent(&server, json!({ "tool_ids": [twice] })).await;
        let bob = agent(&server, json!({})).await;
        say(&server, &ada, "say 1").await;
        let answer = say(&server, &ada, "call twice with {\"a\":\"x\"}\nthen\nsay 2").await;
        say(&server, &bob, "say 3").await;
        let get = async |path: &str| server.get(path).await.body;
        let of_ada = get(&format!("/v1/runs/?agent_id={ada}")).await;
        assert_eq!(ids(&of_ada).len(), 2);
        let newest = text(&answer["messages"][0]["run_id"]);
        assert_eq!(ids(&of_ada)[0], newest);
        let both = format!("/v1/runs/?agent_ids={ada}&agent_ids={bob}");
        assert_eq!(ids(&get(&both).await).len(), 3);
        let page = get(&format!("/v1/runs/?agent_id={ada}&limit=1&order=asc")).await;
        let next = format!(
            "/v1/runs/?agent_id={ada}&order=asc&after={}",
            text(&page[0]["id"])
        );
        assert_eq!(ids(&get(&next).await), [newest]);
        assert!(ids(&get("/v1/runs/?statuses=failed").await).is_empty());
        assert!(ids(&get("/v1/runs/active").await).is_empty());
        let steps = get(&format!("/v1/runs/{newest}/steps")).await;
        assert_eq!(ids(&steps).len(), 2);
        assert_eq!(steps[1]["stop_reason"], Value::Null);
        assert_eq!(steps[0]["stop_reason"], "end_turn");
        assert_eq!(steps[0]["model_handle"], "bulkhead/scripted");
        assert_eq!(steps[1]["receipts"].as_array().unwrap().len(), 1);
        assert_eq!(
            ids(&get(&format!("/v1/steps/?agent_id={bob}")).await).len(),
            1
        );
        let usage = get(&format!("/v1/runs/{newest}/usage")).await;
        assert_eq!(usage["total_tokens"], answer["usage"]["total_tokens"]);
        let metrics = get(&format!("/v1/runs/{newest}/metrics")).await;
        assert_eq!(metrics["num_steps"], 2);
        assert_eq!(
            metrics["tools_used"].as_array().unwrap().len(),
            1,
            "{metrics}"
        );
        let deleted = server.delete(&format!("/v1/runs/{newest}")).await;
        assert_eq!((deleted.status.as_u16(), deleted.body), (200, Value::Null));
        assert_eq!(server.get(&format!("/v1/runs/{newest}")).await.status, 404);
    }
}

#[tokio::test]
async fn a_step_has_times_a_trace_and_what_people_say_of_it() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let answer = say(&server, &agent, "say hi").await;
    let step = format!("/v1/steps/{}", text(&answer["messages"][0]["step_id"]));
    let metrics = server.get(&format!("{step}/metrics")).await.body;
    assert!(metrics["llm_request_ns"].as_i64().unwrap() <= metrics["step_ns"].as_i64().unwrap());
    let trace = server.get(&format!("{step}/trace")).await.body;
    assert_eq!(trace["call_type"], "agent_step");
    assert!(trace["request_json"].is_object() && trace["response_json"].is_object());
    let messages = server.get(&format!("{step}/messages")).await.body;
    assert_eq!(
        super::kinds(&messages),
        ["user_message", "assistant_message"]
    );
    let said = json!({ "feedback": "positive", "tags": ["good"] });
    let noted = server.patch(&format!("{step}/feedback"), &said).await.body;
    assert_eq!(
        (&noted["feedback"], &noted["tags"]),
        (&json!("positive"), &json!(["good"]))
    );
    let found = server
        .get("/v1/steps/?feedback=positive&tags=good")
        .await
        .body;
    assert_eq!(ids(&found), [text(&noted["id"])]);
    let noted = server
        .patch(&format!("{step}/transaction/t-1"), &json!({}))
        .await
        .body;
    assert_eq!(noted["tid"], "t-1");
    let wrong = server
        .patch(&format!("{step}/feedback"), &json!({ "feedback": "so so" }))
        .await;
    assert_eq!(wrong.status, 422);
}

#[tokio::test]
async fn a_question_by_itself_leaves_nothing() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let asked = json!({ "prompt": "say Forty." });
    let answer = server
        .post(&format!("/v1/agents/{agent}/generate"), &asked)
        .await
        .body;
    assert_eq!(
        (&answer["content"], &answer["model"]),
        (&json!("Forty."), &json!("bulkhead/scripted"))
    );
    assert_eq!(
        super::kinds(&server.get(&path(&agent, "")).await.body),
        ["system_message"]
    );
}

#[tokio::test]
async fn an_agent_makes_its_context_shorter_when_it_is_told_to() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let nothing = server
        .post(&format!("/v1/agents/{agent}/summarize"), &json!({}))
        .await;
    assert_eq!(nothing.status, 400, "{nothing:?}");
    for input in ["say 1", "say 2", "say 3"] {
        say(&server, &agent, input).await;
    }
    let body = json!({ "compaction_settings": { "mode": "all" } });
    let report = server
        .post(&format!("/v1/agents/{agent}/summarize"), &body)
        .await
        .body;
    assert_eq!(
        (
            &report["num_messages_before"],
            &report["num_messages_after"]
        ),
        (&json!(7), &json!(2)),
        "{report}"
    );
    let state = server.get(&format!("/v1/agents/{agent}")).await.body;
    assert_eq!(state["message_ids"].as_array().unwrap().len(), 2);
}
