//! Runs that nobody drives, that break off by a defect, and whose server was killed.

use std::time::Duration;

use bulkhead_agent::{AgentError, RunType};
use bulkhead_domain::{
    Run, RunStatus, StopReason, Timestamp,
    id::{AgentId, RunId},
};
use bulkhead_store::ThreadFilter;
use serde_json::json;

use crate::world::{Setup, World, said};

pub(crate) async fn stored(world: &World, run: RunId) -> Run {
    world.store.run(&run).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_run_that_was_begun_and_is_not_driven_is_cancelled() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let begun = world.engine.begin(said(agent, "hello")).await.unwrap();
    let run = begun.id();
    assert_eq!(stored(&world, run).await.status, RunStatus::Running);
    drop(begun);
    let ended = async {
        while !stored(&world, run).await.status.is_final() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(10), ended).await;
    ended.expect("it ends");
    assert_eq!(stored(&world, run).await.status, RunStatus::Cancelled);
    assert!(world.engine.running().is_empty());
    world.say(agent, "hello").await;
}

#[tokio::test]
async fn a_client_that_leaves_while_its_run_is_noted_leaves_no_run_that_goes_on() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    for polls in 0..8 {
        let mut beginning = std::pin::pin!(world.engine.begin(said(agent, "hello")));
        for _ in 0..polls {
            if futures::poll!(beginning.as_mut()).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    world.engine.finish().await;
    let active = world.store.active_runs(&agent, Default::default()).await;
    assert_eq!(active.unwrap(), []);
}

#[tokio::test]
async fn a_defect_ends_its_run_and_no_other() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let failure = world.send(said(agent, "call panic")).await.unwrap_err();
    assert!(matches!(failure.error, AgentError::Internal(_)));
    let run = stored(&world, failure.run_id).await;
    assert_eq!(
        (run.status, run.stop_reason),
        (RunStatus::Failed, Some(StopReason::Error))
    );
    assert_eq!(
        run.metadata.unwrap()["error"],
        "An unknown error occurred",
        "what broke is for the log"
    );
    world.agrees(agent).await;
    world.say(agent, "hello").await;
}

/// A run as a server leaves it that is killed: it goes on in the database, and nowhere else.
pub(crate) async fn killed(world: &World, agent: AgentId, run_type: RunType) -> Run {
    let request = said(agent, "hello");
    let mut run = {
        let begun = world.engine.begin(request).await.unwrap();
        begun.run().clone()
    };
    run.id = RunId::random();
    run.metadata = Some(json!({ "run_type": run_type.as_str() }));
    run.created_at = Timestamp::now();
    world.store.create_run(&run).await.unwrap();
    run
}

#[tokio::test]
async fn a_run_whose_server_was_killed_has_failed_and_says_so() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let whole = killed(&world, agent, RunType::Message).await;
    let streamed = killed(&world, agent, RunType::Streaming).await;
    world.engine.fail_abandoned(None).await.unwrap();
    for run in [&whole, &streamed] {
        let run = stored(&world, run.id).await;
        assert_eq!(
            (run.status, run.stop_reason),
            (RunStatus::Failed, Some(StopReason::Error))
        );
        assert!(run.completed_at.is_some());
    }
    let error = |run: Run| run.metadata.unwrap()["error"].clone();
    let text = error(stored(&world, whole.id).await);
    assert!(text.as_str().unwrap().contains("is not known"), "{text}");
    let event = error(stored(&world, streamed.id).await);
    assert_eq!(
        (&event["error_type"], &event["detail"], &event["run_id"]),
        (&json!("internal_error"), &text, &json!(streamed.id))
    );
    let state = world.store.agent(&agent).await.unwrap().unwrap();
    assert_eq!(state.last_stop_reason, Some(StopReason::Error));
    world.say(agent, "hello").await;
}

