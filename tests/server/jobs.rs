//! Runs in the form in which older clients know them, and what is reached by other paths.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    both::on_both,
    clients::read,
    messages::{agent, path, say, send, text},
    support::{Answer, TestServer},
};

fn texts(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list}"));
    list.iter()
        .map(|entry| text(&entry[field]).to_owned())
        .collect()
}

on_both! {
    async fn runs_are_listed_read_cancelled_and_deleted_as_jobs(server) {
        let agent = agent(&server, json!({})).await;
        say(&server, &agent, "say 1").await;
        send(&server, &agent, json!({ "input": "fail rate_limit" })).await;
        let runs = texts(&read(&server, "/v1/runs/").await, "id");
        let jobs = read(&server, "/v1/jobs/").await;
        assert_eq!((texts(&jobs, "id"), runs.len()), (runs.clone(), 2));
        assert_eq!(texts(&jobs, "status"), ["failed", "completed"]);
        assert_eq!(texts(&jobs, "job_type"), ["run", "run"]);
        assert_eq!(jobs[1]["agent_id"], agent.as_str());
        let oldest = read(&server, "/v1/jobs?order=asc&limit=1").await;
        assert_eq!(texts(&oldest, "id"), runs[1..]);
        for none in ["active=true", "source_id=source-1"] {
            let found = read(&server, &format!("/v1/jobs/?{none}")).await;
            assert_eq!(found, json!([]), "{none}");
        }
        let body = json!({ "messages": [{ "role": "user", "content": "wait 60s\nsay late" }] });
        let begun = server.post(&path(&agent, "/async"), &body).await;
        assert_eq!(begun.status, 200, "{begun:?}");
        let id = text(&begun.body["id"]);
        assert_eq!(texts(&read(&server, "/v1/jobs/active").await, "id"), [id]);
        let cancel = format!("/v1/jobs/{id}/cancel");
        let cancelled = server.request(Method::PATCH, &cancel).send().await.unwrap();
        let cancelled = Answer::read(cancelled).await;
        assert_eq!(cancelled.body["status"], "cancelled", "{cancelled:?}");
        let job = format!("/v1/jobs/{id}");
        assert_eq!(read(&server, &job).await["stop_reason"], "cancelled");
        let deleted = server.delete(&job).await;
        assert_eq!((deleted.status.as_u16(), text(&deleted.body["id"])), (200, id));
        for gone in [job.as_str(), "/v1/jobs/none"] {
            assert_eq!(server.get(gone).await.status, 404, "{gone}");
        }
    }
}

#[tokio::test]
async fn every_route_of_the_contract_is_below_latest_too_and_with_either_end() {
    let server = TestServer::start().await;
    for path in [
        "health",
        "ready",
        "tools",
        "tools/count",
        "sandbox-config",
        "agents",
        "jobs",
        "runs",
    ] {
        for base in ["/v1", "/latest"] {
            for end in ["", "/"] {
                let path = format!("{base}/{path}{end}");
                let answer = server.get(&path).await;
                assert_eq!(answer.status, 200, "{path}: {answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_values_that_a_block_had_are_listed_the_newest_first() {
    let server = TestServer::start().await;
    let body = json!({ "label": "human", "value": "one" });
    let block = server.post("/v1/blocks/", &body).await.body;
    let path = format!("/v1/blocks/{}", text(&block["id"]));
    for value in ["two", "three"] {
        let changed = server.patch(&path, &json!({ "value": value })).await;
        assert_eq!(changed.status, 200, "{changed:?}");
    }
    let history = format!("{path}/history");
    let all = read(&server, &history).await;
    assert_eq!(texts(&all, "value"), ["three", "two", "one"]);
    let newest = read(&server, &format!("{history}?limit=1")).await;
    assert_eq!(texts(&newest, "value"), ["three"]);
    let nobody = "/v1/blocks/block-00000000-0000-4000-8000-000000000000/history";
    assert_eq!(server.get(nobody).await.status, 404);
}

#[tokio::test]
async fn images_that_an_agent_begins_with_are_kept_as_those_that_are_sent() {
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let server = TestServer::start().await;
    let image = |data: &str| {
        json!({ "model": "bulkhead/scripted", "initial_message_sequence": [
            { "role": "user", "content": [
                { "type": "image", "source": {
                    "type": "base64", "media_type": "image/png", "data": data } },
            ] },
        ] })
    };
    let agent = agent(&server, image(PNG)).await;
    let listed = read(&server, &path(&agent, "?order=asc")).await;
    let source = &listed[1]["content"][0]["source"];
    assert_eq!(source["type"], "letta", "{listed}");
    assert!(text(&source["file_id"]).starts_with("file-"), "{source}");
    let refused = server.post("/v1/agents/", &image("no base64!")).await;
    assert_eq!(refused.status, 400, "{refused:?}");
}
