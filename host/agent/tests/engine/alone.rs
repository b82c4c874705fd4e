//! Runs that must be alone in their thread.

use bulkhead_agent::{AgentError, Begun, Entry, Listener};
use bulkhead_domain::{StopReason, id::AgentId};

use crate::world::{Setup, World, said};

async fn alone(world: &World, agent: AgentId) -> Result<Begun, AgentError> {
    match world.engine.begin_alone(said(agent, "hello")).await? {
        Entry::Begun(begun) => Ok(*begun),
        Entry::Known(run) => panic!("{run:?}"),
    }
}

#[tokio::test]
async fn a_run_that_must_be_alone_waits_for_one_that_need_not_and_refuses_its_like() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let first = world.engine.begin(said(agent, "call hang")).await.unwrap();
    let hangs = first.id();
    let engine = world.engine.clone();
    let first = tokio::spawn(async move { engine.drive(first, Listener::none()).await });
    let second = alone(&world, agent).await.unwrap();
    let refused = alone(&world, agent).await.map(drop).unwrap_err();
    assert!(matches!(refused, AgentError::Busy(run) if run == second.id()));
    let engine = world.engine.clone();
    let second = tokio::spawn(async move { engine.drive(second, Listener::none()).await });
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert!(!second.is_finished(), "one works at a time");
    assert!(world.engine.cancel_run(hangs));
    first.await.unwrap().unwrap();
    assert_eq!(
        second.await.unwrap().unwrap().stop_reason,
        StopReason::EndTurn
    );
    alone(&world, agent).await.map(drop).unwrap();
}
