//! Before the first step: the run waits until another one of its agent has ended.

use serde_json::json;

use super::{active, busy_agent, cancel, ends_cancelled, is_cancelled, sent};
use crate::{
    both::on_both,
    consistency::{agrees, ended, history, state},
    live::Live,
    messages::{kinds, path},
};

on_both! {
    async fn a_run_that_has_not_begun_leaves_nothing_and_the_one_before_it_goes_on(server) {
        let agent = busy_agent(&server).await;
        let first = sent(&server, &agent, &json!({ "input": "wait 3s\nsay first" }));
        let first_run = active(&server, &agent, 1).await.remove(0);
        let mut second = Live::open(&server, &agent, &json!({ "input": "say second" })).await;
        let second_run = second.run().await;
        let body = json!({ "run_ids": [second_run] });
        let cancelled = server.post(&path(&agent, "/cancel"), &body).await;
        assert_eq!(cancelled.body, json!({ &second_run: "cancelled" }));
        let events = second.end().await;
        ends_cancelled(&events);
        assert_eq!(events.len(), 2, "{events:?}");
        assert_eq!(state(&server, &agent).await["last_stop_reason"], "cancelled");
        let first = first.await.unwrap().body;
        assert_eq!(first["messages"][0]["content"], "first");
        assert_eq!(ended(&server, &first_run).await["status"], "completed");
        let run = ended(&server, &second_run).await;
        let (status, reason) = (&run["status"], &run["stop_reason"]);
        assert_eq!((status, reason), (&json!("cancelled"), &json!("cancelled")));
        let stored = history(&server, &agent).await;
        assert_eq!(kinds(&stored)[1..], ["user_message", "assistant_message"]);
        agrees(&server, &agent).await;
    }

    async fn all_runs_that_wait_for_each_other_are_cancelled_together(server) {
        let agent = busy_agent(&server).await;
        let body = json!({ "input": "wait 20s\nsay late" });
        let answers: Vec<_> = (0..3).map(|_| sent(&server, &agent, &body)).collect();
        let runs = active(&server, &agent, 3).await;
        let cancelled = cancel(&server, &agent).await;
        for run in &runs {
            assert_eq!(cancelled[run], "cancelled", "{cancelled}");
        }
        for answer in answers {
            let answer = answer.await.unwrap().body;
            assert_eq!(answer["stop_reason"]["stop_reason"], "cancelled");
            assert_eq!(answer["messages"], json!([]));
        }
        let stored = history(&server, &agent).await;
        assert_eq!(kinds(&stored), ["system_message"]);
        for run in &runs[1..] {
            assert_eq!(ended(&server, run).await["status"], "cancelled");
        }
        is_cancelled(&server, &agent, &runs[0]).await;
    }
}
