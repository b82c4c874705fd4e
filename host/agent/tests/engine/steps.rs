use bulkhead_agent::{AgentError, Event, Piece, Shown};
use bulkhead_domain::{RunStatus, StepStatus, StopReason};
use bulkhead_store::StepFilter;

use crate::world::{Setup, World, listen, said};

#[tokio::test]
async fn a_request_is_stored_step_by_step_with_its_run() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let outcome = world
        .say(
            agent,
            "think hm\ncall echo with {\"x\": \"7\"}\nthen\nsay done",
        )
        .await;
    assert_eq!(outcome.stop_reason, StopReason::EndTurn);
    assert_eq!(outcome.steps, 2);
    assert_eq!(world.words(agent).await, "user call:echo return:ok text");
    let run = world.store.run(&outcome.run_id).await.unwrap().unwrap();
    assert_eq!(
        (run.status, run.stop_reason),
        (RunStatus::Completed, Some(StopReason::EndTurn))
    );
    let history = world.history(agent).await;
    assert!(
        history[1..]
            .iter()
            .all(|message| message.run_id == Some(run.id))
    );
    assert_eq!(history[1].step_id, history[3].step_id);
    assert_ne!(history[3].step_id, history[4].step_id);
    let filter = StepFilter {
        run_id: Some(run.id),
        ..StepFilter::default()
    };
    let mut steps = world.store.steps(&filter).await.unwrap();
    steps.reverse();
    assert_eq!(steps.len(), 2);
    assert!(steps.iter().all(|step| step.status == StepStatus::Success));
    assert_eq!(
        (steps[0].stop_reason, steps[1].stop_reason),
        (None, Some(StopReason::EndTurn))
    );
    let agent = world.store.agent(&agent).await.unwrap().unwrap();
    assert_eq!(agent.last_stop_reason, Some(StopReason::EndTurn));
    assert_eq!(agent.message_ids.len(), 5);
}

#[tokio::test]
async fn a_failed_first_step_leaves_no_message_and_a_usable_agent() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let failure = world
        .send(said(agent, "fail bad_request"))
        .await
        .unwrap_err();
    assert!(matches!(failure.error, AgentError::Llm(_)));
    assert_eq!(world.words(agent).await, "");
    let run = world.store.run(&failure.run_id).await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Failed);
    assert!(run.metadata.unwrap()["error"].is_string());
    world.say(agent, "hello").await;
    assert_eq!(world.words(agent).await, "user text");
}

#[tokio::test]
async fn what_earlier_steps_stored_stays_when_a_later_one_fails() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let failed = world
        .send(said(agent, "call echo\nthen\nfail server"))
        .await;
    assert!(failed.is_err());
    assert_eq!(world.words(agent).await, "user call:echo return:ok");
    world.say(agent, "hello").await;
    assert_eq!(
        world.words(agent).await,
        "user call:echo return:ok user text"
    );
}

#[tokio::test]
async fn an_endless_caller_stops_at_the_last_step_that_is_allowed() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let mut request = said(agent, "call echo\nrepeat");
    request.max_steps = 3;
    let outcome = world.send(request).await.unwrap();
    assert_eq!(
        (outcome.stop_reason, outcome.steps),
        (StopReason::MaxSteps, 3)
    );
    world.agrees(agent).await;
}

#[tokio::test]
async fn nonsense_of_a_model_goes_back_to_it() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let outcome = world
        .say(
            agent,
            "call nope\nthen\ncall echo with {broken\nthen\nsay sorry",
        )
        .await;
    assert_eq!(outcome.stop_reason, StopReason::EndTurn);
    assert_eq!(
        world.words(agent).await,
        "user call:nope return:error call:echo return:error text"
    );
    let history = world.history(agent).await;
    let refused = &history[3].tool_returns[0].text;
    assert!(
        refused
            .starts_with("[ToolConstraintError] Cannot call nope, valid tools include: ['echo', "),
        "{refused}"
    );
    assert!(
        history[5].tool_returns[0]
            .text
            .contains("not a JSON object")
    );
}

