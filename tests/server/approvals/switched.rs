//! When calls wait: by the tool's default, by the agent's rules, and as these change.

use serde_json::{Value, json};

use super::{ASK, answer, approve, ask, careful, ran, results, waiting};
use crate::{
    both::on_both,
    clients::patched,
    consistency::{agrees, state},
    messages::{agent, calls, say, stop, text, tool},
    support::TestServer,
};

/// Says whether calls of a tool of the agent wait.
async fn require(server: &TestServer, agent: &str, tool: &str, required: bool) {
    let path = format!("/v1/agents/{agent}/tools/approval/{tool}");
    patched(server, &path, &json!({ "requires_approval": required })).await;
}

on_both! {
    async fn approval_is_switched_off_and_on_while_the_agent_lives(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        require(&server, &agent, "secret", false).await;
        let free = say(&server, &agent, ASK).await;
        assert_eq!((stop(&free), calls(&free)), ("end_turn", vec![("secret", "the secret x")]));
        require(&server, &agent, "dice", true).await;
        let asked = ask(&server, &agent, "call dice\nthen\nsay Done.").await;
        answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        require(&server, &agent, "dice", false).await;
        require(&server, &agent, "secret", true).await;
        let asked = ask(&server, &agent, "call dice\ncall secret\nthen\nsay Done.").await;
        assert_eq!(waiting(&asked).len(), 1);
        agrees(&server, &agent).await;
    }

    async fn switching_it_off_does_not_release_an_open_request(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        require(&server, &agent, "secret", false).await;
        assert_ne!(state(&server, &agent).await["pending_approval"], Value::Null);
        assert_eq!(ran(&server, "secret").await, 0);
        agrees(&server, &agent).await;
        let answer = answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        assert_eq!(results(&answer)[0].1, "success");
    }

    async fn rules_that_are_given_with_the_agent_or_later_count_alike(server) {
        let dice = tool(&server, "dice", "return 'four'").await;
        let rules = json!([{ "type": "requires_approval", "tool_name": "dice" }]);
        let more = json!({ "tool_ids": [dice], "tool_rules": rules });
        let with_rule = agent(&server, more).await;
        let later = agent(&server, json!({ "name": "Bob", "tool_ids": [dice] })).await;
        let input = "call dice\nthen\nsay Done.";
        assert_eq!(stop(&say(&server, &later, input).await), "end_turn");
        patched(&server, &format!("/v1/agents/{later}"), &json!({ "tool_rules": rules })).await;
        for agent in [&with_rule, &later] {
            let asked = ask(&server, agent, input).await;
            answer(&server, agent, &[approve(waiting(&asked)[0])]).await;
            agrees(&server, agent).await;
        }
        let none = json!({ "tool_rules": [] });
        patched(&server, &format!("/v1/agents/{with_rule}"), &none).await;
        assert_eq!(stop(&say(&server, &with_rule, input).await), "end_turn");
    }

    async fn an_approved_call_of_a_tool_that_was_taken_away_fails_and_the_agent_goes_on(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, ASK).await;
        let tools = server.get(&format!("/v1/agents/{agent}/tools")).await.body;
        let secret = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "secret");
        let detach = format!("tools/detach/{}", text(&secret.unwrap()["id"]));
        patched(&server, &format!("/v1/agents/{agent}/{detach}"), &json!({})).await;
        let answer = answer(&server, &agent, &[approve(waiting(&asked)[0])]).await;
        let (_, status, result) = results(&answer)[0];
        assert_eq!(status, "error");
        assert!(result.contains("secret is not attached to this agent any more"), "{result}");
        assert_eq!(stop(&answer), "end_turn");
        agrees(&server, &agent).await;
    }
}
