//! Turns among servers on one database: the others are what a test writes into it.

use std::time::{Duration, Instant};

use bulkhead_agent::{AgentError, Entry, Failure, Listener, Outcome, RunType};
use bulkhead_domain::{Run, RunStatus, StopReason, id::AgentId};
use bulkhead_store::{Asking, RunFilter, ThreadFilter, Turn};
use tokio::task::JoinHandle;

use crate::{
    interrupted::{killed, stored},
    world::{Setup, World, said},
};

/// Nobody is silent for so long here.
const LONG: Duration = Duration::from_secs(60);

/// Asks for the turn of a run as another server does.
async fn take(world: &World, run: &Run, silence: Duration) -> Turn {
    let asking = Asking {
        run,
        own: &[],
        silence,
        yields: false,
    };
    world.store.take_turn(asking).await.unwrap()
}

/// A run of this server that goes on in the background, as it was stored.
async fn going_on(
    world: &World,
    agent: AgentId,
    text: &str,
) -> (Run, JoinHandle<Result<Outcome, Failure>>) {
    let begun = world.engine.begin(said(agent, text)).await.unwrap();
    let (run, engine) = (begun.run().clone(), world.engine.clone());
    let driven = tokio::spawn(async move { engine.drive(begun, Listener::none()).await });
    (run, driven)
}

async fn until(world: &World, run: &Run, status: RunStatus) {
    let reached = async {
        while stored(world, run.id).await.status != status {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let reached = tokio::time::timeout(LONG, reached).await;
    reached.expect("it comes so far");
}

async fn human(world: &World, agent: AgentId) -> String {
    let block = world.store.block_of_agent(&agent, "human").await.unwrap();
    block.unwrap().value
}

#[tokio::test]
async fn a_run_of_a_killed_server_holds_its_thread_until_nothing_was_heard_of_it_for_a_while() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let silence = Duration::from_millis(400);
    world.engine.share(silence);
    let left = killed(&world, agent, RunType::Message).await;
    assert_eq!(take(&world, &left, silence).await, Turn::Taken);
    let mut next = std::pin::pin!(world.say(agent, "hello"));
    // As long as its server says that it works on it.
    for _ in 0..10 {
        world
            .store
            .keep_runs_alive(&[left.id], silence)
            .await
            .unwrap();
        let early = tokio::time::timeout(silence / 4, next.as_mut()).await;
        assert!(early.is_err(), "two runs of one thread work");
    }
    let taken = tokio::time::timeout(Duration::from_secs(20), next).await;
    let taken = taken.expect("a server that was killed holds nobody up");
    assert_eq!(taken.stop_reason, StopReason::EndTurn);
    assert!(!stored(&world, left.id).await.status.is_final());
    world.agrees(agent).await;
}

#[tokio::test]
async fn a_run_that_must_be_alone_takes_the_turn_of_a_killed_server_and_not_that_of_a_living_one() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let silence = Duration::from_millis(1_000);
    world.engine.share(silence);
    let left = killed(&world, agent, RunType::Message).await;
    assert_eq!(take(&world, &left, silence).await, Turn::Taken);
    // The run by which `left` was made.
    while !world.engine.running().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut alone = std::pin::pin!(world.engine.begin_alone(said(agent, "hello")));
    let refused = loop {
        world
            .store
            .keep_runs_alive(&[left.id], silence)
            .await
            .unwrap();
        if let Ok(entry) = tokio::time::timeout(silence / 10, alone.as_mut()).await {
            break entry.err().expect("its server lives");
        }
    };
    assert!(
        matches!(refused, AgentError::Busy(run_id) if run_id == left.id),
        "{refused}"
    );
    let filter = RunFilter::default();
    assert_eq!(
        world.store.runs(&filter).await.unwrap().len(),
        2,
        "what was refused is no run"
    );
    let alone = world.engine.begin_alone(said(agent, "hello"));
    let taken = tokio::time::timeout(Duration::from_secs(20), alone).await;
    let Entry::Begun(begun) = taken.expect("nothing is heard of it").unwrap() else {
        panic!("nobody sent this before");
    };
    let outcome = world.engine.drive(*begun, Listener::none()).await.unwrap();
    assert_eq!(outcome.stop_reason, StopReason::EndTurn);
    world.agrees(agent).await;
}

