//! Streams of runs in the background that are left, rejoined by several, and expire.

use bulkhead_domain::Timestamp;
use serde_json::{Value, json};

use super::{Event, agent, detail, outline, path, say, text};
use crate::{
    both::on_both,
    clients::{NOBODY, read},
    consistency::{Snapshot, agrees, ended},
    live::Live,
    support::TestServer,
};

/// How long the contract has the events of a run kept, in minutes.
const KEPT: i64 = 180;

/// Makes a run older than it is.
async fn age(server: &TestServer, run: &str, minutes: i64) {
    let now = Timestamp::now().micros();
    let created = Timestamp::from_micros(now - minutes * 60 * 1_000_000);
    let document = match server.database().url().starts_with("sqlite") {
        true => format!("json_set(document, '$.created_at', '{created}')"),
        false => format!("jsonb_set(document::jsonb, '{{created_at}}', '\"{created}\"')::text"),
    };
    let micros = created.micros();
    let update =
        format!("UPDATE runs SET document = {document}, created_at = {micros} WHERE id = '{run}'");
    server.database().script(&update).await;
    let aged = read(server, &format!("/v1/runs/{run}")).await;
    let shown: Timestamp = text(&aged["created_at"]).parse().unwrap();
    assert_eq!(shown.micros(), micros, "{aged}");
}

async fn follow(server: &TestServer, run: &str, body: &Value) -> Vec<Event> {
    let path = format!("/v1/runs/{run}/stream");
    Live::post(server, &path, body).await.end().await
}

/// A run in the background, as soon as its client has left it.
async fn left(server: &TestServer, agent: &str, input: &str) -> String {
    let body = json!({ "input": input, "background": true, "stream_tokens": true });
    Live::open(server, agent, &body).await.run().await
}

on_both! {
    async fn several_readers_see_the_whole_of_a_run_that_was_left_or_what_they_miss(server) {
        let agent = agent(&server, json!({})).await;
        let run = left(&server, &agent, "pause 30ms\nsay one two three four five").await;
        let (all, some) = (json!({}), json!({ "starting_after": 3 }));
        let (first, second, third) = futures::join!(
            follow(&server, &run, &all),
            follow(&server, &run, &all),
            follow(&server, &run, &some),
        );
        let expected = [
            "ping",
            "assistant_message \"one \"",
            "assistant_message \"two \"",
            "assistant_message \"three \"",
            "assistant_message \"four \"",
            "assistant_message \"five\"",
            "stop_reason \"end_turn\"",
            "usage_statistics",
            "[DONE]",
        ];
        assert_eq!(outline(&first), expected);
        assert_eq!(first, second);
        assert_eq!(third, first[3..]);
        let numbers: Vec<_> = first[..6].iter().map(|(_, data)| data["seq_id"].as_i64()).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6].map(Some));
        assert_eq!(follow(&server, &run, &all).await, first);
        let quiet = json!({ "include_pings": false });
        assert_eq!(follow(&server, &run, &quiet).await, first[1..]);
        // Whoever has seen the end is told nothing, and not that something is missing.
        let (end, later) = (json!({ "starting_after": 7 }), json!({ "starting_after": 1_000 }));
        let nothing = futures::join!(follow(&server, &run, &end), follow(&server, &run, &later));
        assert_eq!(nothing, (Vec::new(), Vec::new()));
        agrees(&server, &agent).await;
    }

    async fn a_stream_that_expired_is_gone_and_its_messages_stay(server) {
        let agent = agent(&server, json!({})).await;
        let run = left(&server, &agent, "say hi").await;
        ended(&server, &run).await;
        let stream = format!("/v1/runs/{run}/stream");
        age(&server, &run, KEPT - 1).await;
        assert_eq!(server.post(&stream, &json!({})).await.status, 200);
        age(&server, &run, KEPT + 1).await;
        let before = Snapshot::of(&server, &agent).await;
        for body in [json!({}), json!({ "starting_after": 2 })] {
            let gone = server.post(&stream, &body).await;
            let expected = "Run was created more than 3 hours ago, and is now expired.";
            assert_eq!(detail(&gone), (410, expected));
        }
        before.is_now(&server).await;
        let kept = read(&server, &format!("/v1/runs/{run}/messages")).await;
        assert_eq!(super::kinds(&kept), ["user_message", "assistant_message"]);
    }

    async fn the_stream_of_an_old_run_that_goes_on_is_still_there(server) {
        let agent = agent(&server, json!({})).await;
        let run = left(&server, &agent, "wait 1s\nsay late").await;
        age(&server, &run, KEPT + 1).await;
        let seen = follow(&server, &run, &json!({})).await;
        assert_eq!(outline(&seen).last().unwrap(), "[DONE]");
        agrees(&server, &agent).await;
    }

    async fn a_run_without_a_stream_cannot_be_rejoined(server) {
        let agent = agent(&server, json!({})).await;
        let answer = say(&server, &agent, "say hi").await;
        let run = text(&answer["messages"][0]["run_id"]);
        let before = Snapshot::of(&server, &agent).await;
        let refused = server.post(&format!("/v1/runs/{run}/stream"), &json!({})).await;
        let expected = "INVALID_ARGUMENT: Run was not created in background mode, so it cannot be \
            retrieved.";
        assert_eq!(detail(&refused), (400, expected));
        let unknown = server.post(&format!("/v1/runs/run-{NOBODY}/stream"), &json!({})).await;
        assert_eq!(unknown.status, 404, "{unknown:?}");
        let wrong = json!({ "starting_after": "soon" });
        let wrong = server.post(&format!("/v1/runs/{run}/stream"), &wrong).await;
        assert_eq!(wrong.status, 422, "{wrong:?}");
        assert_eq!(server.post(&path(&agent, "/stream"), &json!({})).await.status, 422);
        before.is_now(&server).await;
    }
}
