//! Agents and conversations that are deleted, or lose their history, while they work.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    both::on_both,
    clients::{detail, each, made, patched, read},
    consistency::agrees,
    conversations::begun,
    live::Live,
    messages::{agent, kinds, outline, path, say, stop, text, tool},
    support::TestServer,
};

/// How a stream of a cancelled run ends.
const CANCELLED: &str = "stop_reason \"cancelled\"";

/// Fails unless the server has nothing of an agent any more.
async fn is_gone(server: &TestServer, agent: &str, run: &str) {
    for path in [
        format!("/v1/agents/{agent}"),
        path(agent, ""),
        format!("/v1/runs/{run}"),
    ] {
        assert_eq!(detail(&server.get(&path).await).0, 404, "{path}");
    }
    for list in ["runs", "steps"] {
        let list = format!("/v1/{list}/?agent_id={agent}");
        assert_eq!(read(server, &list).await, json!([]), "{list}");
    }
    let again = json!({ "input": "say hi" });
    let again = server.post(&path(agent, ""), &again).await;
    assert_eq!(detail(&again).0, 404);
}

/// The last event of a stream.
async fn last(stream: Live) -> String {
    let events = stream.end().await;
    outline(&events).pop().unwrap()
}

on_both! {
    async fn a_run_is_cancelled_when_its_agent_is_deleted(server) {
        let spin = tool(&server, "spin", "while (true) {}").await;
        for (input, seen) in [("wait 60s\nsay hi", None), ("call spin", Some("tool_call_message"))] {
            for background in [false, true] {
                let agent = agent(&server, json!({ "tool_ids": [spin] })).await;
                let body = json!({ "input": input, "background": background });
                let mut stream = Live::open(&server, &agent, &body).await;
                let run = stream.run().await;
                if let Some(seen) = seen {
                    stream.until(seen).await;
                }
                let deleted = server.delete(&format!("/v1/agents/{agent}")).await;
                let said = format!("Agent id={agent} successfully deleted");
                assert_eq!(deleted.body["message"], said, "{deleted:?}");
                assert_eq!(last(stream).await, CANCELLED, "{input}, {background}");
                is_gone(&server, &agent, &run).await;
            }
        }
    }

    async fn what_an_agent_s_conversations_have_for_themselves_goes_with_it(server) {
        let blocks = json!([{ "label": "human", "value": "Bob" }]);
        let agent = agent(&server, json!({ "memory_blocks": blocks })).await;
        let body = json!({ "isolated_block_labels": ["human"] });
        let made = made(&server, &format!("/v1/conversations/?agent_id={agent}"), &body).await;
        let isolated = format!("/v1/blocks/{}", text(&made["isolated_block_ids"][0]));
        assert_eq!(read(&server, &isolated).await["value"], "Bob");
        server.delete(&format!("/v1/agents/{agent}")).await;
        assert_eq!(detail(&server.get(&isolated).await).0, 404);
        let shared = read(&server, "/v1/blocks/?label=human").await;
        assert_eq!(each(&shared, "value"), ["Bob"], "the agent's own stays");
    }

    async fn only_the_run_of_a_deleted_conversation_is_cancelled(server) {
        let agent = agent(&server, json!({})).await;
        let (one, other) = (begun(&server, &agent).await, begun(&server, &agent).await);
        let mut streams = Vec::new();
        for path in [format!("{one}/messages"), format!("{other}/messages")] {
            let body = json!({ "input": "wait 2s\nsay hi" });
            let mut stream = Live::post(&server, &path, &body).await;
            stream.run().await;
            streams.push(stream);
        }
        let deleted = server.delete(&one).await;
        assert_eq!((deleted.status.as_u16(), deleted.body), (200, Value::Null));
        assert_eq!(detail(&server.get(&one).await).0, 404);
        let [deleted, stayed] = <[Live; 2]>::try_from(streams).ok().unwrap();
        assert_eq!(last(deleted).await, CANCELLED);
        assert_eq!(last(stayed).await, "[DONE]");
        let statuses = read(&server, &format!("/v1/runs/?agent_id={agent}&order=asc")).await;
        assert_eq!(each(&statuses, "status"), ["cancelled", "completed"]);
    }

    async fn everybody_who_follows_a_run_hears_that_it_was_cancelled_when_it_is_deleted(server) {
        let spin = tool(&server, "spin", "while (true) {}").await;
        let agent = agent(&server, json!({ "tool_ids": [spin] })).await;
        let slow = "pause 50ms\nsay ".to_owned() + &"word ".repeat(1_000);
        for (input, seen) in [(&*slow, "assistant_message"), ("call spin", "tool_call_message")] {
            let body = json!({ "input": input, "background": true, "stream_tokens": true });
            let mut began = Live::open(&server, &agent, &body).await;
            let run = format!("/v1/runs/{}", began.run().await);
            began.until(seen).await;
            let again = json!({ "starting_after": 1 });
            let mut rejoined = Live::post(&server, &format!("{run}/stream"), &again).await;
            rejoined.until(seen).await;
            // One that waits for its turn is deleted without any.
            for background in [false, true] {
                let body = json!({ "input": "say next", "background": background });
                let mut waiting = Live::open(&server, &agent, &body).await;
                let waits = format!("/v1/runs/{}", waiting.run().await);
                assert_eq!(server.delete(&waits).await.status, 200);
                assert_eq!(outline(&waiting.end().await), ["ping", CANCELLED]);
                assert_eq!(server.get(&waits).await.status, 404);
            }
            assert_eq!(read(&server, &run).await["status"], "running");
            assert_eq!(server.delete(&run).await.status, 200);
            for stream in [began, rejoined] {
                let events = outline(&stream.end().await);
                let reasons = events.iter().filter(|event| event.starts_with("stop_reason"));
                assert_eq!(reasons.count(), 1, "{events:?}");
                assert_eq!(events.last().unwrap(), CANCELLED);
            }
            for path in [run.clone(), format!("{run}/messages"), format!("{run}/usage")] {
                assert_eq!(server.get(&path).await.status, 404, "{path}");
            }
            let gone = server.post(&format!("{run}/stream"), &json!({})).await;
            assert_eq!(gone.status, 404, "{gone:?}");
            agrees(&server, &agent).await;
            assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
        }
        assert_eq!(read(&server, "/v1/runs/active").await, json!([]));
    }

    async fn a_history_is_dropped_when_the_run_that_goes_on_has_ended(server) {
        let agent = agent(&server, json!({})).await;
        say(&server, &agent, "say before").await;
        let body = json!({ "input": "wait 1s\nsay meanwhile" });
        let mut stream = Live::open(&server, &agent, &body).await;
        let run = stream.run().await;
        let reset = format!("/v1/agents/{agent}/reset-messages");
        let body = json!({ "add_default_initial_messages": false });
        let after = patched(&server, &reset, &body);
        let after = tokio::time::timeout(Duration::from_secs(20), after).await.unwrap();
        assert_eq!(read(&server, &format!("/v1/runs/{run}")).await["status"], "completed");
        assert_eq!(last(stream).await, "[DONE]");
        let listed = read(&server, &path(&agent, "")).await;
        assert_eq!(kinds(&listed), ["system_message"]);
        assert_eq!(after["message_ids"], json!(each(&listed, "id")));
        say(&server, &agent, "say afterwards").await;
    }
}
