use bulkhead_agent::{AgentError, Event, ThreadKey};
use bulkhead_domain::{CompactionMode, CompactionSettings, Role, StopReason, id::AgentId};
use bulkhead_store::ThreadFilter;

use crate::world::{Setup, World, listen, said};

fn thread(agent_id: AgentId) -> ThreadKey {
    ThreadKey {
        agent_id,
        conversation_id: None,
    }
}

async fn talk(world: &World, turns: usize) -> AgentId {
    let agent = world.agent(Setup::default()).await;
    for turn in 0..turns {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    agent
}

fn all() -> Option<CompactionSettings> {
    Some(CompactionSettings {
        mode: CompactionMode::All,
        ..CompactionSettings::default()
    })
}

#[tokio::test]
async fn the_oldest_part_is_replaced_by_a_summary_and_stays_in_the_history() {
    let world = World::new().await;
    let agent = talk(&world, 6).await;
    let report = world.engine.compact(thread(agent), None).await.unwrap();
    assert_eq!(report.num_messages_before, 13);
    assert!(report.num_messages_after < 13 && !report.summary.is_empty());
    assert_eq!(world.history(agent).await.len(), 14);
    let stored = world.store.agent(&agent).await.unwrap().unwrap();
    let context = world
        .store
        .messages_by_ids(&agent, &stored.message_ids)
        .await
        .unwrap();
    let roles: Vec<Role> = context.iter().take(3).map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::Summary, Role::Assistant]);
    assert_eq!(
        i64::try_from(context.len()).unwrap(),
        report.num_messages_after
    );
    world.say(agent, "hello").await;
    world.agrees(agent).await;
}

#[tokio::test]
async fn everything_can_be_replaced_and_twice_is_refused() {
    let world = World::new().await;
    let agent = talk(&world, 3).await;
    let report = world.engine.compact(thread(agent), all()).await.unwrap();
    assert_eq!(
        (report.num_messages_before, report.num_messages_after),
        (7, 2)
    );
    let again = world
        .engine
        .compact(thread(agent), all())
        .await
        .unwrap_err();
    assert!(matches!(again, AgentError::NothingToCompact));
}

#[tokio::test]
async fn a_context_that_the_provider_refuses_is_made_shorter_and_asked_again() {
    let world = World::new().await;
    let agent = talk(&world, 20).await;
    let filler = "word ".repeat(2_000);
    world.say(agent, &format!("say {filler}")).await;
    let outcome = world
        .say(agent, "fail context_window over 2000 tokens\nsay it fits")
        .await;
    assert_eq!(outcome.stop_reason, StopReason::EndTurn);
    assert!(
        world.words(agent).await.ends_with("summary user text"),
        "{}",
        world.words(agent).await
    );
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_its_context_is_made_shorter_is_cancelled() {
    let world = World::new().await;
    let setup = Setup {
        edit: |agent| {
            agent.compaction_settings = Some(CompactionSettings {
                mode: CompactionMode::SelfCompactAll,
                prompt: Some("wait 60s\nsay A summary.".to_owned()),
                ..CompactionSettings::default()
            });
        },
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    for turn in 0..3 {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    let before = world.words(agent).await;
    let input = "fail context_window over 10 tokens\nsay it fits";
    let (mut events, driven) = listen(&world, said(agent, input), false).await;
    while !matches!(events.recv().await.unwrap(), Event::Compacting { .. }) {}
    let all = ThreadFilter::Any;
    world.engine.cancel(agent, all, None).await.unwrap();
    let ended = driven.await.unwrap().unwrap();
    assert_eq!(ended.stop_reason, StopReason::Cancelled);
    assert_eq!(world.words(agent).await, before);
    world.agrees(agent).await;
}

#[tokio::test]
async fn a_full_window_is_made_shorter_after_the_step() {
    let world = World::new().await;
    let setup = Setup {
        edit: |agent| agent.llm_config.context_window = 3_000,
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let filler = "word ".repeat(500);
    for _ in 0..8 {
        world.say(agent, &format!("say {filler}")).await;
    }
    assert!(world.words(agent).await.contains("summary"));
    let context = world.engine.context(agent, None).await.unwrap();
    assert!(context.context_window_size_current < 3_000);
    assert!(context.summary_memory.is_some());
}

#[tokio::test]
async fn a_system_prompt_that_does_not_fit_is_said_to_be_the_cause() {
    let world = World::new().await;
    let setup = Setup {
        edit: |agent| {
            agent.llm_config.context_window = 120;
            agent.system = "rule ".repeat(1_000);
        },
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let failed = world
        .send(said(agent, "fail context_window over 100 tokens\nsay x"))
        .await
        .unwrap_err();
    assert!(matches!(
        failed.error,
        AgentError::SystemPromptTooLarge { window: 120, .. }
    ));
    assert_eq!(
        failed.error.fault().stop_reason,
        StopReason::ContextWindowOverflowInSystemPrompt
    );
}
