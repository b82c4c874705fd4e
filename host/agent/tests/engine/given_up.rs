//! Requests for approval that are given up, and those that stay open.

use bulkhead_agent::{AgentError, Decision, RunRequest, RunType};
use bulkhead_domain::{Agent, RunStatus, StopReason, id::AgentId};
use serde_json::json;

use crate::world::{Setup, World};

async fn asking(world: &World, tool: &str) -> AgentId {
    let setup = Setup {
        rules: json!([{"type": "requires_approval", "tool_name": tool}]),
        ..Setup::default()
    };
    world.agent(setup).await
}

async fn state(world: &World, agent: AgentId) -> Agent {
    world.store.agent(&agent).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_reset_gives_an_open_request_up() {
    let world = World::new().await;
    let agent = asking(&world, "echo").await;
    let asked = world.say(agent, "call echo").await;
    assert_eq!(asked.stop_reason, StopReason::RequiresApproval);
    world.engine.reset(agent, false).await.unwrap();
    let state = state(&world, agent).await;
    assert_eq!(state.last_stop_reason, Some(StopReason::Cancelled));
    let run = world.store.run(&asked.run_id).await.unwrap().unwrap();
    assert_eq!(
        (run.status, run.stop_reason),
        (RunStatus::Cancelled, Some(StopReason::Cancelled))
    );
    world.say(agent, "hello").await;
    assert_eq!(world.words(agent).await, "user text");
}

#[tokio::test]
async fn an_agent_whose_answer_failed_before_it_was_stored_waits_as_before() {
    let world = World::new().await;
    let agent = asking(&world, "panic").await;
    world.say(agent, "call panic").await;
    let call = world.history(agent).await.pop().unwrap().tool_calls[0]
        .id
        .clone();
    let failed = world.decide(agent, &[(&call, true)]).await.unwrap_err();
    assert!(matches!(failed, AgentError::Internal(_)));
    let waits = state(&world, agent).await;
    assert_eq!(waits.last_stop_reason, Some(StopReason::RequiresApproval));
    assert!(
        world
            .engine
            .pending_approval(&waits)
            .await
            .unwrap()
            .is_some()
    );
    world.decide(agent, &[(&call, false)]).await.unwrap();
    assert_eq!(
        state(&world, agent).await.last_stop_reason,
        Some(StopReason::EndTurn)
    );
}

#[tokio::test]
async fn an_answer_in_the_older_form_that_comes_again_goes_on() {
    let world = World::new().await;
    let agent = asking(&world, "echo").await;
    world.say(agent, "call echo\nthen\nsay done").await;
    let request = world.history(agent).await.pop().unwrap().id;
    let decide = async |id: String| {
        let mut decision = RunRequest::new(agent, RunType::Message);
        decision.input.decision = Some(Decision::Whole {
            request_id: Some(id),
            approve: true,
            reason: None,
        });
        world.send(decision).await
    };
    for _ in 0..2 {
        let done = decide(request.to_string()).await.unwrap();
        assert_eq!(done.stop_reason, StopReason::EndTurn);
    }
    let words = world.words(agent).await;
    assert_eq!(words, "user ask decision return:ok text user text");
    // Also where it is out of the context.
    world.engine.reset(agent, false).await.unwrap();
    let unknown = decide(request.to_string()).await.unwrap_err();
    assert!(matches!(unknown.error, AgentError::NothingToApprove));
}