#[tokio::test]
async fn a_run_that_lost_its_turn_while_its_server_was_silent_runs_no_tool_and_fails() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let silence = Duration::from_millis(300);
    world.engine.share(silence);
    let (run, driven) = going_on(
        &world,
        agent,
        "wait 2s\ncall remember with {\"x\": \"late\"}",
    )
    .await;
    until(&world, &run, RunStatus::Running).await;
    let next = killed(&world, agent, RunType::Message).await;
    while take(&world, &next, silence).await != Turn::Taken {
        assert!(!driven.is_finished());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // It lives again, and says so.
    world.engine.say_alive().await.unwrap();
    let failure = driven.await.unwrap().unwrap_err();
    assert!(
        matches!(failure.error, AgentError::TurnLost),
        "{}",
        failure.error
    );
    assert_eq!(human(&world, agent).await, "Name: Bob");
    let run = stored(&world, run.id).await;
    assert_eq!(
        (run.status, run.stop_reason),
        (RunStatus::Failed, Some(StopReason::Error))
    );
    assert!(run.total_duration_ns.is_some());
    let error = run.metadata.unwrap()["error"].to_string();
    assert!(error.contains("another one went on"), "{error}");
    // How the agent stopped is the other one's to say.
    let state = world.store.agent(&agent).await.unwrap().unwrap();
    assert_ne!(state.last_stop_reason, Some(StopReason::Error));
    assert_eq!(stored(&world, next.id).await.status, RunStatus::Running);
    assert_eq!(world.words(agent).await, "");
}

#[tokio::test]
async fn a_run_that_lost_its_turn_is_stopped_when_its_server_hears_of_it() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let silence = Duration::from_millis(300);
    world.engine.share(silence);
    let (run, driven) = going_on(&world, agent, "call hang").await;
    until(&world, &run, RunStatus::Running).await;
    world.engine.heed_others().await.unwrap();
    let next = killed(&world, agent, RunType::Message).await;
    while take(&world, &next, silence).await != Turn::Taken {
        assert!(!driven.is_finished(), "it was not cancelled");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.engine.heed_others().await.unwrap();
    let failure = tokio::time::timeout(LONG, driven)
        .await
        .expect("the tool is stopped");
    let failure = failure.unwrap().unwrap_err();
    assert!(
        matches!(failure.error, AgentError::TurnLost),
        "{}",
        failure.error
    );
    assert_eq!(world.words(agent).await, "", "what it did comes too late");
}

#[tokio::test]
async fn a_server_that_was_silent_and_whose_turn_nobody_wanted_goes_on() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    world.engine.share(Duration::from_millis(100));
    let text = "wait 1s\ncall remember with {\"x\": \"late\"}\nthen\nsay done";
    let outcome = world.say(agent, text).await;
    assert_eq!(outcome.stop_reason, StopReason::EndTurn);
    assert_eq!(human(&world, agent).await, "late");
    assert_eq!(
        world.words(agent).await,
        "user call:remember return:ok text"
    );
}

#[tokio::test]
async fn a_run_that_was_found_abandoned_while_it_waited_says_so() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    world.engine.share(LONG);
    let works = killed(&world, agent, RunType::Message).await;
    assert_eq!(take(&world, &works, LONG).await, Turn::Taken);
    let (run, driven) = going_on(&world, agent, "hello").await;
    // Another server, of which nobody knows why it thinks so.
    world.engine.fail_abandoned(None).await.unwrap();
    let failure = driven.await.unwrap().unwrap_err();
    assert!(
        matches!(failure.error, AgentError::Abandoned),
        "{}",
        failure.error
    );
    assert_eq!(stored(&world, run.id).await.status, RunStatus::Failed);
}

#[tokio::test]
async fn to_cancel_a_run_of_a_killed_server_waits_for_nobody() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let silence = Duration::from_millis(600);
    world.engine.share(silence);
    let left = killed(&world, agent, RunType::Message).await;
    assert_eq!(take(&world, &left, silence).await, Turn::Taken);
    while !world.engine.running().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(silence).await;
    let began = Instant::now();
    let cancelled = world.engine.cancel(agent, ThreadFilter::Any, None).await;
    assert_eq!(cancelled.unwrap(), [(left.id, true)]);
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    world.say(agent, "hello").await;
    assert_eq!(world.words(agent).await, "user text");
}
