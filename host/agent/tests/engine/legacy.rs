//! Agents of the older types on the same loop.

use bulkhead_agent::AgentError;
use bulkhead_domain::{AgentType, Part, StopReason};

use crate::world::{Setup, World, said};

fn setup() -> Setup {
    Setup {
        agent_type: AgentType::MemgptV2Agent,
        ..Setup::default()
    }
}

#[tokio::test]
async fn they_begin_with_a_greeting_and_end_when_they_speak() {
    let world = World::new().await;
    let agent = world.agent(setup()).await;
    assert_eq!(world.words(agent).await, "call:send_message return:ok user");
    let outcome = world
        .say(
            agent,
            "call send_message with {\"message\": \"hi\", \"thinking\": \"short\"}",
        )
        .await;
    assert_eq!(
        (outcome.stop_reason, outcome.steps),
        (StopReason::EndTurn, 1)
    );
    let call = &outcome.messages[0];
    assert!(
        matches!(&call.content[0], Part::Reasoning { is_native: false, reasoning, .. } if reasoning == "short")
    );
    assert_eq!(
        call.tool_calls[0].arguments,
        r#"{"message":"hi","request_heartbeat":false}"#
    );
}

#[tokio::test]
async fn a_call_goes_on_only_where_it_asks_to_or_fails() {
    let world = World::new().await;
    let agent = world.agent(setup()).await;
    let on = world
        .say(agent, "call echo with {\"request_heartbeat\": true}\nthen\ncall fail\nthen\ncall send_message")
        .await;
    assert_eq!((on.stop_reason, on.steps), (StopReason::EndTurn, 3));
    assert!(world.words(agent).await.ends_with(
        "user call:echo return:ok user call:fail return:error user call:send_message return:ok"
    ));
    let stop = world.say(agent, "call echo\nthen\ncall send_message").await;
    assert_eq!((stop.stop_reason, stop.steps), (StopReason::EndTurn, 1));
}

#[tokio::test]
async fn an_answer_without_a_call_is_an_error() {
    let world = World::new().await;
    let setup = Setup {
        // Without tools nothing can be forced.
        tools: &[],
        ..setup()
    };
    let agent = world.agent(setup).await;
    let failure = world.send(said(agent, "say hi")).await.unwrap_err();
    let AgentError::UnusableReply(text) = &failure.error else {
        panic!("{failure:?}")
    };
    assert_eq!(
        text,
        "No tool calls found in response, model must make a tool call"
    );
}

#[tokio::test]
async fn a_call_that_was_approved_goes_on_only_where_it_asks_to_or_fails() {
    for (script, approve, steps) in [
        ("call echo\nthen\ncall send_message", true, 0),
        (
            "call echo with {\"request_heartbeat\": true}\nthen\ncall send_message",
            true,
            1,
        ),
        ("call echo\nthen\ncall send_message", false, 1),
    ] {
        let world = World::new().await;
        let setup = Setup {
            rules: serde_json::json!([{"type": "requires_approval", "tool_name": "echo"}]),
            ..setup()
        };
        let agent = world.agent(setup).await;
        let asked = world.say(agent, script).await;
        assert_eq!(asked.stop_reason, StopReason::RequiresApproval);
        let call = world.history(agent).await.pop().unwrap().tool_calls[0]
            .id
            .clone();
        let done = world.decide(agent, &[(&call, approve)]).await.unwrap();
        assert_eq!(
            (done.stop_reason, done.steps),
            (StopReason::EndTurn, steps),
            "{script}"
        );
        world.agrees(agent).await;
    }
}
