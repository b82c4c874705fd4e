//! What becomes of calls that are approved, denied, or answered by the client.

use serde_json::{Value, json};

use super::{
    ASK, answer, answers_and_says, approve, ask, careful, computed, denied, deny, ran, request,
    results, stored_kinds, taken, waiting,
};
use crate::{
    both::on_both,
    consistency::{agrees, history},
    messages::{kinds, say, send, stop, text},
};

on_both! {
    async fn an_approved_call_runs_in_the_step_that_asked(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        assert_eq!(kinds(&asked["messages"]), ["approval_request_message"]);
        agrees(&server, &agent).await;
        let call = waiting(&asked)[0];
        let answer = answer(&server, &agent, &[approve(call)]).await;
        assert_eq!(results(&answer), [(call, "success", "the secret x")]);
        assert_eq!(answer["messages"][0]["step_id"], request(&asked)["step_id"]);
        assert_ne!(answer["messages"][0]["run_id"], request(&asked)["run_id"]);
        assert_eq!(answer["messages"][1]["content"], "Done.");
        assert_eq!(stop(&answer), "end_turn");
        let expected = [
            "user_message",
            "approval_request_message",
            "approval_response_message",
            "tool_return_message",
            "assistant_message",
        ];
        assert_eq!(stored_kinds(&server, &agent).await, expected);
        let stored = history(&server, &agent).await;
        assert_eq!(stored[3]["approval_request_id"], call);
        assert_eq!((&stored[3]["approve"], &stored[3]["reason"]), (&json!(true), &json!(null)));
        agrees(&server, &agent).await;
        assert_eq!(stop(&say(&server, &agent, "say more").await), "end_turn");
    }

    async fn a_denied_call_does_not_run_and_its_result_is_the_reason(server) {
        let agent = careful(&server).await;
        for (decision, reason) in [
            (json!({ "reason": "no way" }), "no way"),
            (json!({}), "None"),
        ] {
            let asked = ask(&server, &agent, ASK).await;
            let call = waiting(&asked)[0];
            let mut decision = decision;
            decision["tool_call_id"] = json!(call);
            decision["approve"] = json!(false);
            let answer = answer(&server, &agent, &[decision.clone()]).await;
            assert_eq!(results(&answer), [(call, "error", denied(reason).as_str())]);
            assert_eq!(stop(&answer), "end_turn");
            let stored = history(&server, &agent).await;
            let stored = stored.as_array().unwrap();
            let response = &stored[stored.len() - 3];
            assert_eq!(response["message_type"], "approval_response_message");
            assert_eq!(response["approvals"][0]["reason"], decision["reason"]);
        }
        assert_eq!(ran(&server, "secret").await, 0);
        agrees(&server, &agent).await;
    }

    async fn one_message_answers_several_calls_each_in_its_own_way(server) {
        let agent = careful(&server).await;
        let input = "think hm\nsay Look:\ncall secret with {\"a\":\"1\"}\ncall dice\n\
                     call secret with {\"a\":\"2\"}\ncall secret with {\"a\":\"3\"}\n\
                     then\nsay Done.";
        let asked = ask(&server, &agent, input).await;
        let expected = [
            "reasoning_message",
            "assistant_message",
            "tool_call_message",
            "approval_request_message",
        ];
        assert_eq!(kinds(&asked["messages"]), expected);
        assert_ne!(request(&asked)["id"], asked["messages"][0]["id"]);
        let dice = text(&asked["messages"][2]["tool_calls"][0]["tool_call_id"]);
        let calls = waiting(&asked);
        assert_eq!(calls.len(), 3);
        // The call that needs nobody has waited with the others.
        assert_eq!(ran(&server, "dice").await, 0);
        agrees(&server, &agent).await;
        let decisions = [
            approve(calls[0]),
            deny(calls[1], "too much"),
            computed(calls[2], "mine"),
        ];
        let answer = answer(&server, &agent, &decisions).await;
        assert_eq!(
            results(&answer),
            [
                (calls[2], "success", "mine"),
                (calls[1], "error", denied("too much").as_str()),
                (calls[0], "success", "the secret 1"),
                (dice, "success", "four"),
            ]
        );
        assert_eq!(kinds(&answer["messages"]), ["tool_return_message", "assistant_message"]);
        assert_eq!((ran(&server, "secret").await, ran(&server, "dice").await), (1, 1));
        let stored = history(&server, &agent).await;
        let response = stored.as_array().unwrap().iter();
        let response = response.filter(|one| one["message_type"] == "approval_response_message");
        let response: Vec<_> = response.collect();
        assert_eq!(response.len(), 1);
        assert_eq!(response[0]["approvals"].as_array().unwrap().len(), 3);
        agrees(&server, &agent).await;
        assert_eq!(stop(&say(&server, &agent, "say more").await), "end_turn");
    }

    async fn a_message_of_the_user_rides_along_with_an_answer(server) {
        let agent = careful(&server).await;
        let ways: [fn(&str) -> Value; 3] =
            [approve, |call| deny(call, "no"), |call| computed(call, "mine")];
        for decide in ways {
            let asked = ask(&server, &agent, ASK).await;
            let body = answers_and_says(&[decide(waiting(&asked)[0])], "say Fine.");
            let answer = taken(send(&server, &agent, body).await);
            let expected = ["tool_return_message", "assistant_message"];
            assert_eq!(kinds(&answer["messages"]), expected);
            assert_eq!(answer["messages"][1]["content"], "Fine.");
            let stored = stored_kinds(&server, &agent).await;
            let expected = [
                "approval_request_message",
                "approval_response_message",
                "tool_return_message",
                "user_message",
                "assistant_message",
            ];
            assert_eq!(stored[stored.len() - 5..], expected);
            agrees(&server, &agent).await;
            assert_eq!(stop(&say(&server, &agent, "say more").await), "end_turn");
        }
    }

    async fn an_answer_may_lead_to_another_request(server) {
        let agent = careful(&server).await;
        let input = "call secret with {\"a\":\"1\"}\nthen\n\
                     call secret with {\"a\":\"2\"}\nthen\nsay Done.";
        let first = ask(&server, &agent, input).await;
        let second = answer(&server, &agent, &[approve(waiting(&first)[0])]).await;
        assert_eq!(stop(&second), "requires_approval");
        assert_eq!(kinds(&second["messages"]), ["tool_return_message", "approval_request_message"]);
        assert_ne!(waiting(&first), waiting(&second));
        agrees(&server, &agent).await;
        let last = answer(&server, &agent, &[deny(waiting(&second)[0], "enough")]).await;
        assert_eq!(stop(&last), "end_turn");
        assert_eq!(ran(&server, "secret").await, 1);
        agrees(&server, &agent).await;
    }

    async fn an_answer_in_the_older_form_decides_on_all_calls(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, "call secret\ncall secret\nthen\nsay Done.").await;
        let body = json!({ "messages": [{
            "approve": false, "approval_request_id": request(&asked)["id"], "reason": "later",
        }] });
        let answer = taken(send(&server, &agent, body).await);
        let (calls, later) = (waiting(&asked), denied("later"));
        let expected = [(calls[0], "error", &*later), (calls[1], "error", &*later)];
        assert_eq!(results(&answer), expected);
        agrees(&server, &agent).await;
    }

    async fn several_messages_may_answer_together(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, "call secret\ncall secret\nthen\nsay Done.").await;
        let calls = waiting(&asked);
        let body = json!({ "messages": [
            { "type": "approval", "approvals": [approve(calls[1])] },
            { "type": "tool_return", "tool_returns": [computed(calls[0], "mine")] },
        ] });
        let answer = taken(send(&server, &agent, body).await);
        let expected = [(calls[0], "success", "mine"), (calls[1], "success", "the secret ")];
        assert_eq!(results(&answer), expected);
        agrees(&server, &agent).await;
    }
}
