//! What clients see of an open request: in the agent, its runs, its context, and its list.

use serde_json::{Value, json};

use super::{
    ASK, answer, answers, approve, ask, careful, computed, deny, request, stored_kinds, waiting,
};
use crate::{
    both::on_both,
    clients::read,
    consistency::{agrees, ended, history, state},
    live::Live,
    messages::{kinds, path, say, stop, text},
    support::TestServer,
};

/// The kinds of the messages that a list with this query has.
async fn listed(server: &TestServer, agent: &str, query: &str) -> Vec<String> {
    let list = read(server, &path(agent, query)).await;
    kinds(&list).into_iter().map(str::to_owned).collect()
}

on_both! {
    async fn an_open_request_is_the_agents_and_its_run_has_ended_for_it(server) {
        let agent = careful(&server).await;
        assert_eq!(state(&server, &agent).await["pending_approval"], Value::Null);
        let asked = ask(&server, &agent, ASK).await;
        let request = request(&asked);
        let open = state(&server, &agent).await;
        assert_eq!(open["pending_approval"], *request);
        assert_eq!(open["last_stop_reason"], "requires_approval");
        let calls = &open["pending_approval"]["tool_calls"];
        assert_eq!(crate::clients::each(calls, "name"), ["secret"]);
        // A relation that nobody asked for is not shown.
        let plain = read(&server, &format!("/v1/agents/{agent}")).await;
        assert_eq!(plain["pending_approval"], Value::Null);
        let run = read(&server, &format!("/v1/runs/{}", text(&request["run_id"]))).await;
        assert_eq!(
            (&run["status"], &run["stop_reason"]),
            (&json!("completed"), &json!("requires_approval"))
        );
        answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        let after = state(&server, &agent).await;
        assert_eq!(after["pending_approval"], Value::Null);
        assert_eq!(after["last_stop_reason"], "end_turn");
        say(&server, &agent, "say more").await;
        assert_eq!(state(&server, &agent).await["last_stop_reason"], "end_turn");
    }

    async fn arguments_are_shown_as_the_model_wrote_them(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        assert_eq!(request(&asked)["tool_call"]["arguments"], "{\"a\":\"x\"}");
        assert_eq!(request(&asked)["tool_calls"][0], request(&asked)["tool_call"]);
    }

    async fn the_context_can_be_read_at_every_moment(server) {
        let agent = careful(&server).await;
        agrees(&server, &agent).await;
        let ways: [fn(&str) -> Value; 3] =
            [approve, |call| deny(call, "no"), |call| computed(call, "mine")];
        for decide in ways {
            let asked = ask(&server, &agent, "call dice\ncall secret\nthen\nsay Done.").await;
            agrees(&server, &agent).await;
            let context = read(&server, &format!("/v1/agents/{agent}/context")).await;
            let messages = context["messages"].as_array().unwrap();
            assert_eq!(messages.last().unwrap()["role"], "approval");
            answer(&server, &agent, &[decide(waiting(&asked)[0])]).await;
            agrees(&server, &agent).await;
        }
        // While the model is asked after an answer, and when that was cancelled.
        let asked = ask(&server, &agent, "call secret\nthen\nwait 20s\nsay late").await;
        let body = answers(&[approve(waiting(&asked)[0])]);
        let mut stream = Live::open(&server, &agent, &body).await;
        let run = stream.run().await;
        stream.until("tool_return_message").await;
        agrees(&server, &agent).await;
        let cancelled = server.post(&path(&agent, "/cancel"), &json!({})).await;
        assert_eq!(cancelled.body, json!({ &run: "cancelled" }), "{cancelled:?}");
        agrees(&server, &agent).await;
        ask(&server, &agent, ASK).await;
        assert_eq!(server.post(&path(&agent, "/cancel"), &json!({})).await.status, 200);
        agrees(&server, &agent).await;
        assert_eq!(stop(&say(&server, &agent, "say more").await), "end_turn");
        agrees(&server, &agent).await;
    }

    async fn cursors_find_request_answer_and_result_in_their_order(server) {
        let agent = careful(&server).await;
        let newest = read(&server, &path(&agent, "?limit=1")).await;
        let before_all = text(&newest[0]["id"]).to_owned();
        let asked = ask(&server, &agent, &format!("think hm\n{ASK}")).await;
        let request_id = text(&request(&asked)["id"]);
        // Reasoning and request of one reply are one message.
        assert_eq!(asked["messages"][0]["id"], request_id);
        let after = async |id: &str| listed(&server, &agent, &format!("?after={id}")).await;
        let expected = ["user_message", "reasoning_message", "approval_request_message"];
        assert_eq!(after(&before_all).await, expected);
        assert_eq!(after(request_id).await, [""; 0]);
        let call = waiting(&asked)[0];
        answer(&server, &agent, &[deny(call, "no")]).await;
        let rest = ["approval_response_message", "tool_return_message", "assistant_message"];
        assert_eq!(after(request_id).await, rest);
        let stored = history(&server, &agent).await;
        let stored = stored.as_array().unwrap();
        let response = &stored[stored.len() - 3];
        assert_eq!(response["approval_request_id"], call);
        assert_eq!(after(text(&response["id"])).await, rest[1..]);
        let returned = text(&stored[stored.len() - 2]["id"]);
        assert_eq!(after(returned).await, rest[2..]);
        let back = format!("?before={returned}&limit=2");
        let expected =
            ["reasoning_message", "approval_request_message", "approval_response_message"];
        assert_eq!(listed(&server, &agent, &back).await, expected);
        let forward = format!("?order=asc&limit=2&after={before_all}");
        let expected = ["user_message", "reasoning_message", "approval_request_message"];
        assert_eq!(listed(&server, &agent, &forward).await, expected);
    }

    async fn a_request_of_a_run_for_which_nobody_waits_is_found_and_answered(server) {
        let agent = careful(&server).await;
        let run = server.post(&path(&agent, "/async"), &json!({ "input": ASK })).await;
        let run = ended(&server, text(&run.body["id"])).await;
        assert_eq!(run["stop_reason"], "requires_approval", "{run}");
        let open = state(&server, &agent).await["pending_approval"].clone();
        assert_eq!(open["run_id"], run["id"]);
        let body = answers(&[approve(text(&open["tool_call"]["tool_call_id"]))]);
        let run = server.post(&path(&agent, "/async"), &body).await;
        let run = ended(&server, text(&run.body["id"])).await;
        assert_eq!(run["stop_reason"], "end_turn", "{run}");
        let expected = [
            "user_message",
            "approval_request_message",
            "approval_response_message",
            "tool_return_message",
            "assistant_message",
        ];
        assert_eq!(stored_kinds(&server, &agent).await, expected);
        agrees(&server, &agent).await;
    }
}
