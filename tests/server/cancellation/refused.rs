//! What can't be cancelled: what is over, what is not there, and what is somebody else's. Nothing
//! changes.

use serde_json::json;

use super::{active, busy_agent, cancel, is_cancelled, sent};
use crate::{
    both::on_both,
    clients::NOBODY,
    consistency::{Snapshot, agrees},
    messages::{agent, detail, path, say, send, stop, text},
};

on_both! {
    async fn a_run_that_is_over(server) {
        let agent = busy_agent(&server).await;
        let answer = say(&server, &agent, "say hi").await;
        let finished = text(&answer["messages"][0]["run_id"]);
        let failed = send(&server, &agent, json!({ "input": "fail server" })).await;
        assert_eq!(failed.status, 500);
        let before = Snapshot::of(&server, &agent).await;
        let nothing = server.post(&path(&agent, "/cancel"), &json!({})).await;
        let expected = format!("CONFLICT: No active runs to cancel for agent {agent}");
        assert_eq!(detail(&nothing), (409, expected.as_str()));
        let named = server.post(&path(&agent, "/cancel"), &json!({ "run_ids": [finished] })).await;
        assert_eq!((named.status.as_u16(), named.body), (200, json!({ finished: "failed" })));
        before.is_now(&server).await;
    }

    async fn a_run_that_was_cancelled_already_stays_so(server) {
        let agent = busy_agent(&server).await;
        let waiting = sent(&server, &agent, &json!({ "input": "wait 20s\nsay late" }));
        let run = active(&server, &agent, 1).await.remove(0);
        cancel(&server, &agent).await;
        assert_eq!(stop(&waiting.await.unwrap().body), "cancelled");
        let before = Snapshot::of(&server, &agent).await;
        let again = server.post(&path(&agent, "/cancel"), &json!({ "run_ids": [run] })).await;
        assert_eq!((again.status.as_u16(), again.body), (200, json!({ &run: "cancelled" })));
        assert_eq!(server.post(&path(&agent, "/cancel"), &json!({})).await.status, 409);
        before.is_now(&server).await;
        is_cancelled(&server, &agent, &run).await;
    }

    async fn what_is_not_there_and_what_is_no_id(server) {
        let agent = busy_agent(&server).await;
        say(&server, &agent, "say hi").await;
        let before = Snapshot::of(&server, &agent).await;
        let unknown = format!("run-{NOBODY}");
        let answer = server.post(&path(&agent, "/cancel"), &json!({ "run_ids": [unknown] })).await;
        assert_eq!((answer.status.as_u16(), answer.body), (200, json!({ unknown: "failed" })));
        let malformed = server.post(&path(&agent, "/cancel"), &json!({ "run_ids": ["x"] })).await;
        let expected =
            "INVALID_ARGUMENT: Invalid run ID format: x. Expected format: 'run-<uuid4>'";
        assert_eq!(detail(&malformed), (400, expected));
        let wrong = server.post(&path(&agent, "/cancel"), &json!({ "run_ids": "all" })).await;
        assert_eq!(wrong.status, 422);
        before.is_now(&server).await;
    }

    async fn a_run_of_another_agent_goes_on(server) {
        let ada = busy_agent(&server).await;
        let bob = agent(&server, json!({ "name": "Bob" })).await;
        let waiting = sent(&server, &bob, &json!({ "input": "wait 1s\nsay done" }));
        let run = active(&server, &bob, 1).await.remove(0);
        let before = Snapshot::of(&server, &ada).await;
        let answer = server.post(&path(&ada, "/cancel"), &json!({ "run_ids": [run] })).await;
        assert_eq!((answer.status.as_u16(), answer.body), (200, json!({ run: "failed" })));
        assert_eq!(server.post(&path(&ada, "/cancel"), &json!({})).await.status, 409);
        before.is_now(&server).await;
        assert_eq!(stop(&waiting.await.unwrap().body), "end_turn");
        agrees(&server, &bob).await;
    }

    async fn an_open_request_stays_open_when_another_run_is_named(server) {
        let agent = busy_agent(&server).await;
        let answer = say(&server, &agent, "say hi").await;
        let finished = text(&answer["messages"][0]["run_id"]);
        let asked = say(&server, &agent, "call secret").await;
        assert_eq!(stop(&asked), "requires_approval");
        let before = Snapshot::of(&server, &agent).await;
        let named = server.post(&path(&agent, "/cancel"), &json!({ "run_ids": [finished] })).await;
        assert_eq!(named.body, json!({ finished: "failed" }));
        before.is_now(&server).await;
        let run = text(&asked["messages"][0]["run_id"]);
        let named = server.post(&path(&agent, "/cancel"), &json!({ "run_ids": [run] })).await;
        assert_eq!(named.body, json!({ run: "cancelled" }));
        is_cancelled(&server, &agent, run).await;
    }
}
