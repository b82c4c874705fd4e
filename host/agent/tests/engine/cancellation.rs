use bulkhead_agent::Event;
use bulkhead_domain::{RunStatus, StopReason};
use bulkhead_store::ThreadFilter;

use crate::world::{Setup, World, listen, said};

#[tokio::test]
async fn a_run_that_is_cancelled_while_the_model_answers_leaves_no_half_step() {
    for tokens in [false, true] {
        let world = World::new().await;
        let agent = world.agent(Setup::default()).await;
        let (mut events, driven) = listen(&world, said(agent, "wait 60s\nsay hi"), tokens).await;
        let Some(Event::Started(run)) = events.recv().await else {
            panic!("no run")
        };
        let cancelled = world
            .engine
            .cancel(agent, ThreadFilter::Any, None)
            .await
            .unwrap();
        assert_eq!(cancelled, [(run, true)]);
        assert_eq!(
            driven.await.unwrap().unwrap().stop_reason,
            StopReason::Cancelled
        );
        assert_eq!(world.words(agent).await, "");
        let run = world.store.run(&run).await.unwrap().unwrap();
        assert_eq!(
            (run.status, run.stop_reason),
            (RunStatus::Cancelled, Some(StopReason::Cancelled))
        );
        world.say(agent, "hello").await;
        assert_eq!(world.words(agent).await, "user text");
    }
}

#[tokio::test]
async fn a_tool_that_is_cancelled_has_its_result_stored() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let (mut events, driven) = listen(&world, said(agent, "call hang\ncall echo"), false).await;
    while let Some(event) = events.recv().await {
        if matches!(event, Event::Message(..)) {
            break;
        }
    }
    world
        .engine
        .cancel(agent, ThreadFilter::Any, None)
        .await
        .unwrap();
    assert_eq!(
        driven.await.unwrap().unwrap().stop_reason,
        StopReason::Cancelled
    );
    assert_eq!(
        world.words(agent).await,
        "user call:hang+echo return:error+error"
    );
    world.say(agent, "hello").await;
}

#[tokio::test]
async fn a_run_whose_listener_leaves_ends_with_it() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let (mut events, driven) = listen(&world, said(agent, "call echo\nrepeat"), false).await;
    for _ in 0..5 {
        events.recv().await.unwrap();
    }
    drop(events);
    assert_eq!(
        driven.await.unwrap().unwrap().stop_reason,
        StopReason::Cancelled
    );
    world.agrees(agent).await;
}

#[tokio::test]
async fn a_run_that_waits_for_another_can_be_cancelled() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let (_events, first) = listen(&world, said(agent, "wait 60s\nsay one"), false).await;
    let begun = world.engine.begin(said(agent, "two")).await.unwrap();
    let waiting = begun.id();
    let engine = world.engine.clone();
    let second =
        tokio::spawn(async move { engine.drive(begun, bulkhead_agent::Listener::none()).await });
    tokio::task::yield_now().await;
    assert!(world.engine.cancel_run(waiting));
    assert_eq!(
        second.await.unwrap().unwrap().stop_reason,
        StopReason::Cancelled
    );
    world
        .engine
        .cancel(agent, ThreadFilter::Any, None)
        .await
        .unwrap();
    assert_eq!(
        first.await.unwrap().unwrap().stop_reason,
        StopReason::Cancelled
    );
}
