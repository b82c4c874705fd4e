//! An open request is answered once, in its own thread, and by its answer only.

use serde_json::{Value, json};

use super::{ASK, answer, answers, approve, ask, careful, ran, request, waiting};
use crate::{
    both::on_both,
    clients::{made, patched, read},
    consistency::{agrees, state},
    messages::{say, stop, text},
};

on_both! {
    async fn a_fork_goes_on_without_the_open_request(server) {
        let agent = careful(&server).await;
        say(&server, &agent, "say before").await;
        let asked = ask(&server, &agent, "call secret with {\"a\":\"x\"}\ncall dice\nthen\nsay Done.").await;
        let path = format!("/v1/conversations/default/fork?agent_id={agent}");
        let fork = made(&server, &path, &json!({})).await;
        let own = read(&server, &format!("/v1/agents/{agent}")).await["message_ids"].clone();
        let (own, forked) = (own.as_array().unwrap(), fork["in_context_message_ids"].as_array().unwrap());
        // What was said, what runs by itself and what waits are two messages.
        assert_eq!(forked[1..], own[1..own.len() - 2]);
        let fork = format!("/v1/conversations/{}", text(&fork["id"]));
        let mut approval = answers(&[approve(waiting(&asked)[0])]);
        approval["streaming"] = json!(false);
        let nothing = server.post(&format!("{fork}/messages"), &approval).await;
        assert_eq!(nothing.status, 400, "{nothing:?}");
        let idle = server.post(&format!("{fork}/cancel"), &Value::Null).await;
        assert_eq!(idle.status, 409, "{idle:?}");
        let run = read(&server, &format!("/v1/runs/{}", text(&request(&asked)["run_id"]))).await;
        assert_eq!(run["status"], "completed");
        let answer = answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        assert_eq!(stop(&answer), "end_turn");
        assert_eq!(ran(&server, "secret").await, 1);
        agrees(&server, &agent).await;
    }

    async fn what_the_model_sees_is_not_changed_while_a_request_is_open_nor_so_that_a_call_has_no_result(server) {
        let agent = careful(&server).await;
        let path = format!("/v1/agents/{agent}");
        let first = read(&server, &path).await["message_ids"].clone();
        let asked = ask(&server, &agent, ASK).await;
        let open = read(&server, &path).await["message_ids"].clone();
        let refused = server.patch(&path, &json!({ "message_ids": first })).await;
        assert_eq!(refused.status, 409, "{refused:?}");
        assert!(text(&refused.body["detail"]).contains("waiting for approval"));
        patched(&server, &path, &json!({ "message_ids": open })).await;
        let waits = state(&server, &agent).await;
        assert_eq!(waits["pending_approval"]["id"], request(&asked)["id"]);
        answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        let all = read(&server, &path).await["message_ids"].clone();
        let all = all.as_array().unwrap();
        // system, user, request, decision, result, text
        let without_result = json!([all[0], all[1], all[2], all[5]]);
        for unanswered in [json!(all[..3]), without_result] {
            let refused = server.patch(&path, &json!({ "message_ids": unanswered })).await;
            assert_eq!(refused.status, 400, "{refused:?}");
        }
        assert_eq!(read(&server, &path).await["message_ids"], json!(all));
        patched(&server, &path, &json!({ "message_ids": all[..2] })).await;
        say(&server, &agent, "say more").await;
    }
}
