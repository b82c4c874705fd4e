use bulkhead_agent::{Entry, Event, Listener, event::EVENTS_WAITING_MAX};
use bulkhead_domain::{RunStatus, StopReason};
use bulkhead_store::ThreadFilter;

use crate::{
    memory::conversation,
    world::{Setup, World, listen, said},
};

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
    let second = tokio::spawn(async move { engine.drive(begun, Listener::none()).await });
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

#[tokio::test]
async fn a_request_to_a_conversation_that_has_just_begun_is_cancelled_with_the_agents_others() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let conversation = conversation(&world, agent, Vec::new()).await;
    let (_events, own) = listen(&world, said(agent, "wait 60s\nsay one"), false).await;
    let mut request = said(agent, "say two");
    request.conversation_id = Some(conversation);
    // It is stored, and nobody drives it yet.
    let Entry::Begun(begun) = world.engine.begin_alone(request).await.unwrap() else {
        panic!("nothing goes on in it")
    };
    let begun_id = begun.id();
    let engine = world.engine.clone();
    let cancel =
        tokio::spawn(async move { engine.cancel(agent, ThreadFilter::Any, None).await.unwrap() });
    let own = own.await.unwrap().unwrap();
    assert_eq!(own.stop_reason, StopReason::Cancelled);
    assert!(!cancel.is_finished(), "the other one has not ended");
    let ended = world.engine.drive(*begun, Listener::none()).await.unwrap();
    assert_eq!(ended.stop_reason, StopReason::Cancelled);
    let mut cancelled = cancel.await.unwrap();
    cancelled.sort_by_key(|(run_id, _)| *run_id != begun_id);
    assert_eq!(cancelled, [(begun_id, true), (own.run_id, true)]);
    for run_id in [begun_id, own.run_id] {
        let run = world.store.run(&run_id).await.unwrap().unwrap();
        assert_eq!(run.status, RunStatus::Cancelled);
    }
    let disagreements = world.store.verify_thread(&agent, Some(&conversation)).await;
    assert!(disagreements.unwrap().is_empty());
    let kept = world.store.conversation(&conversation).await.unwrap();
    assert_eq!(
        kept.unwrap().in_context_message_ids.len(),
        1,
        "the system's"
    );
    let mut again = said(agent, "say three");
    again.conversation_id = Some(conversation);
    let ended = world.send(again).await.unwrap();
    assert_eq!(ended.stop_reason, StopReason::EndTurn);
}

#[tokio::test]
async fn an_answer_that_its_listener_did_not_hear_whole_is_cancelled_and_not_stored() {
    let world = World::new().await;
    let setup = Setup {
        rules: serde_json::json!([{"type": "requires_approval", "tool_name": "echo"}]),
        edit: |agent| agent.llm_config.context_window = 100_000_000,
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    // The beginning, 127 calls with their results, and what runs by itself fill the queue; there is no
    // room for the request.
    let script = "call twin\nthen\n".repeat(127) + "call twin\ncall echo";
    let mut request = said(agent, &script);
    request.max_steps = 500;
    let (events, driven) = listen(&world, request, false).await;
    let full = async {
        while events.len() < EVENTS_WAITING_MAX {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let full = tokio::time::timeout(std::time::Duration::from_secs(60), full).await;
    full.expect("the queue fills");
    let runs = world.engine.running();
    assert!(world.engine.cancel_run(runs[0]));
    let outcome = driven.await.unwrap().unwrap();
    assert_eq!(outcome.stop_reason, StopReason::Cancelled);
    assert!(world.words(agent).await.ends_with("call:twin return:ok"));
    world.say(agent, "hello").await;
}

#[tokio::test]
async fn a_run_that_had_ended_when_it_was_cancelled_says_that_its_listener_did_not_hear_all() {
    let world = World::new().await;
    let setup = Setup {
        edit: |agent| agent.llm_config.context_window = 100_000_000,
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    // The beginning, 127 calls with their results, and one more call fill the queue; the end of the run is
    // stored before there is room for the last result.
    let script = "call twin\nthen\n".repeat(127) + "call twin";
    let mut request = said(agent, &script);
    request.max_steps = 128;
    let (events, driven) = listen(&world, request, false).await;
    let run_id = world.engine.running()[0];
    let ended = async {
        loop {
            let run = world.store.run(&run_id).await.unwrap().unwrap();
            if run.status.is_final() {
                return run;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), ended).await;
    let run = ended.expect("the run ends");
    assert_eq!(run.stop_reason, Some(StopReason::MaxSteps));
    assert_eq!(events.len(), EVENTS_WAITING_MAX);
    assert!(world.engine.cancel_run(run_id), "it is still telling of it");
    let outcome = driven.await.unwrap().unwrap();
    assert_eq!(
        (outcome.stop_reason, outcome.has_gap),
        (StopReason::MaxSteps, true)
    );
    let run = world.store.run(&run_id).await.unwrap().unwrap();
    assert_eq!(run.stop_reason, Some(StopReason::MaxSteps));
    world.agrees(agent).await;
}
