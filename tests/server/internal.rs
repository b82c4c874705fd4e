//! Older paths to agents and blocks, as their own consoles ask.

use bulkhead_store::testing::Kind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    both::on_both,
    clients::{agent, detail, each, made, patched, read, text, told},
    messages::tool,
    support::{Answer, TestServer},
};

#[tokio::test]
async fn agents_and_blocks_are_reached_by_their_older_paths_too() {
    let server = TestServer::start().await;
    let more = json!({ "memory_blocks": [{ "label": "human", "value": "Bob" }] });
    let ada = agent(&server, more).await;
    agent(&server, json!({ "hidden": true })).await;
    for (query, expected) in [("", 1), ("?exclude_hidden=false", 2)] {
        let count = read(&server, &format!("/v1/_internal_agents/count{query}")).await;
        assert_eq!(count, expected, "{query}");
    }
    let own = format!("/v1/_internal_agents/{ada}/core-memory/blocks/human");
    let changed = patched(&server, &own, &json!({ "value": "Eve" })).await;
    assert_eq!(changed["value"], "Eve");
    let block = json!({ "label": "notes", "value": "none" });
    let notes = made(&server, "/v1/_internal_blocks/", &block).await;
    let list = read(&server, "/v1/_internal_blocks/?order=desc").await;
    assert_eq!(each(&list, "label"), ["notes", "human"]);
    let connected = "/v1/_internal_blocks?connected_to_agents_count_gt=0";
    assert_eq!(each(&read(&server, connected).await, "value"), ["Eve"]);
    let human = format!("/v1/_internal_blocks/{}", text(&changed["id"]));
    let agents = read(&server, &format!("{human}/agents")).await;
    assert_eq!(each(&agents, "id"), [ada]);
    let deleted = server
        .delete(&format!("/v1/_internal_blocks/{}", text(&notes["id"])))
        .await;
    assert_eq!((deleted.status.as_u16(), deleted.body), (200, Value::Null));
    let gone = server
        .get(&format!("/v1/blocks/{}", text(&notes["id"])))
        .await;
    assert_eq!(detail(&gone).0, 404);
    let warm = json!({ "collection": "messages", "scope": {} });
    let refused = server.post("/v1/_internal_search/cache-warm", &warm).await;
    assert_eq!(detail(&refused).0, 400);
}

async fn embeddings_take(server: &TestServer, unit: &str) -> Answer {
    let request = server.request(Method::GET, "/v1/embeddings/total_storage_size");
    let request = request.header("storage-unit", unit);
    Answer::read(request.send().await.unwrap()).await
}

on_both! {
    async fn vectors_of_passages_are_measured(server) {
        let size = async |unit| embeddings_take(&server, unit).await;
        assert_eq!(size("B").await.body, 0.0);
        let default = read(&server, "/v1/embeddings/total_storage_size").await;
        assert_eq!(default, 0.0);
        // Where no model of embeddings is, there are no vectors; two of 256 numbers each are put there.
        let archive = made(&server, "/v1/archives/", &json!({ "name": "notes" })).await;
        let path = format!("/v1/archives/{}/passages", text(&archive["id"]));
        for note in ["a", "b"] {
            made(&server, &path, &json!({ "text": note })).await;
        }
        let vector = "00".repeat(1024);
        let vector = match server.database().kind() {
            Kind::Sqlite => format!("X'{vector}'"),
            Kind::Postgres => format!("'\\x{vector}'::bytea"),
        };
        server.database().script(&format!("UPDATE passages SET embedding = {vector}")).await;
        for (unit, expected) in [("B", 2048.0), ("KB", 2.0), ("MB", 2.0 / 1024.0)] {
            assert_eq!(size(unit).await.body, expected, "{unit}");
        }
        assert_eq!(size("GiB").await.status, 400);
    }

    async fn runs_are_found_by_what_they_did(server) {
        let tool_id = tool(&server, "dice", "return 'four'").await;
        let more = json!({ "project_id": "shop", "base_template_id": "base", "tool_ids": [tool_id] });
        let agents = [agent(&server, more).await, agent(&server, json!({})).await];
        let mut runs = Vec::new();
        for (agent, input) in [(0, "hello"), (0, "call dice with {}"), (1, "wait 50")] {
            let path = format!("/v1/agents/{}/messages", agents[agent]);
            told(&server, &path, input).await;
            let newest = read(&server, "/v1/runs/?limit=1").await;
            runs.push(text(&newest[0]["id"]).to_owned());
        }
        let all = read(&server, "/v1/_internal_runs/?order_by=duration&order=asc").await;
        let durations: Vec<i64> = all.as_array().unwrap().iter()
            .map(|run| run["total_duration_ns"].as_i64().unwrap()).collect();
        let by_duration = each(&all, "id");
        let (middle, slowest) = (by_duration[1], by_duration[2]);
        let began = text(&all[0]["created_at"]).replace('+', "%2B");
        for (query, expected) in [
            (String::new(), vec![&*runs[0], &runs[1], &runs[2]]),
            (format!("run_id={}", runs[1]), vec![&*runs[1]]),
            ("run_id=nothing".to_owned(), vec![]),
            ("project_id=shop".to_owned(), vec![&*runs[0], &runs[1]]),
            ("template_family=base&agent_id=none".to_owned(), vec![]),
            ("template_family=base".to_owned(), vec![&*runs[0], &runs[1]]),
            ("step_count=2".to_owned(), vec![&*runs[1]]),
            ("step_count=1&step_count_operator=lte".to_owned(), vec![&*runs[0], &runs[2]]),
            ("step_count=1&step_count_operator=gte".to_owned(), vec![&*runs[0], &runs[1], &runs[2]]),
            ("tools_used=dice&tools_used=other".to_owned(), vec![&*runs[1]]),
            (format!("tools_used={tool_id}"), vec![&*runs[1]]),
            ("tools_used=ice".to_owned(), vec![]),
            (format!("duration_value={}&duration_operator=gt", durations[1]), vec![slowest]),
            (format!("duration_value={}&duration_operator=eq", durations[1]), vec![middle]),
            (format!("duration_value={}", durations[1]), vec![&*runs[0], &runs[1], &runs[2]]),
            ("duration_percentile=51".to_owned(), vec![slowest]),
            ("duration_percentile=100".to_owned(), vec![slowest]),
            ("duration_percentile=0".to_owned(), vec![&*runs[0], &runs[1], &runs[2]]),
            ("end_date=2001-01-01T00:00:00Z".to_owned(), vec![]),
            (format!("start_date={began}&run_id={}", text(&all[0]["id"])), vec![by_duration[0]]),
            ("start_date=2999-01-01T00:00:00Z".to_owned(), vec![]),
        ] {
            let found = read(&server, &format!("/v1/_internal_runs?order=asc&{query}")).await;
            assert_eq!(each(&found, "id"), expected, "{query}");
        }
        for query in ["step_count_operator=gt&step_count=1", "duration_operator=gte", "duration_percentile=101"] {
            let refused = server.get(&format!("/v1/_internal_runs/?{query}")).await;
            assert_eq!(detail(&refused).0, 422, "{query}");
        }
    }
}
