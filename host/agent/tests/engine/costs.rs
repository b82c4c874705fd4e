//! What a model used is recorded, whatever becomes of its answer.

use bulkhead_agent::{AgentError, ThreadKey};
use bulkhead_domain::{AgentType, LlmConfig, Role, Step, StepStatus, StopReason, id::AgentId};
use bulkhead_llm::scripted;
use bulkhead_store::{StepFilter, UsageOf};
use serde_json::json;

use crate::world::{Setup, World, listen, said};

/// Questions and tokens of an agent, as its metrics have them.
async fn used(world: &World, agent: AgentId) -> (u64, i64) {
    let agents = [agent];
    let usage = world.store.usage_of_agents(UsageOf::Agents(&agents)).await;
    let models = &usage.unwrap()[0].models;
    let steps = models.iter().map(|model| model.steps).sum();
    let tokens = models.iter().map(|model| model.usage.total_tokens).sum();
    (steps, tokens)
}

async fn steps(world: &World, agent: AgentId) -> Vec<Step> {
    let filter = StepFilter {
        agent_id: Some(agent),
        ..StepFilter::default()
    };
    world.store.steps(&filter).await.unwrap()
}

#[tokio::test]
async fn a_summary_that_a_client_asks_for_is_a_step_of_its_own() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    for turn in 0..3 {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    let (before, tokens) = used(&world, agent).await;
    let all = serde_json::from_value(json!({ "mode": "all" })).unwrap();
    let compacted = world.engine.compact(ThreadKey::default_of(agent), all);
    compacted.await.unwrap();
    let (after, more) = used(&world, agent).await;
    assert_eq!(after, before + 1);
    assert!(more > tokens, "{more} {tokens}");
    let steps = steps(&world, agent).await;
    let mut summaries = steps.iter().filter(|step| step.run_id.is_none());
    let summary = summaries.next().unwrap();
    assert_eq!(summary.tags, ["summarization"]);
    assert_eq!(summary.status, StepStatus::Success);
    assert_eq!(summary.model_handle.as_deref(), Some(scripted::HANDLE));
    assert!(summaries.next().is_none());
}

#[tokio::test]
async fn a_summary_within_a_run_is_used_up_beside_the_runs_own_steps() {
    let world = World::new().await;
    let setup = Setup {
        edit: |agent| agent.llm_config.context_window = 3_000,
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let filler = "word ".repeat(500);
    let (mut told, mut asked, mut summaries) = (0, 0, 0);
    for _ in 0..8 {
        let outcome = world.say(agent, &format!("say {filler}")).await;
        told += outcome.usage.total_tokens;
        asked += u64::from(outcome.steps);
        let messages = outcome.messages.iter();
        let of_summary = messages.filter(|message| message.role == Role::Summary);
        summaries += of_summary.count() as u64;
    }
    assert!(summaries > 0);
    let (steps, tokens) = used(&world, agent).await;
    assert_eq!(steps, asked + summaries);
    assert!(tokens > told, "{tokens} {told}");
}

#[tokio::test]
async fn an_answer_that_can_not_be_used_is_used_up_all_the_same() {
    let world = World::new().await;
    let setup = Setup {
        agent_type: AgentType::MemgptV2Agent,
        tools: &[],
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let failure = world.send(said(agent, "say hi")).await.unwrap_err();
    assert!(
        matches!(failure.error, AgentError::UnusableReply(_)),
        "{failure:?}"
    );
    let (steps, tokens) = used(&world, agent).await;
    assert_eq!(steps, 1);
    assert!(tokens > 0);
}

#[tokio::test]
async fn an_answer_that_nobody_heard_is_used_up_all_the_same() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let mut request = said(agent, "call echo\nrepeat");
    request.max_steps = 1_000;
    let (mut events, driven) = listen(&world, request, false).await;
    // The first says that the run has begun. All others come in pairs, a call and its result, and as
    // many pairs wait as there is room for: what finds none is a call.
    events.recv().await.unwrap();
    let mut before = 0;
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let (asked, _) = used(&world, agent).await;
        if asked == before && asked > 0 {
            break;
        }
        before = asked;
    }
    let run_id = world.engine.running()[0];
    assert!(world.engine.cancel_run(run_id));
    let outcome = driven.await.unwrap().unwrap();
    drop(events);
    assert_eq!(outcome.stop_reason, StopReason::Cancelled);
    assert!(outcome.has_gap);
    let last = &steps(&world, agent).await[0];
    assert_eq!(last.status, StepStatus::Cancelled);
    assert!(last.usage.total_tokens > 0);
    let told = (u64::from(outcome.steps), outcome.usage.total_tokens);
    assert_eq!(used(&world, agent).await, told);
    world.agrees(agent).await;
}

#[tokio::test]
async fn a_step_names_the_provider_that_serves_it_whatever_handle_a_client_wrote() {
    let world = World::new().await;
    let setup = Setup {
        edit: |agent| {
            agent.llm_config = LlmConfig {
                handle: Some("cheap/model".to_owned()),
                ..agent.llm_config.clone()
            };
        },
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    world.say(agent, "hello").await;
    let steps = steps(&world, agent).await;
    assert_eq!(steps[0].model_handle.as_deref(), Some(scripted::HANDLE));
}
