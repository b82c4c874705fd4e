//! A model that fails after an answer: what the answer did stays, and the agent is as usable as
//! before.

use serde_json::{Value, json};

use super::{
    answer, answers, answers_and_says, approve, ask, careful, computed, deny, ran, stored_kinds,
    waiting,
};
use crate::{
    both::on_both,
    consistency::{agrees, ended, state},
    live::Live,
    messages::{outline, say, send, stop, text},
};

const ASK: &str = "call secret with {\"a\":\"x\"}\nthen\nfail server";
/// The ways of an answer.
const WAYS: [fn(&str) -> Value; 3] = [
    approve,
    |call| deny(call, "no"),
    |call| computed(call, "mine"),
];

on_both! {
    async fn a_stream_that_breaks_off_after_an_answer_leaves_a_usable_agent(server) {
        let agent = careful(&server).await;
        let [approved, denied, computed] = WAYS;
        for (tokens, decide) in [
            (false, approved),
            (true, approved),
            (true, denied),
            (true, computed),
        ] {
            let asked = ask(&server, &agent, ASK).await;
            let mut body = answers(&[decide(waiting(&asked)[0])]);
            body["stream_tokens"] = json!(tokens);
            let events = Live::open(&server, &agent, &body).await.end().await;
            let shown = outline(&events);
            assert!(shown[1].starts_with("tool_return_message"), "{shown:?}");
            let end =
                ["stop_reason \"llm_api_error\"", "error: error_message \"internal_error\""];
            assert_eq!(shown[2..], end);
            let detail = text(&events[3].1["detail"]);
            assert!(detail.contains("The server failed, as the script says."), "{detail}");
            let run = ended(&server, text(&events[0].1["run_id"])).await;
            let (status, reason) = (&run["status"], &run["stop_reason"]);
            assert_eq!((status, reason), (&json!("failed"), &json!("llm_api_error")));
            // The answer and its result are stored, and nothing waits any more.
            let stored = stored_kinds(&server, &agent).await;
            let expected = ["approval_response_message", "tool_return_message"];
            assert_eq!(stored[stored.len() - 2..], expected);
            assert_eq!(state(&server, &agent).await["last_stop_reason"], "llm_api_error");
            agrees(&server, &agent).await;
            assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
            agrees(&server, &agent).await;
        }
        assert_eq!(ran(&server, "secret").await, 2);
    }

    async fn a_whole_answer_that_fails_after_a_decision_leaves_a_usable_agent(server) {
        let agent = careful(&server).await;
        for decide in WAYS {
            let asked = ask(&server, &agent, ASK).await;
            let body = answers(&[decide(waiting(&asked)[0])]);
            let failed = send(&server, &agent, body).await;
            assert_eq!(failed.status, 500, "{failed:?}");
            assert_eq!(failed.body["error"]["type"], "llm_error");
            agrees(&server, &agent).await;
            let again = ask(&server, &agent, "call secret\nthen\nsay Done.").await;
            let again = answer(&server, &agent, &[approve(waiting(&again)[0])]).await;
            assert_eq!(stop(&again), "end_turn");
        }
        agrees(&server, &agent).await;
    }

    async fn a_message_that_rode_along_with_an_answer_can_be_sent_again(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, "call secret\nthen\nsay Done.").await;
        let body = answers_and_says(&[approve(waiting(&asked)[0])], "fail timeout");
        assert_eq!(send(&server, &agent, body).await.status, 504);
        // It would have been stored with the first step that is done, and there was none.
        let stored = stored_kinds(&server, &agent).await;
        assert_eq!(stored.last().unwrap(), "tool_return_message");
        agrees(&server, &agent).await;
        assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
    }
}
