//! Agents with fallback models: the own one is `bulkhead/scripted`, the others are `spare/…`.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use bulkhead_agent::{AgentError, Failure, Models, ThreadKey};
use bulkhead_domain::{
    Agent, CompactionMode, CompactionSettings, LlmConfig, Step, StepStatus, StopReason,
    id::{AgentId, RunId},
};
use bulkhead_llm::{
    ChatReply, ChatRequest, Client, Endpoint, ErrorKind, LlmError, chat::Deltas, scripted,
};
use bulkhead_store::StepFilter;
use futures::future::BoxFuture;

use crate::world::{Setup, World, client, listen, nowhere, said};

const OWN: &str = scripted::HANDLE;
const ONE: &str = "spare/one";
const TWO: &str = "spare/two";

/// Tokens that fit into a model of which no test says otherwise.
const WINDOW: i64 = 100_000;

/// Models that fail when a test says so, and do what the script says otherwise.
struct Several {
    client: Client,
    windows: Mutex<HashMap<&'static str, i64>>,
    /// What becomes of the next questions to each: a failure, or an answer.
    next: Mutex<HashMap<&'static str, VecDeque<Option<ErrorKind>>>>,
    asked: Mutex<Vec<String>>,
}

impl Several {
    fn new() -> Self {
        Self {
            client: client(),
            windows: Mutex::default(),
            next: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// Models of which each fails once.
    fn failing(failures: &[(&'static str, ErrorKind)]) -> Self {
        let models = Self::new();
        models.fail(failures);
        models
    }

    /// From now on each of these fails once; what was asked before is forgotten.
    fn fail(&self, failures: &[(&'static str, ErrorKind)]) {
        self.asked.lock().unwrap().clear();
        for (handle, kind) in failures {
            self.plan(handle, &[Some(*kind)]);
        }
    }

    fn plan(&self, handle: &'static str, next: &[Option<ErrorKind>]) {
        let mut plans = self.next.lock().unwrap();
        plans.insert(handle, next.iter().copied().collect());
    }

    /// So many tokens fit into this model.
    fn fit(&self, handle: &'static str, tokens: i64) {
        self.windows.lock().unwrap().insert(handle, tokens);
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn config(handle: &str, window: i64) -> LlmConfig {
    let (provider, model) = handle.split_once('/').unwrap();
    LlmConfig {
        parallel_tool_calls: Some(true),
        ..LlmConfig::new(provider, "openai", model, window)
    }
}

impl Models for Several {
    fn resolve<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<LlmConfig, AgentError>> {
        let window = self.windows.lock().unwrap().get(handle).copied();
        let window = window.unwrap_or(WINDOW);
        let found = match [OWN, ONE, TWO].contains(&handle) {
            true => Ok(config(handle, window)),
            false => Err(AgentError::UnknownModel(handle.to_owned())),
        };
        Box::pin(async move { found })
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
        let handle = request.config.handle();
        let mut plans = self.next.lock().unwrap();
        let plan = plans.get_mut(handle.as_str());
        let failure = plan.and_then(VecDeque::pop_front).flatten();
        self.asked.lock().unwrap().push(handle.clone());
        Box::pin(async move {
            if let Some(kind) = failure {
                return Err(failed(kind, &handle));
            }
            let request = ChatRequest {
                config: config(OWN, WINDOW),
                ..request.clone()
            };
            self.client.chat(&request, deltas).await
        })
    }
}

fn failed(kind: ErrorKind, handle: &str) -> LlmError {
    LlmError {
        kind,
        provider: "Spare".to_owned(),
        status: None,
        message: format!("{handle} failed"),
        retry_after: None,
        partial: false,
    }
}

async fn world(models: Several) -> (World, Arc<Several>) {
    let models = Arc::new(models);
    (World::with(Arc::clone(&models) as _).await, models)
}

fn with_spares() -> Setup {
    Setup {
        edit: |agent: &mut Agent| agent.fallback_models = vec![ONE.to_owned(), TWO.to_owned()],
        ..Setup::default()
    }
}

async fn steps(world: &World, run: RunId) -> Vec<Step> {
    let filter = StepFilter {
        run_id: Some(run),
        ..StepFilter::default()
    };
    let mut steps = world.store.steps(&filter).await.unwrap();
    steps.reverse();
    steps
}

fn handles(steps: &[Step]) -> Vec<&str> {
    let handles = steps.iter().map(|step| step.model_handle.as_deref());
    handles.map(Option::unwrap).collect()
}

fn kind(failure: &Failure) -> ErrorKind {
    match &failure.error {
        AgentError::Llm(error) => error.kind,
        other => panic!("{other:?}"),
    }
}

fn thread(agent_id: AgentId) -> ThreadKey {
    ThreadKey {
        agent_id,
        conversation_id: None,
    }
}

#[tokio::test]
async fn where_the_own_model_fails_the_next_one_answers_and_the_step_names_it() {
    for kind in [
        ErrorKind::Server,
        ErrorKind::RateLimit,
        ErrorKind::Timeout,
        ErrorKind::Overloaded,
        ErrorKind::Connection,
        ErrorKind::Authentication,
    ] {
        let (world, models) = world(Several::failing(&[(OWN, kind)])).await;
        let agent = world.agent(with_spares()).await;
        let outcome = world.say(agent, "say hi").await;
        assert_eq!(outcome.stop_reason, StopReason::EndTurn, "{kind:?}");
        assert_eq!(models.asked(), [OWN, ONE], "{kind:?}");
        let steps = steps(&world, outcome.run_id).await;
        assert_eq!(handles(&steps), [ONE]);
        assert_eq!(steps[0].provider_name.as_deref(), Some("spare"));
        assert_eq!(world.words(agent).await, "user text");
        let stored = world.store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(stored.llm_config.handle(), OWN, "the agent's own stays");
        world.say(agent, "say again").await;
        assert_eq!(
            models.asked(),
            [OWN, ONE, OWN],
            "the next request asks the own one"
        );
    }
}

#[tokio::test]
async fn the_rest_of_a_run_asks_the_model_that_answered_and_tools_run_once() {
    let (world, models) = world(Several::failing(&[(OWN, ErrorKind::Server)])).await;
    let agent = world.agent(with_spares()).await;
    let input = "call remember with {\"x\": \"Name: Ada\"}\nthen\nsay done";
    let outcome = world.say(agent, input).await;
    assert_eq!(models.asked(), [OWN, ONE, ONE]);
    let names = steps(&world, outcome.run_id).await;
    assert_eq!(handles(&names), [ONE, ONE]);
    assert_eq!(
        world.words(agent).await,
        "user call:remember return:ok text"
    );
    let blocks = world.store.blocks_of(&[agent]).await.unwrap();
    assert_eq!(blocks[&agent][0].version, 2, "it was written once");
}

#[tokio::test]
async fn a_model_that_fails_between_two_steps_does_not_make_tools_run_again() {
    let models = Several::failing(&[(ONE, ErrorKind::Server)]);
    models.plan(OWN, &[None, Some(ErrorKind::Timeout)]);
    let (world, models) = world(models).await;
    let agent = world.agent(with_spares()).await;
    let input = "call remember with {\"x\": \"Name: Ada\"}\nthen\nsay done";
    let outcome = world.say(agent, input).await;
    assert_eq!(models.asked(), [OWN, OWN, ONE, TWO]);
    let steps = steps(&world, outcome.run_id).await;
    assert_eq!(handles(&steps), [OWN, TWO]);
    assert_eq!(
        world.words(agent).await,
        "user call:remember return:ok text"
    );
    let blocks = world.store.blocks_of(&[agent]).await.unwrap();
    assert_eq!(blocks[&agent][0].version, 2, "it was written once");
}

#[tokio::test]
async fn what_was_heard_is_not_said_again_by_another_model() {
    let (world, models) = world(Several::new()).await;
    let agent = world.agent(with_spares()).await;
    let input = "fail server after 2 pieces\nsay one two three four";
    let (mut events, driven) = listen(&world, said(agent, input), true).await;
    while events.recv().await.is_some() {}
    let failure = driven.await.unwrap().unwrap_err();
    assert!(failure.after_output);
    assert_eq!(kind(&failure), ErrorKind::Server);
    assert_eq!(models.asked(), [OWN]);
    assert_eq!(handles(&steps(&world, failure.run_id).await), [OWN]);
    assert_eq!(world.words(agent).await, "");
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_asked_of_no_other_model() {
    for wrong in [ErrorKind::BadRequest, ErrorKind::Unprocessable] {
        let (world, models) = world(Several::failing(&[(OWN, wrong)])).await;
        let agent = world.agent(with_spares()).await;
        let failure = world.send(said(agent, "say hi")).await.unwrap_err();
        assert_eq!(kind(&failure), wrong);
        assert_eq!(models.asked(), [OWN]);
    }
}

#[tokio::test]
async fn a_fallback_that_refuses_the_request_is_not_the_last_to_be_asked() {
    for refused in [
        ErrorKind::BadRequest,
        ErrorKind::Unprocessable,
        ErrorKind::ContextWindowExceeded,
    ] {
        let (world, models) = world(Several::new()).await;
        let agent = world.agent(with_spares()).await;
        for turn in 0..8 {
            world.say(agent, &format!("say answer {turn}")).await;
        }
        models.fail(&[(OWN, ErrorKind::Server), (ONE, refused)]);
        let outcome = world.say(agent, "say hi").await;
        assert_eq!(models.asked(), [OWN, ONE, TWO], "{refused:?}");
        assert_eq!(handles(&steps(&world, outcome.run_id).await), [TWO]);
        assert!(!world.words(agent).await.contains("summary"), "{refused:?}");
    }
}

#[tokio::test]
async fn where_all_fail_the_reason_of_the_first_is_told_and_its_step_names_it() {
    let (world, models) = world(Several::failing(&[
        (OWN, ErrorKind::RateLimit),
        (ONE, ErrorKind::BadRequest),
        (TWO, ErrorKind::Server),
    ]))
    .await;
    let agent = world.agent(with_spares()).await;
    let failure = world.send(said(agent, "say hi")).await.unwrap_err();
    assert_eq!(models.asked(), [OWN, ONE, TWO]);
    assert_eq!(kind(&failure), ErrorKind::RateLimit);
    let steps = steps(&world, failure.run_id).await;
    assert_eq!(steps.len(), 1);
    assert_eq!(handles(&steps), [OWN]);
    assert_eq!(steps[0].status, StepStatus::Failed);
    assert_eq!(steps[0].error_type.as_deref(), Some("llm_rate_limit"));
    assert_eq!(world.words(agent).await, "");
}

#[tokio::test]
async fn a_fallback_into_which_the_context_does_not_fit_is_passed_over() {
    let (world, models) = world(Several::new()).await;
    models.fit(ONE, 1_500);
    let agent = world.agent(with_spares()).await;
    let filler = "word ".repeat(500);
    for _ in 0..4 {
        world.say(agent, &format!("say {filler}")).await;
    }
    let before = world.words(agent).await;
    models.fail(&[(OWN, ErrorKind::Server)]);
    world.say(agent, "say hi").await;
    assert_eq!(models.asked(), [OWN, TWO]);
    assert_eq!(world.words(agent).await, format!("{before} user text"));
    models.fail(&[(OWN, ErrorKind::Server), (TWO, ErrorKind::Server)]);
    let failure = world.send(said(agent, "say hi")).await.unwrap_err();
    assert_eq!(kind(&failure), ErrorKind::Server);
    assert_eq!(world.words(agent).await, format!("{before} user text"));
}

#[tokio::test]
async fn a_context_that_nearly_fills_a_fallback_is_not_made_shorter_for_it() {
    let (world, models) = world(Several::new()).await;
    let agent = world.agent(with_spares()).await;
    let filler = "word ".repeat(800);
    let mut used = Vec::new();
    for _ in 0..2 {
        let outcome = world.say(agent, &format!("say {filler}")).await;
        used.push(outcome.usage.total_tokens);
    }
    // The question fits, and with the answer the window is full.
    let window = used[1] + (used[1] - used[0]) * 3 / 4;
    models.fit(ONE, window);
    models.fail(&[(OWN, ErrorKind::Server)]);
    let outcome = world.say(agent, &format!("say {filler}")).await;
    assert_eq!(handles(&steps(&world, outcome.run_id).await), [ONE]);
    assert!(outcome.usage.total_tokens > window);
    assert_eq!(world.words(agent).await, ["user text"; 3].join(" "));
}

#[tokio::test]
async fn a_summary_is_written_by_a_fallback_where_the_own_model_fails() {
    let (world, models) = world(Several::new()).await;
    let agent = world.agent(with_spares()).await;
    for turn in 0..6 {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    for (mode, named, failures, asked) in [
        (
            CompactionMode::SlidingWindow,
            None,
            &[OWN][..],
            &[OWN, ONE][..],
        ),
        (
            CompactionMode::SelfCompactSlidingWindow,
            None,
            &[OWN, ONE],
            &[OWN, ONE, TWO],
        ),
        (CompactionMode::All, Some(TWO), &[TWO], &[TWO, OWN]),
    ] {
        let failing = failures.iter().map(|handle| (*handle, ErrorKind::Server));
        models.fail(&failing.collect::<Vec<_>>());
        let settings = CompactionSettings {
            mode,
            model: named.map(str::to_owned),
            ..CompactionSettings::default()
        };
        let settings = serde_json::to_value(settings).unwrap();
        let settings = serde_json::from_value(settings).unwrap();
        let compacted = world.engine.compact(thread(agent), settings).await;
        let report = compacted.unwrap();
        assert!(!report.summary.is_empty(), "{mode:?}");
        assert_eq!(models.asked(), asked, "{mode:?}");
        world.agrees(agent).await;
    }
}

#[tokio::test]
async fn where_nobody_writes_a_summary_the_context_stays_and_the_first_reason_is_told() {
    let (world, models) = world(Several::new()).await;
    let agent = world.agent(with_spares()).await;
    for turn in 0..6 {
        world.say(agent, &format!("say answer {turn}")).await;
    }
    let before = world.words(agent).await;
    models.fail(&[
        (OWN, ErrorKind::RateLimit),
        (ONE, ErrorKind::Server),
        (TWO, ErrorKind::BadRequest),
    ]);
    let failed = world
        .engine
        .compact(thread(agent), serde_json::Map::new())
        .await;
    let error = failed.unwrap_err();
    assert!(
        matches!(&error, AgentError::Llm(error) if error.kind == ErrorKind::RateLimit),
        "{error:?}"
    );
    assert_eq!(models.asked(), [OWN, ONE, TWO]);
    assert_eq!(world.words(agent).await, before);
}
