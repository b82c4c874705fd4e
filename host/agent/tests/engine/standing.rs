use bulkhead_agent::AgentError;
use bulkhead_domain::{
    RunStatus, StopReason, Timestamp,
    id::AgentId,
    platform::{AgentType, AgentTypeId, Instance, Project, Standing, User},
};
use serde_json::json;

use crate::world::{Setup, World, said};

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
