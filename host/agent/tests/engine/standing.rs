use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bulkhead_agent::{AgentError, Models, ThreadKey};
use bulkhead_domain::{
    LlmConfig, RunStatus, StopReason, Timestamp, ToolStatus,
    id::AgentId,
    platform::{AgentType, AgentTypeId, Instance, Project, Standing, User},
};
use bulkhead_llm::{ChatReply, ChatRequest, Client, Endpoint, LlmError, chat::Deltas};
use futures::future::BoxFuture;
use serde_json::json;

use crate::world::{Setup, World, client, nowhere, said};

/// An agent of a project: others have no standing but the active one.
async fn instance(world: &World) -> AgentId {
    let store = &world.store;
    let owner = User::new("ada@example.com");
    store.create_user(&owner, "hash").await.unwrap();
    let project = Project::new(owner.id, "One", "one");
    store.create_project(&project).await.unwrap();
    let now = Timestamp::now();
    let agent_type: AgentType = serde_json::from_value(json!({
        "id": AgentTypeId::random(), "name": "One", "slug": "one", "personality_prompt": "Test.",
        "primary_model": "bulkhead/scripted", "is_active": true, "created_at": now,
        "updated_at": now,
    }))
    .unwrap();
    store.create_agent_type(&agent_type).await.unwrap();
    let mut new = world.unstored(Setup::default()).await;
    let id = new.agent.id;
    new.instance = Some(Instance {
        agent_id: id,
        project_id: project.id,
        agent_type_id: agent_type.id,
        name: new.agent.name.clone(),
        created_by: owner.id,
        standing: Standing::Active,
        created_at: now,
        updated_at: now,
        terminated_at: None,
    });
    store.create_agent(&new).await.unwrap();
    id
}

async fn set(world: &World, agent: AgentId, to: Standing) {
    let set = world.store.set_standing(agent, to.reached_from(), to);
    set.await.unwrap();
}

#[tokio::test]
async fn an_agent_that_is_not_active_takes_no_messages_and_says_why() {
    let world = World::new().await;
    let agent = instance(&world).await;
    set(&world, agent, Standing::Paused).await;
    let mut background = said(agent, "hello");
    background.background = true;
    background.otids = vec!["otid".to_owned()];
    for request in [said(agent, "hello"), background] {
        let alone = world.engine.begin_alone(request.clone()).await;
        for refused in [world.engine.begin(request).await.map(drop), alone.map(drop)] {
            let error = refused.unwrap_err();
            assert!(
                matches!(error, AgentError::Paused(id) if id == agent),
                "{error:?}"
            );
            let text = "The agent is paused: resume it to send messages.";
            assert_eq!(error.to_string(), text);
        }
    }
    assert_eq!(world.engine.running(), []);
    set(&world, agent, Standing::Active).await;
    world.say(agent, "hello").await;
    assert_eq!(world.words(agent).await, "user text");
    set(&world, agent, Standing::Terminated).await;
    let error = world.engine.begin(said(agent, "hello")).await.map(drop);
    let error = error.unwrap_err();
    assert!(
        matches!(error, AgentError::Terminated(id) if id == agent),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "The agent is terminated: it takes no messages."
    );
    assert_eq!(world.words(agent).await, "user text");
}

#[tokio::test]
async fn a_pause_between_the_beginning_of_a_run_and_its_first_step_wins() {
    let world = World::new().await;
    let agent = instance(&world).await;
    world.say(agent, "call echo").await;
    let before = world.words(agent).await;
    for standing in [Standing::Paused, Standing::Terminated] {
        let begun = world.engine.begin(said(agent, "hello")).await.unwrap();
        let run_id = begun.id();
        set(&world, agent, standing).await;
        let listener = bulkhead_agent::Listener::none();
        let outcome = world.engine.drive(begun, listener).await.unwrap();
        assert_eq!(outcome.stop_reason, StopReason::Cancelled);
        assert_eq!((outcome.steps, outcome.messages.len()), (0, 0));
        let run = world.store.run(&run_id).await.unwrap().unwrap();
        assert_eq!(run.status, RunStatus::Cancelled);
        assert_eq!(world.words(agent).await, before);
        if standing == Standing::Paused {
            set(&world, agent, Standing::Active).await;
        }
    }
}

