use std::sync::{Arc, Mutex};

use bulkhead_agent::{AgentError, Event, Models, ThreadKey};
use bulkhead_domain::{
    CompactionMode, CompactionSettings, LlmConfig, Role, StopReason, Usage, id::AgentId,
};
use bulkhead_llm::{
    ChatMessage, ChatReply, ChatRequest, Client, Endpoint, LlmError, chat::Deltas, scripted,
};
use bulkhead_store::ThreadFilter;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::world::{Setup, World, client, listen, nowhere, said};

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

fn all() -> Map<String, Value> {
    settings(json!({ "mode": "all" }))
}

fn settings(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

/// The offline model, which keeps what it was asked. It may forget to say what that cost.
struct Recording {
    client: Client,
    reports_usage: bool,
    asked: Mutex<Vec<ChatRequest>>,
}

impl Recording {
    fn new(reports_usage: bool) -> Arc<Self> {
        Arc::new(Self {
            client: client(),
            reports_usage,
            asked: Mutex::default(),
        })
    }

    fn last(&self) -> ChatRequest {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

impl Models for Recording {
    fn resolve<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<LlmConfig, AgentError>> {
        Box::pin(async move {
            let (provider, model) = handle.split_once('/').unwrap();
            Ok(LlmConfig {
                model_endpoint: Some(scripted::ENDPOINT.to_owned()),
                ..LlmConfig::new(provider, "openai", model, 50_000)
            })
        })
    }

    fn endpoint<'a>(
        &'a self,
        config: &'a LlmConfig,
    ) -> BoxFuture<'a, Result<Endpoint, AgentError>> {
        Box::pin(async {
            Ok(Endpoint {
                name: config.provider_name.clone().unwrap(),
                ..nowhere()
            })
        })
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: Option<Deltas>,
    ) -> BoxFuture<'a, Result<ChatReply, LlmError>> {
        self.asked.lock().unwrap().push(request.clone());
        Box::pin(async move {
            // Whichever it is, the offline model answers in its place.
            let mut request = request.clone();
            scripted::MODEL.clone_into(&mut request.config.model);
            request.config.provider_name = Some("bulkhead".to_owned());
            let mut reply = self.client.chat(&request, deltas).await?;
            if !self.reports_usage {
                reply.usage = Usage::default();
            }
            Ok(reply)
        })
    }
}

#[tokio::test]
async fn a_summary_is_asked_of_the_model_and_in_the_way_that_the_settings_say() {
    let models = Recording::new(true);
    let world = World::with(Arc::clone(&models) as _).await;
    let setup = Setup {
        edit: |agent| {
            agent.compaction_settings = Some(CompactionSettings {
                model: Some("other/small".to_owned()),
                model_settings: Some(json!({
                    "provider_type": "openai", "max_output_tokens": 77, "temperature": 0.25,
                })),
                prompt: Some("say A summary that is far too long.".to_owned()),
                prompt_acknowledgement: true,
                clip_chars: Some(9),
                ..CompactionSettings::default()
            });
        },
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    for turn in 0..6 {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    let report = world.engine.compact(thread(agent), Map::new()).await;
    let summary = report.unwrap().summary;
    assert!(
        summary.ends_with("... [summary truncated]")
            && summary.chars().count() == 9 + "... [summary truncated]".len(),
        "{summary}"
    );
    let asked = models.last();
    assert_eq!(asked.config.handle(), "other/small");
    assert_eq!(asked.config.max_tokens, Some(77));
    assert!((asked.config.temperature - 0.25).abs() < 1e-6);
    assert_eq!(asked.system, "say A summary that is far too long.");
    assert!(matches!(
        asked.messages.as_slice(),
        [
            ChatMessage::User(_),
            ChatMessage::Assistant { .. },
            ChatMessage::User(_)
        ]
    ));
}

#[tokio::test]
async fn a_request_changes_those_settings_that_it_names_and_no_others() {
    let models = Recording::new(true);
    let world = World::with(Arc::clone(&models) as _).await;
    let setup = Setup {
        edit: |agent| {
            agent.compaction_settings = Some(CompactionSettings {
                model: Some("other/small".to_owned()),
                prompt: Some("Be short.".to_owned()),
                clip_chars: Some(9),
                ..CompactionSettings::default()
            });
        },
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    for turn in 0..6 {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    let own = settings(json!({ "mode": "all", "clip_chars": null }));
    let report = world.engine.compact(thread(agent), own).await.unwrap();
    assert_eq!(
        report.num_messages_after, 2,
        "all of it, as the request says"
    );
    let asked = models.last();
    assert_eq!(asked.config.handle(), "other/small", "as the agent says");
    assert_eq!(asked.system, "Be short.");
    assert!(!report.summary.ends_with("[summary truncated]"));
    let bad = settings(json!({ "mode": "none" }));
    let refused = world.engine.compact(thread(agent), bad).await.unwrap_err();
    assert!(matches!(refused, AgentError::Invalid(_)), "{refused:?}");
}

#[tokio::test]
async fn a_full_window_is_made_shorter_where_the_endpoint_reports_no_usage() {
    let models = Recording::new(false);
    let world = World::with(Arc::clone(&models) as _).await;
    let setup = Setup {
        edit: |agent| agent.llm_config.context_window = 3_000,
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let filler = "word ".repeat(500);
    let mut billed = 0;
    for _ in 0..8 {
        let outcome = world.say(agent, &format!("say {filler}")).await;
        billed += outcome.usage.total_tokens;
        assert!(outcome.context_tokens.is_some_and(|tokens| tokens > 0));
    }
    assert!(world.words(agent).await.contains("summary"));
    assert_eq!(billed, 0, "an estimate is nobody's bill");
}

#[tokio::test]
async fn what_a_summary_was_asked_with_is_traced_beside_its_step() {
    let world = World::new().await;
    let setup = Setup {
        edit: |agent| agent.llm_config.context_window = 3_000,
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let filler = "word ".repeat(500);
    let mut summarised = None;
    for _ in 0..8 {
        let outcome = world.say(agent, &format!("say {filler}")).await;
        let mut messages = outcome.messages.iter();
        let summary = messages.find(|message| message.role == Role::Summary);
        summarised = summarised.or(summary.and_then(|summary| summary.step_id));
    }
    let step = summarised.expect("a step filled the window");
    let traces = world.store.traces_of_step(&step).await.unwrap();
    let kinds: Vec<&str> = traces
        .iter()
        .map(|trace| trace.call_type.as_str())
        .collect();
    assert_eq!(kinds, ["agent_step", "summarization"]);
    let first = world.store.trace_of_step(&step).await.unwrap().unwrap();
    assert_eq!(first.call_type, "agent_step", "the step's own comes first");
    // A context that the provider refuses is summarised before its step is stored.
    let other = talk(&world, 20).await;
    world
        .say(other, &format!("say {}", "word ".repeat(2_000)))
        .await;
    let outcome = world
        .say(other, "fail context_window over 2000 tokens\nsay it fits")
        .await;
    let summary = outcome
        .messages
        .iter()
        .find(|message| message.role == Role::Summary);
    let step = summary.unwrap().step_id.unwrap();
    let traces = world.store.traces_of_step(&step).await.unwrap();
    assert!(
        traces
            .iter()
            .any(|trace| trace.call_type == "summarization")
    );
}

#[tokio::test]
async fn the_oldest_part_is_replaced_by_a_summary_and_stays_in_the_history() {
    let world = World::new().await;
    let agent = talk(&world, 6).await;
    let report = world
        .engine
        .compact(thread(agent), Map::new())
        .await
        .unwrap();
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