#[tokio::test]
async fn what_a_killed_run_wrote_into_memory_is_in_the_next_prompt() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    killed(&world, agent, RunType::Message).await;
    // As a tool does, whose step is never stored.
    let block = world.store.block_of_agent(&agent, "human").await.unwrap();
    let version = Some(block.unwrap().version);
    let actor = agent.to_string();
    let written = world
        .store
        .set_block_value(&agent, "human", "Name: Eve", version, &actor);
    written.await.unwrap();
    world.engine.fail_abandoned(None).await.unwrap();
    let system = world.history(agent).await.remove(0).plain_text();
    assert!(system.contains("Name: Eve"), "{system}");
}

#[tokio::test]
async fn an_approved_call_that_began_on_a_killed_server_is_not_run_again() {
    let world = World::new().await;
    let setup = Setup {
        rules: json!([{"type": "requires_approval", "tool_name": "echo"}]),
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    world
        .say(
            agent,
            "call echo with {\"x\": \"one\"}\ncall echo with {\"x\": \"two\"}",
        )
        .await;
    let request = world.history(agent).await.pop().unwrap();
    let calls: Vec<&str> = request.tool_calls.iter().map(|call| &*call.id).collect();
    // The server was killed while the first of them ran.
    let step = request.step_id.unwrap();
    let begun = [calls[0].to_owned()];
    let before = world.store.begin_calls(&step, &begun).await.unwrap();
    assert!(before.is_empty());
    killed(&world, agent, RunType::Message).await;
    world.engine.fail_abandoned(None).await.unwrap();
    let state = world.store.agent(&agent).await.unwrap().unwrap();
    assert_eq!(state.last_stop_reason, Some(StopReason::RequiresApproval));

    let decisions = [(calls[0], true), (calls[1], true)];
    world.decide(agent, &decisions).await.unwrap();
    assert_eq!(
        world.words(agent).await,
        "user ask decision return:error+ok text"
    );
    let history = world.history(agent).await;
    let returns = &history[4].tool_returns;
    assert!(
        returns[0].text.contains("was not run again"),
        "{}",
        returns[0].text
    );
    assert_eq!(returns[1].text, "two");
    let step = world.store.step(&step).await.unwrap().unwrap();
    assert!(step.begun_calls.is_empty());
}

#[tokio::test]
async fn denying_a_call_that_had_begun_does_not_say_that_it_never_ran() {
    let world = World::new().await;
    let setup = Setup {
        rules: json!([{"type": "requires_approval", "tool_name": "echo"}]),
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    world.say(agent, "call echo").await;
    let request = world.history(agent).await.pop().unwrap();
    let call = request.tool_calls[0].id.clone();
    let step = request.step_id.unwrap();
    let begun = [call.clone()];
    world.store.begin_calls(&step, &begun).await.unwrap();
    world.decide(agent, &[(&call, false)]).await.unwrap();
    let returned = world.history(agent).await[4].tool_returns[0].text.clone();
    assert!(returned.contains("may have had an effect"), "{returned}");
}

#[tokio::test]
async fn cancelling_says_of_a_call_that_had_begun_that_its_effect_is_not_known() {
    let world = World::new().await;
    let setup = Setup {
        rules: json!([{"type": "requires_approval", "tool_name": "echo"}]),
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    world.say(agent, "call echo\ncall echo").await;
    let request = world.history(agent).await.pop().unwrap();
    let begun = [request.tool_calls[1].id.clone()];
    let step = request.step_id.unwrap();
    world.store.begin_calls(&step, &begun).await.unwrap();
    world
        .engine
        .cancel(agent, ThreadFilter::Any, None)
        .await
        .unwrap();
    let history = world.history(agent).await;
    let texts: Vec<&str> = history[4]
        .tool_returns
        .iter()
        .map(|returned| &*returned.text)
        .collect();
    assert!(texts[0].contains("denied"), "{texts:?}");
    assert!(texts[1].contains("may have had an effect"), "{texts:?}");
    let asked = stored(&world, request.run_id.unwrap()).await;
    assert_eq!(asked.status, RunStatus::Cancelled);
    world.agrees(agent).await;
}
