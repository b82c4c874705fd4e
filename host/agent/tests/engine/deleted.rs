//! Agents that are deleted while they work: it ends, quietly, and nothing begins any more.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bulkhead_agent::{AgentError, Engine, Event, Listener};
use bulkhead_domain::{StopReason, id::AgentId};
use bulkhead_store::ThreadFilter;
use tracing::{Event as Logged, Level, Metadata, Subscriber, span, span::Id};

use crate::world::{Setup, World, listen, said};

/// Counts what is logged as an error.
#[derive(Clone, Default)]
struct Errors(Arc<AtomicUsize>);

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn event(&self, _: &Logged<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Deletes an agent by this engine while another run of it goes on; gives why that one ended.
async fn deleted(world: &World, by: &Engine, text: &str) -> (AgentId, StopReason) {
    let agent = world.agent(Setup::default()).await;
    let (mut events, driven) = listen(world, said(agent, text), false).await;
    let Some(Event::Started(run)) = events.recv().await else {
        panic!("no run")
    };
    let closed = by.close(agent, ThreadFilter::Any).await.unwrap();
    let begins = by.begin(said(agent, "say hi")).await;
    assert!(matches!(begins, Err(AgentError::NoAgent(_))));
    assert!(world.store.delete_agent(&agent).await.unwrap());
    drop(closed);
    let begins = by.begin(said(agent, "say hi")).await;
    assert!(matches!(begins, Err(AgentError::NoAgent(_))));
    let ended = driven.await.unwrap().unwrap();
    assert_eq!(ended.run_id, run);
    assert_eq!(world.store.run(&run).await.unwrap(), None);
    (agent, ended.stop_reason)
}

#[tokio::test]
async fn a_run_is_cancelled_before_its_agent_is_deleted() {
    let errors = Errors::default();
    let _logged = tracing::subscriber::set_default(errors.clone());
    let world = World::new().await;
    for text in ["wait 60s\nsay hi", "call hang"] {
        let (agent, reason) = deleted(&world, &world.engine, text).await;
        assert_eq!(reason, StopReason::Cancelled);
        assert!(world.history(agent).await.is_empty());
    }
    assert_eq!(errors.0.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_run_whose_agent_another_server_deletes_ends_with_its_step() {
    let errors = Errors::default();
    let _logged = tracing::subscriber::set_default(errors.clone());
    let world = World::new().await;
    let other = Engine::new(world.store.clone(), Arc::clone(world.engine.models()));
    let (_, reason) = deleted(&world, &other, "wait 300ms\nsay hi").await;
    assert_eq!(reason, StopReason::Cancelled);
    assert_eq!(errors.0.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_run_that_is_deleted_ends_cancelled_and_stores_nothing_whenever_that_is_seen() {
    let errors = Errors::default();
    let _logged = tracing::subscriber::set_default(errors.clone());
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    // Before it is driven, and by another server while the model is at work.
    let begun = world.engine.begin(said(agent, "say hi")).await.unwrap();
    assert!(world.store.delete_run(&begun.id()).await.unwrap());
    let ended = world.engine.drive(begun, Listener::none()).await.unwrap();
    assert_eq!(ended.stop_reason, StopReason::Cancelled);
    assert_eq!(world.words(agent).await, "");
    let (mut events, driven) = listen(&world, said(agent, "wait 300ms\nsay hi"), false).await;
    let Some(Event::Started(run)) = events.recv().await else {
        panic!("no run")
    };
    assert!(world.store.delete_run(&run).await.unwrap());
    let ended = driven.await.unwrap().unwrap();
    assert_eq!(
        (ended.run_id, ended.stop_reason),
        (run, StopReason::Cancelled)
    );
    assert_eq!(world.words(agent).await, "");
    assert_eq!(world.store.run(&run).await.unwrap(), None);
    assert_eq!(errors.0.load(Ordering::Relaxed), 0);
    world.say(agent, "hello").await;
    assert_eq!(world.words(agent).await, "user text");
}

#[tokio::test]
async fn a_server_sees_that_a_run_on_which_it_works_was_deleted_and_stops_its_tool() {
    let errors = Errors::default();
    let _logged = tracing::subscriber::set_default(errors.clone());
    let world = World::new().await;
    world.engine.share(Duration::from_secs(60));
    let agent = world.agent(Setup::default()).await;
    let (mut events, driven) = listen(&world, said(agent, "call hang\nrepeat"), false).await;
    let Some(Event::Started(run)) = events.recv().await else {
        panic!("no run")
    };
    // The call, of which it tells before the tool runs.
    events.recv().await.unwrap();
    world.engine.heed_others().await.unwrap();
    assert!(!driven.is_finished(), "nobody has said anything of it");
    assert!(world.store.delete_run(&run).await.unwrap());
    world.engine.heed_others().await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(20), driven).await;
    let ended = ended.expect("its tool is stopped").unwrap().unwrap();
    assert_eq!(ended.stop_reason, StopReason::Cancelled);
    assert_eq!(world.words(agent).await, "");
    assert_eq!(errors.0.load(Ordering::Relaxed), 0);
    world.say(agent, "hello").await;
}
