//! Answers that fit no open request, and what an open request refuses: in the contract's words, and
//! nothing changes but that the refused run is noted as failed.

use serde_json::{Value, json};

use super::{
    ASK, answer, answers, approve, ask, careful, computed, deny, ran, refused, request, waiting,
};
use crate::{
    both::on_both,
    consistency::{Snapshot, agrees, ended, history},
    live::Live,
    messages::{outline, path, say, send, stop, text},
    support::TestServer,
};

const NOTHING_WAITS: &str = "Cannot process approval response: No tool call is currently awaiting \
    approval. Please send a regular message to interact with the agent.";
const PENDING: &str = "CONFLICT: Cannot send a new message: The agent is waiting for approval on a \
    tool call. Please approve or deny the pending request before continuing.";

/// Sends what must be refused with this text, as a stream and to nobody: the run alone tells.
async fn refused_later(server: &TestServer, agent: &str, body: &Value, expected: &str) {
    for tokens in [false, true] {
        for background in [false, true] {
            let mut body = body.clone();
            body["stream_tokens"] = json!(tokens);
            body["background"] = json!(background);
            let events = Live::open(server, agent, &body).await.end().await;
            let shown = [
                "ping",
                "stop_reason \"error\"",
                "error: error_message \"internal_error\"",
                "[DONE]",
            ];
            assert_eq!(outline(&events), shown, "{body}");
            assert_eq!(events[2].1["detail"], expected, "{body}");
            let run = ended(server, text(&events[0].1["run_id"])).await;
            assert_eq!(run["metadata"]["error"], events[2].1, "{run}");
        }
    }
    let run = server.post(&path(agent, "/async"), body).await.body;
    let run = ended(server, text(&run["id"])).await;
    assert_eq!(run["metadata"]["error"]["detail"], expected, "{run}");
}

/// Fails unless nothing changed since but that there are so many more runs that failed.
async fn only_failed(server: &TestServer, before: &Snapshot, count: usize) {
    let runs = before.is_now_but_for_runs(server).await;
    assert_eq!(runs.len(), count, "{runs:?}");
    for run in runs {
        let (status, reason) = (&run["status"], &run["stop_reason"]);
        assert_eq!(
            (status, reason),
            (&json!("failed"), &json!("error")),
            "{run}"
        );
        assert_ne!(run["metadata"]["error"], Value::Null, "{run}");
    }
}

