//! While a request for approval is open: it is closed with denials, and nobody waits any more.

use serde_json::{Value, json};

use super::{DENIED, busy_agent, cancel, ends_cancelled, is_cancelled};
use crate::{
    both::on_both,
    clients::{each, made, read},
    consistency::{agrees, history, state},
    live::Live,
    messages::{path, say, send, stop, text},
    support::TestServer,
};

const ASK: &str = "call secret with {\"a\":\"1\"}\ncall twice with {\"a\":\"y\"}\n\
    call secret with {\"a\":\"2\"}\ncall secret with {\"a\":\"3\"}\nthen\nsay never";

/// Fails unless the newest messages of an agent deny all calls of [`ASK`].
async fn all_are_denied(server: &TestServer, agent: &str) {
    let stored = history(server, agent).await;
    let stored = stored.as_array().unwrap();
    let [.., calls, request, response, returned] = stored.as_slice() else {
        panic!("{stored:?}")
    };
    let waiting = each(&request["tool_calls"], "tool_call_id");
    assert_eq!(waiting.len(), 3, "{request}");
    assert_eq!(response["message_type"], "approval_response_message");
    let decisions = response["approvals"].as_array().unwrap();
    let reason = "The user cancelled the request, so the tool call was denied.";
    for (decision, call) in decisions.iter().zip(&waiting) {
        let expected = json!({
            "type": "approval", "approve": false, "tool_call_id": call, "reason": reason,
        });
        assert_eq!(*decision, expected);
    }
    assert_eq!(decisions.len(), 3);
    let mut denied = each(&returned["tool_returns"], "tool_call_id");
    let mut called = waiting;
    called.extend(each(&calls["tool_calls"], "tool_call_id"));
    denied.sort_unstable();
    called.sort_unstable();
    assert_eq!(denied, called);
    assert_eq!(each(&returned["tool_returns"], "tool_return"), [DENIED; 4]);
    assert_eq!(each(&returned["tool_returns"], "status"), ["error"; 4]);
    let receipts = read(server, "/v1/receipts").await;
    assert_eq!(receipts, json!([]), "nothing ran");
}

on_both! {
    async fn every_call_of_the_request_is_denied_and_the_agent_is_free(server) {
        let agent = busy_agent(&server).await;
        let asked = say(&server, &agent, ASK).await;
        assert_eq!(stop(&asked), "requires_approval");
        let pending = send(&server, &agent, json!({ "input": "hi" })).await;
        assert_eq!(pending.status, 409, "{pending:?}");
        let run = text(&asked["messages"][0]["run_id"]);
        assert_eq!(cancel(&server, &agent).await, json!({ run: "cancelled" }));
        all_are_denied(&server, &agent).await;
        is_cancelled(&server, &agent, run).await;
    }

    async fn a_request_of_a_stream_or_of_a_run_in_the_background_is_closed_alike(server) {
        for (number, (tokens, background)) in
            [(true, false), (false, true), (true, true)].into_iter().enumerate()
        {
            let agent = match number {
                0 => busy_agent(&server).await,
                _ => again(&server).await,
            };
            let body = json!({
                "input": ASK, "stream_tokens": tokens, "background": background,
            });
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            stream.until("stop_reason").await;
            agrees(&server, &agent).await;
            assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }));
            assert_eq!(stream.end().await.last().unwrap().1, "[DONE]");
            all_are_denied(&server, &agent).await;
            is_cancelled(&server, &agent, &run).await;
        }
    }

    async fn a_run_that_is_about_to_ask_stores_all_of_its_request_or_nothing(server) {
        let agent = busy_agent(&server).await;
        for after in [0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300] {
            let input = "pause 10ms\nsay I shall ask now.\ncall secret with {\"a\":\"a long text\"}";
            let body = json!({ "input": input, "stream_tokens": true, "background": true });
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            tokio::time::sleep(std::time::Duration::from_millis(after)).await;
            assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }), "{after} ms");
            let seen = stream.end().await;
            let reasons = seen.iter().filter(|(_, data)| data["message_type"] == "stop_reason");
            let reasons: Vec<_> = reasons.map(|(_, data)| text(&data["stop_reason"])).collect();
            match reasons[..] {
                ["cancelled"] => ends_cancelled(&seen),
                ["requires_approval"] => {}
                _ => panic!("after {after} ms: {reasons:?}"),
            }
            is_cancelled(&server, &agent, &run).await;
        }
    }

    async fn a_request_of_a_conversation_is_closed_with_its_own_run(server) {
        let agent = busy_agent(&server).await;
        let conversation = crate::conversations::begun(&server, &agent).await;
        for named in [false, true] {
            let body = json!({ "input": ASK, "streaming": false });
            let asked = made(&server, &format!("{conversation}/messages"), &body).await;
            assert_eq!(stop(&asked), "requires_approval");
            let run = text(&asked["messages"][0]["run_id"]);
            let cancelled = match named {
                false => made(&server, &format!("{conversation}/cancel"), &Value::Null).await,
                // The agent's own thread has no request, and the run says which has.
                true => made(&server, &path(&agent, "/cancel"), &json!({ "run_ids": [run] })).await,
            };
            assert_eq!(cancelled, json!({ run: "cancelled" }));
            assert_eq!(read(&server, &format!("/v1/runs/{run}")).await["status"], "cancelled");
            let body = json!({ "input": "say Fine.", "streaming": false });
            let next = made(&server, &format!("{conversation}/messages"), &body).await;
            assert_eq!(stop(&next), "end_turn");
        }
        agrees(&server, &agent).await;
        assert_eq!(state(&server, &agent).await["pending_approval"], Value::Null);
    }
}

/// Another agent with the tools of [`busy_agent`], which are there.
async fn again(server: &TestServer) -> String {
    let more = json!({ "tools": ["twice", "secret", "spin"], "parallel_tool_calls": true });
    crate::messages::agent(server, more).await
}
