//! At the moment at which an answer to a request for approval arrives: one of both is first, and
//! either way nothing hangs and nothing is lost.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{busy_agent, cancel, ends_cancelled, is_cancelled, sent, slots_in_use};
use crate::{
    both::on_both,
    clients::{each, patched},
    consistency::{agrees, ended, history},
    live::Live,
    messages::{path, say, stop, text},
    support::TestServer,
};

/// Has the agent call a tool that waits; the body that approves of it.
async fn asked(server: &TestServer, agent: &str, input: &str) -> Value {
    let asked = say(server, agent, input).await;
    assert_eq!(stop(&asked), "requires_approval");
    let calls = each(&asked["messages"][0]["tool_calls"], "tool_call_id");
    let approve =
        |call: &&str| json!({ "type": "approval", "tool_call_id": call, "approve": true });
    let approvals: Vec<Value> = calls.iter().map(approve).collect();
    json!({ "messages": [{ "type": "approval", "approvals": approvals }] })
}

on_both! {
    async fn an_answer_that_was_first_has_its_result_and_its_run_is_cancelled(server) {
        let agent = busy_agent(&server).await;
        for (tokens, background) in [(true, false), (false, false), (true, true)] {
            let input = "call secret with {\"a\":\"x\"}\nthen\nwait 20s\nsay late";
            let mut body = asked(&server, &agent, input).await;
            body["stream_tokens"] = json!(tokens);
            body["background"] = json!(background);
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            let returned = stream.until("tool_return_message").await;
            assert_eq!(returned["tool_return"], "the secret x");
            assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }));
            ends_cancelled(&stream.end().await);
            is_cancelled(&server, &agent, &run).await;
        }
    }

    async fn a_tool_that_was_approved_is_stopped_like_any(server) {
        let agent = busy_agent(&server).await;
        let approval = format!("/v1/agents/{agent}/tools/approval/spin");
        patched(&server, &approval, &json!({ "requires_approval": true })).await;
        let body = asked(&server, &agent, "call spin\ncall secret\nthen\nsay never").await;
        let mut stream = Live::open(&server, &agent, &body).await;
        let run = stream.run().await;
        slots_in_use(&server, 1).await;
        cancel(&server, &agent).await;
        let seen = stream.end().await;
        ends_cancelled(&seen);
        let returned = &seen[seen.len() - 2].1;
        let results = each(&returned["tool_returns"], "tool_return");
        assert!(results[0].starts_with("Error executing function spin: Cancelled"), "{results:?}");
        assert_eq!(results[1], super::DENIED);
        is_cancelled(&server, &agent, &run).await;
    }

    async fn whichever_is_first_the_other_does_not_wait_for_long(server) {
        let agent = busy_agent(&server).await;
        for after in [0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 20] {
            let input = "call secret with {\"a\":\"x\"}\nthen\nwait 20s\nsay late";
            let body = asked(&server, &agent, input).await;
            let begun = Instant::now();
            let answering = sent(&server, &agent, &body);
            tokio::time::sleep(Duration::from_millis(after)).await;
            let cancelled = cancel(&server, &agent).await;
            let answer = answering.await.unwrap();
            assert!(begun.elapsed() < Duration::from_secs(10), "after {after} ms");
            assert_eq!(answer.status, 200, "{answer:?}");
            for (run, status) in cancelled.as_object().unwrap() {
                assert_eq!(*status, "cancelled", "{cancelled}");
                assert_eq!(ended(&server, run).await["status"], "cancelled");
            }
            // The request has one answer, whoever gave it.
            let stored = history(&server, &agent).await.to_string();
            let count = |kind: &str| stored.matches(&format!("\"{kind}\"")).count();
            assert_eq!(count("approval_request_message"), count("approval_response_message"));
            agrees(&server, &agent).await;
            assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
        }
    }

    async fn two_requests_to_cancel_agree(server) {
        let agent = busy_agent(&server).await;
        for input in ["wait 20s\nsay late", "call spin"] {
            let mut stream = Live::open(&server, &agent, &json!({ "input": input })).await;
            let run = stream.run().await;
            let both = async || server.post(&path(&agent, "/cancel"), &json!({})).await;
            let (one, other) = futures::join!(both(), both());
            for answer in [&one, &other] {
                match answer.status.as_u16() {
                    200 => assert_eq!(answer.body, json!({ &run: "cancelled" })),
                    // It was over before the second looked.
                    409 => {
                        let detail = text(&answer.body["detail"]);
                        assert!(detail.contains("No active runs to cancel"), "{detail}");
                    }
                    _ => panic!("{answer:?}"),
                }
            }
            assert!(one.status == 200 || other.status == 200);
            ends_cancelled(&stream.end().await);
            is_cancelled(&server, &agent, &run).await;
        }
    }
}
