//! While the model answers: nothing of the step is stored, of a first step not even its input.

use serde_json::json;

use super::{active, busy_agent, cancel, ends_cancelled, is_cancelled, sent};
use crate::{
    both::on_both,
    consistency::history,
    live::Live,
    messages::{events, kinds, outline},
};

on_both! {
    async fn a_stream_of_pieces_ends_with_one_reason_after_those_that_came(server) {
        let agent = busy_agent(&server).await;
        for (background, input) in [
            (false, "pause 50ms\nthink one two three four five six seven eight nine ten"),
            (true, "pause 50ms\nsay one two three four five six seven eight nine ten"),
            (true, "pause 200ms\ncall twice with {\"a\":\"a long text that is cut\"}"),
        ] {
            let before = history(&server, &agent).await;
            let body = json!({ "input": input, "stream_tokens": true, "background": background });
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            let (_, piece) = stream.next().await.unwrap();
            assert_ne!(piece["message_type"], "stop_reason");
            assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }));
            let seen = stream.end().await;
            ends_cancelled(&seen);
            assert_eq!(history(&server, &agent).await, before);
            if background {
                // One that comes back sees the same.
                let path = format!("/v1/runs/{run}/stream");
                let again = server.post(&path, &json!({})).await;
                assert_eq!(outline(&events(&again)), outline(&seen));
            }
            is_cancelled(&server, &agent, &run).await;
        }
    }

    async fn a_stream_of_messages_and_an_answer_as_a_whole_end_at_once(server) {
        let agent = busy_agent(&server).await;
        let body = json!({ "input": "wait 20s\nsay late" });
        for background in [false, true] {
            let mut body = body.clone();
            body["background"] = json!(background);
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            cancel(&server, &agent).await;
            let seen = stream.end().await;
            assert_eq!(outline(&seen), ["ping", "stop_reason \"cancelled\""]);
            is_cancelled(&server, &agent, &run).await;
        }
        let waiting = sent(&server, &agent, &body);
        let run = active(&server, &agent, 1).await.remove(0);
        cancel(&server, &agent).await;
        let answer = waiting.await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.body["stop_reason"]["stop_reason"], "cancelled");
        assert_eq!(answer.body["messages"], json!([]));
        is_cancelled(&server, &agent, &run).await;
        let listed = history(&server, &agent).await;
        // What [`is_cancelled`] said, and nothing else.
        let expected = ["user_message", "assistant_message"].repeat(3);
        assert_eq!(kinds(&listed)[1..], expected);
    }

    async fn a_run_for_which_nobody_waits_is_cancelled_too(server) {
        let agent = busy_agent(&server).await;
        let body = json!({ "input": "wait 20s\nsay late" });
        let run = server.post(&crate::messages::path(&agent, "/async"), &body).await.body;
        let run = crate::messages::text(&run["id"]).to_owned();
        assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }));
        is_cancelled(&server, &agent, &run).await;
    }
}