#[tokio::test]
async fn an_empty_reply_ends_the_turn_and_is_no_message() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let outcome = world.say(agent, "empty").await;
    assert_eq!(outcome.stop_reason, StopReason::EndTurn);
    assert_eq!(world.words(agent).await, "user");
}

#[tokio::test]
async fn without_parallel_calls_the_first_one_counts() {
    let world = World::new().await;
    let both = "call twin with {\"x\": \"a\"}\ncall twin with {\"x\": \"b\"}";
    let agent = world.agent(Setup::default()).await;
    world.say(agent, both).await;
    assert_eq!(
        world.words(agent).await,
        "user call:twin+twin return:ok+ok text"
    );
    let one = Setup {
        edit: |agent| agent.llm_config.parallel_tool_calls = Some(false),
        ..Setup::default()
    };
    let agent = world.agent(one).await;
    world.say(agent, both).await;
    assert_eq!(world.words(agent).await, "user call:twin return:ok text");
}

#[tokio::test]
async fn a_changed_memory_is_in_the_next_request_and_not_in_this_one() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let outcome = world
        .say(
            agent,
            "call remember with {\"x\": \"Name: Eve\"}\nthen\nsay ok",
        )
        .await;
    let filter = StepFilter {
        run_id: Some(outcome.run_id),
        ..StepFilter::default()
    };
    for step in world.store.steps(&filter).await.unwrap() {
        let trace = world.store.trace_of_step(&step.id).await.unwrap().unwrap();
        assert!(trace.request_json.to_string().contains("Name: Bob"));
    }
    let history = world.history(agent).await;
    assert!(history[0].plain_text().contains("Name: Eve"));
    let next = world.say(agent, "hello").await;
    let filter = StepFilter {
        run_id: Some(next.run_id),
        ..StepFilter::default()
    };
    let step = &world.store.steps(&filter).await.unwrap()[0];
    let trace = world.store.trace_of_step(&step.id).await.unwrap().unwrap();
    assert!(trace.request_json.to_string().contains("Name: Eve"));
}

#[tokio::test]
async fn pieces_have_the_ids_of_what_is_stored() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let request = said(
        agent,
        "think why not\nsay let me see\ncall echo with {\"x\": \"1\"}\nthen\nsay bye now",
    );
    let (mut events, driven) = listen(&world, request, true).await;
    let mut kinds = Vec::new();
    let mut ids = Vec::new();
    while let Some(event) = events.recv().await {
        match event {
            Event::Delta(delta) => {
                let kind = match delta.piece {
                    Piece::Reasoning { .. } => 'r',
                    Piece::Text(_) => 't',
                    Piece::Call { .. } | Piece::Arguments { .. } => 'c',
                };
                if kinds.last() != Some(&(kind, delta.index)) {
                    kinds.push((kind, delta.index));
                }
                ids.push(delta.message_id);
            }
            Event::Message(message, Shown::InPieces) => {
                assert_eq!(ids.last(), Some(&message.id));
            }
            _ => {}
        }
    }
    assert_eq!(kinds, [('r', 0), ('t', 1), ('c', 2), ('t', 0)]);
    assert_eq!(
        driven.await.unwrap().unwrap().stop_reason,
        StopReason::EndTurn
    );
    assert_eq!(world.words(agent).await, "user call:echo return:ok text");
}

#[tokio::test]
async fn requests_to_one_agent_never_mix_their_steps() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let request = || said(agent, "call twin\nthen\ncall twin\nthen\nsay done");
    let runs = futures::future::join_all((0..5).map(|_| world.send(request()))).await;
    assert!(runs.iter().all(Result::is_ok));
    let one = "user call:twin return:ok call:twin return:ok text";
    assert_eq!(world.words(agent).await, [one; 5].join(" "));
}
