//! Between steps: what was done stays whole, and nothing follows.

use std::time::Duration;

use serde_json::{Value, json};

use super::{active, busy_agent, cancel, ends_cancelled, is_cancelled, sent};
use crate::{
    both::on_both,
    clients::read,
    consistency::{agrees, ended},
    live::Live,
    messages::{kinds, outline, path, stop, text},
    support::TestServer,
};

/// The messages of a run but what the user said.
async fn stored(server: &TestServer, run: &str) -> Vec<Value> {
    let stored = read(server, &format!("/v1/runs/{run}/messages?limit=1000")).await;
    let Value::Array(mut stored) = stored else {
        panic!("a list: {stored}")
    };
    stored.retain(|message| message["message_type"] != "user_message");
    stored
}

on_both! {
    async fn an_answer_as_a_whole_has_exactly_what_was_stored(server) {
        let agent = busy_agent(&server).await;
        // After the first step, and at any moment of many.
        for (input, after) in [
            ("call twice with {\"a\":\"x\"}\nthen\nwait 20s\nsay late", 300),
            ("call twice with {\"a\":\"x\"}\nrepeat", 100),
            ("wait 3ms\ncall twice with {\"a\":\"x\"}\nrepeat", 57),
            ("call twice with {\"a\":\"x\"}\nrepeat", 31),
        ] {
            let body = json!({ "input": input, "max_steps": 10_000 });
            let waiting = sent(&server, &agent, &body);
            let run = active(&server, &agent, 1).await.remove(0);
            tokio::time::sleep(Duration::from_millis(after)).await;
            assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }));
            let answer = waiting.await.unwrap().body;
            assert_eq!(stop(&answer), "cancelled");
            assert_eq!(*answer["messages"].as_array().unwrap(), stored(&server, &run).await);
            is_cancelled(&server, &agent, &run).await;
        }
    }

    async fn a_stream_has_the_steps_that_are_done_whole_and_nothing_of_the_next(server) {
        let agent = busy_agent(&server).await;
        for background in [false, true] {
            let body = json!({
                "input": "say Look:\ncall twice with {\"a\":\"x\"}\nthen\nwait 20s\nsay late",
                "background": background,
            });
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            stream.until("tool_return_message").await;
            cancel(&server, &agent).await;
            let seen = stream.end().await;
            assert_eq!(
                outline(&seen),
                [
                    "ping",
                    "assistant_message \"Look:\"",
                    r#"tool_call_message {"arguments":"{\"a\":\"x\"}","name":"twice"}"#,
                    "tool_return_message \"xx\"",
                    "stop_reason \"cancelled\"",
                ]
            );
            ends_cancelled(&seen);
            let stored = stored(&server, &run).await;
            let expected = ["assistant_message", "tool_call_message", "tool_return_message"];
            assert_eq!(kinds(&json!(stored)), expected);
            is_cancelled(&server, &agent, &run).await;
        }
    }

    async fn at_the_limit_of_steps_either_reason_is_the_truth(server) {
        let agent = busy_agent(&server).await;
        for after in [0, 5, 10, 20, 40, 80] {
            let body = json!({ "input": "call twice with {\"a\":\"x\"}\nrepeat", "max_steps": 2 });
            let waiting = sent(&server, &agent, &body);
            tokio::time::sleep(Duration::from_millis(after)).await;
            let cancelled = server.post(&path(&agent, "/cancel"), &json!({})).await;
            let answer = waiting.await.unwrap().body;
            let newest = read(&server, &format!("/v1/runs/?agent_id={agent}&limit=1")).await;
            let run = ended(&server, text(&newest[0]["id"])).await;
            assert_eq!(run["stop_reason"], answer["stop_reason"]["stop_reason"]);
            match stop(&answer) {
                "cancelled" => assert_eq!(run["status"], "cancelled"),
                "max_steps" => assert_eq!(run["status"], "completed"),
                other => panic!("{other}: {cancelled:?}"),
            }
            agrees(&server, &agent).await;
        }
    }
}