on_both! {
    async fn an_answer_where_nothing_waits(server) {
        let agent = careful(&server).await;
        say(&server, &agent, "say hi").await;
        let before = Snapshot::of(&server, &agent).await;
        let older = json!({ "messages": [{ "approve": true, "approval_request_id": "call_1" }] });
        for body in [answers(&[approve("call_1")]), answers(&[computed("call_1", "x")]), older] {
            refused(&send(&server, &agent, body.clone()).await, 400, NOTHING_WAITS);
            refused_later(&server, &agent, &body, NOTHING_WAITS).await;
        }
        only_failed(&server, &before, 3 * 6).await;
        assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
    }

    async fn an_answer_to_other_calls_than_those_that_wait(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, "call secret\ncall secret\nthen\nsay Done.").await;
        let (one, two) = (waiting(&asked)[0], waiting(&asked)[1]);
        let before = Snapshot::of(&server, &agent).await;
        for (decisions, received) in [
            (vec![approve("x")], "['x']".to_owned()),
            (vec![approve(one)], format!("['{one}']")),
            (vec![approve(one), deny(one, "no")], format!("['{one}', '{one}']")),
            (
                vec![approve(one), computed(two, "a"), deny("x", "no")],
                format!("['{one}', '{two}', 'x']"),
            ),
            (vec![], "[]".to_owned()),
        ] {
            let body = answers(&decisions);
            let expected = format!(
                "Invalid tool call IDs. Expected '['{one}', '{two}']', but received '{received}'."
            );
            refused(&send(&server, &agent, body.clone()).await, 400, &expected);
            refused_later(&server, &agent, &body, &expected).await;
        }
        only_failed(&server, &before, 5 * 6).await;
        // The request is still open, and its right answer is taken.
        let answer = answer(&server, &agent, &[approve(two), approve(one)]).await;
        assert_eq!(stop(&answer), "end_turn");
        assert_eq!(ran(&server, "secret").await, 2);
    }

    async fn a_message_while_a_request_is_open(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        let before = Snapshot::of(&server, &agent).await;
        let body = json!({ "input": "hi" });
        let conflict = send(&server, &agent, body.clone()).await;
        assert_eq!(conflict.status, 409);
        let expected = json!({ "detail": {
            "code": "PENDING_APPROVAL", "message": PENDING,
            "pending_request_id": request(&asked)["id"],
        } });
        assert_eq!(conflict.body, expected);
        refused_later(&server, &agent, &body, PENDING).await;
        only_failed(&server, &before, 6).await;
        let answer = answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        assert_eq!(stop(&answer), "end_turn");
        agrees(&server, &agent).await;
    }

    async fn an_answer_of_an_unknown_type_or_form(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        let call = waiting(&asked)[0];
        let before = Snapshot::of(&server, &agent).await;
        let of = |decision: Value| json!({ "type": "approval", "approvals": [decision] });
        let mut undecided = approve(call);
        undecided["approve"] = json!("perhaps");
        let mut unfinished = computed(call, "x");
        unfinished["status"] = json!("so so");
        for (message, expected) in [
            (of(json!({ "type": "wave", "tool_call_id": call })), "'union_tag_invalid'"),
            (json!({ "type": "verdict", "approvals": [approve(call)] }), "'union_tag_invalid'"),
            (of(json!({ "type": "approval", "approve": true })), "'missing'"),
            (of(json!({ "type": "approval", "tool_call_id": call })), "'missing'"),
            (of(undecided), "'bool_parsing'"),
            (of(unfinished), "'literal_error'"),
            (json!({ "type": "approval", "approvals": "all" }), "'list_type'"),
        ] {
            for rest in ["", "/stream", "/async"] {
                let body = json!({ "messages": [message] });
                let answer = server.post(&path(&agent, rest), &body).await;
                let (status, text) = crate::messages::detail(&answer);
                assert_eq!(status, 422, "{message}: {text}");
                assert!(text.contains(expected), "{message}: {text}");
            }
        }
        before.is_now(&server).await;
        assert_eq!(stop(&answer(&server, &agent, &[approve(call)]).await), "end_turn");
    }

    async fn an_answer_that_comes_twice_runs_nothing_again(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        let call = waiting(&asked)[0];
        answer(&server, &agent, &[approve(call)]).await;
        // A client that lost the first answer tries again, and the agent just goes on.
        for again in [approve(call), deny(call, "no"), computed(call, "mine")] {
            let again = answer(&server, &agent, &[again]).await;
            assert_eq!(stop(&again), "end_turn");
            agrees(&server, &agent).await;
        }
        assert_eq!(ran(&server, "secret").await, 1);
        let stored = history(&server, &agent).await;
        let count = |kind: &str| {
            let stored = stored.as_array().unwrap().iter();
            stored.filter(|message| message["message_type"] == kind).count()
        };
        assert_eq!((count("approval_response_message"), count("tool_return_message")), (1, 1));
        let before = Snapshot::of(&server, &agent).await;
        let other = send(&server, &agent, answers(&[approve(call), approve("x")])).await;
        refused(&other, 400, NOTHING_WAITS);
        only_failed(&server, &before, 1).await;
    }

    async fn an_answer_that_comes_twice_is_known_after_the_context_was_made_shorter(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        let call = waiting(&asked)[0];
        answer(&server, &agent, &[approve(call)]).await;
        say(&server, &agent, "say more").await;
        let body = json!({ "compaction_settings": { "mode": "all" } });
        let report = server.post(&format!("/v1/agents/{agent}/summarize"), &body).await;
        assert_eq!(report.status, 200, "{report:?}");
        assert_eq!(stop(&answer(&server, &agent, &[approve(call)]).await), "end_turn");
        let other = send(&server, &agent, answers(&[approve("x")])).await;
        refused(&other, 400, NOTHING_WAITS);
        assert_eq!(ran(&server, "secret").await, 1);
    }

    async fn an_answer_after_its_request_was_cancelled(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        let call = waiting(&asked)[0];
        assert_eq!(server.post(&path(&agent, "/cancel"), &json!({})).await.status, 200);
        let before = Snapshot::of(&server, &agent).await;
        let other = answers(&[approve("x")]);
        refused(&send(&server, &agent, other.clone()).await, 400, NOTHING_WAITS);
        refused_later(&server, &agent, &other, NOTHING_WAITS).await;
        only_failed(&server, &before, 6).await;
        // The answer to the request itself counts as a repeated one: nothing runs.
        assert_eq!(stop(&answer(&server, &agent, &[approve(call)]).await), "end_turn");
        assert_eq!(ran(&server, "secret").await, 0);
        let denials = history(&server, &agent).await.to_string();
        assert_eq!(denials.matches("\"approval_response_message\"").count(), 1);
        agrees(&server, &agent).await;
    }
}
