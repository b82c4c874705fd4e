use bulkhead_agent::AgentError;
use bulkhead_domain::{Role, StopReason, id::AgentId};
use bulkhead_store::ThreadFilter;
use serde_json::json;

use crate::world::{Setup, World, said};

async fn waiting(world: &World, text: &str) -> (AgentId, Vec<String>) {
    let setup = Setup {
        rules: json!([
            {"type": "requires_approval", "tool_name": "echo"},
        ]),
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let outcome = world.say(agent, text).await;
    assert_eq!(outcome.stop_reason, StopReason::RequiresApproval);
    let request = world.history(agent).await.pop().unwrap();
    assert!(request.is_approval_request());
    let calls = request.tool_calls.iter().map(|call| call.id.clone());
    (agent, calls.collect())
}

#[tokio::test]
async fn an_approved_call_runs_and_the_model_goes_on() {
    let world = World::new().await;
    let (agent, calls) = waiting(&world, "call echo with {\"x\": \"4\"}\nthen\nsay four").await;
    let outcome = world.decide(agent, &[(&calls[0], true)]).await.unwrap();
    assert_eq!(outcome.messages[0].role, Role::Tool);
    assert_eq!(outcome.stop_reason, StopReason::EndTurn);
    assert_eq!(world.words(agent).await, "user ask decision return:ok text");
    let history = world.history(agent).await;
    assert_eq!(
        history[2].step_id, history[4].step_id,
        "results stand in the step that asked"
    );
}

#[tokio::test]
async fn results_come_in_the_order_that_clients_know() {
    let world = World::new().await;
    let (agent, calls) = waiting(&world, "call twin\ncall echo\ncall echo").await;
    assert_eq!(world.words(agent).await, "user call:twin ask");
    let decisions = [(calls[0].as_str(), true), (calls[1].as_str(), false)];
    world.decide(agent, &decisions).await.unwrap();
    let history = world.history(agent).await;
    let returns = &history[5].tool_returns;
    let order: Vec<&str> = returns
        .iter()
        .map(|returned| returned.tool_call_id.as_str())
        .collect();
    assert_eq!(order, [&calls[1], &calls[0], &history[2].tool_calls[0].id]);
    assert_eq!(
        returns[0].text,
        "Error: request to call tool denied. User reason: no way"
    );
}

#[tokio::test]
async fn an_open_request_refuses_everything_but_its_answer() {
    let world = World::new().await;
    let (agent, calls) = waiting(&world, "call echo").await;
    let before = world.words(agent).await;
    let refused = world.send(said(agent, "hello")).await.unwrap_err();
    assert!(matches!(refused.error, AgentError::PendingApproval(_)));
    let wrong = world
        .decide(agent, &[("x", true)])
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        wrong,
        format!(
            "Invalid tool call IDs. Expected '['{}']', but received '['x']'.",
            calls[0]
        )
    );
    assert_eq!(world.words(agent).await, before);
    let stored = world.store.agent(&agent).await.unwrap().unwrap();
    assert_eq!(stored.last_stop_reason, Some(StopReason::RequiresApproval));
    assert!(
        world
            .engine
            .pending_approval(&stored)
            .await
            .unwrap()
            .is_some()
    );
    world.engine.context(agent, None).await.unwrap();
}

#[tokio::test]
async fn an_answer_without_a_request_is_refused_and_a_repeated_one_goes_on() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let error = world.decide(agent, &[("x", true)]).await.unwrap_err();
    assert!(matches!(error, AgentError::NothingToApprove));
    let (agent, calls) = waiting(&world, "call echo").await;
    world.decide(agent, &[(&calls[0], true)]).await.unwrap();
    let again = world.decide(agent, &[(&calls[0], true)]).await.unwrap();
    assert_eq!(again.stop_reason, StopReason::EndTurn);
    let history = world.history(agent).await;
    assert!(
        history
            .iter()
            .any(|message| message.plain_text().contains("keep-alive ping"))
    );
}

#[tokio::test]
async fn a_model_that_fails_after_an_approval_leaves_a_usable_agent() {
    let world = World::new().await;
    let (agent, calls) = waiting(&world, "call echo\nthen\nfail server").await;
    assert!(world.decide(agent, &[(&calls[0], true)]).await.is_err());
    assert_eq!(world.words(agent).await, "user ask decision return:ok");
    world.say(agent, "hello").await;
    assert_eq!(
        world.words(agent).await,
        "user ask decision return:ok user text"
    );
}

#[tokio::test]
async fn a_cancelled_request_is_closed_with_denials() {
    let world = World::new().await;
    let (agent, _) = waiting(&world, "call twin\ncall echo").await;
    let cancelled = world
        .engine
        .cancel(agent, ThreadFilter::Any, None)
        .await
        .unwrap();
    assert_eq!(cancelled.len(), 1);
    assert_eq!(
        world.words(agent).await,
        "user call:twin ask decision return:error+error"
    );
    let history = world.history(agent).await;
    assert_eq!(
        history[5].tool_returns[0].text,
        "Error: request to call tool denied. User reason: The user cancelled the request, so the tool call was denied."
    );
    let error = world
        .engine
        .cancel(agent, ThreadFilter::Any, None)
        .await
        .unwrap_err();
    assert!(matches!(error, AgentError::NothingToCancel(_)));
    world.say(agent, "hello").await;
}