#[tokio::test]
async fn a_run_that_nobody_cancels_ends_with_the_step_in_which_its_agent_was_paused() {
    let world = World::new().await;
    let agent = instance(&world).await;
    for standing in [Standing::Paused, Standing::Terminated] {
        let before = world.history(agent).await.len();
        let text = "wait 300ms\ncall echo\nthen\ncall echo\nthen\nsay never";
        let begun = world.engine.begin(said(agent, text)).await.unwrap();
        let run_id = begun.id();
        let listener = bulkhead_agent::Listener::none();
        let engine = world.engine.clone();
        let driven = tokio::spawn(async move { engine.drive(begun, listener).await });
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        set(&world, agent, standing).await;
        let outcome = driven.await.unwrap().unwrap();
        assert_eq!(outcome.stop_reason, StopReason::Cancelled);
        assert_eq!(outcome.steps, 1);
        let run = world.store.run(&run_id).await.unwrap().unwrap();
        let ended = (run.status, run.stop_reason);
        assert_eq!(ended, (RunStatus::Cancelled, Some(StopReason::Cancelled)));
        // What it did until then is kept, and no call is without its result.
        assert_eq!(world.history(agent).await.len(), before + 3);
        world.agrees(agent).await;
        if standing == Standing::Paused {
            set(&world, agent, Standing::Active).await;
        }
    }
}

#[tokio::test]
async fn a_server_cancels_its_runs_whose_agent_another_one_paused_and_no_others() {
    let world = World::new().await;
    let (agent, other) = (instance(&world).await, world.agent(Setup::default()).await);
    #[expect(
        clippy::async_yields_async,
        reason = "the run is waited for when it was cancelled"
    )]
    let drive = async |agent| {
        let begun = world.engine.begin(said(agent, "wait 60s")).await.unwrap();
        let engine = world.engine.clone();
        let listener = bulkhead_agent::Listener::none();
        tokio::spawn(async move { engine.drive(begun, listener).await })
    };
    let (paused, others) = (drive(agent).await, drive(other).await);
    world.engine.heed_others().await.unwrap();
    assert_eq!(world.engine.running().len(), 2);
    set(&world, agent, Standing::Paused).await;
    world.engine.heed_others().await.unwrap();
    let outcome = paused.await.unwrap().unwrap();
    assert_eq!(outcome.stop_reason, StopReason::Cancelled);
    assert!(!others.is_finished());
    others.abort();
}

/// The offline model, which may give no answer any more.
struct Silent {
    client: Client,
    silent: AtomicBool,
}

impl Models for Silent {
    fn resolve<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<LlmConfig, AgentError>> {
        Box::pin(async move { Err(AgentError::UnknownModel(handle.to_owned())) })
    }

    fn endpoint<'a>(&'a self, _: &'a LlmConfig) -> BoxFuture<'a, Result<Endpoint, AgentError>> {
        Box::pin(async { Ok(nowhere()) })
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: Option<Deltas>,
    ) -> BoxFuture<'a, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            if self.silent.load(Ordering::Relaxed) {
                return pending().await;
            }
            self.client.chat(request, deltas).await
        })
    }
}

#[tokio::test]
async fn a_pause_ends_a_compaction_and_a_call_by_hand() {
    let models = Arc::new(Silent {
        client: client(),
        silent: AtomicBool::new(false),
    });
    let world = World::with(Arc::clone(&models) as _).await;
    let agent = instance(&world).await;
    for turn in 0..3 {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    let before = world.words(agent).await;
    models.silent.store(true, Ordering::Relaxed);
    let everything = serde_json::from_value(json!({ "mode": "all" })).unwrap();
    let compacting = world
        .engine
        .compact(ThreadKey::default_of(agent), everything);
    let mut compacting = std::pin::pin!(compacting);
    let calling = world.engine.run_tool(agent, "hang", Default::default());
    let mut calling = std::pin::pin!(calling);
    // Both go on until somebody ends them, who waits for that.
    assert!(futures::poll!(compacting.as_mut()).is_pending());
    assert!(futures::poll!(calling.as_mut()).is_pending());
    let pausing = async {
        // Neither has asked whether the agent is active at its first poll.
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        set(&world, agent, Standing::Paused).await;
        world.engine.cancel_runs(agent).await.unwrap();
    };
    let (compacted, called, ()) = tokio::join!(compacting, calling, pausing);
    let error = compacted.map(drop).unwrap_err();
    assert!(
        matches!(error, AgentError::Paused(id) if id == agent),
        "{error:?}"
    );
    let called = called.unwrap().expect("the agent has the tool");
    assert_eq!(called.returned.status, ToolStatus::Error);
    assert_eq!(world.words(agent).await, before);
}
