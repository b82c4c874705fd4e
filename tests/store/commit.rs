use std::{collections::HashSet, time::Duration};

use bulkhead_domain::{
    Conversation, Message, Part, Role, RunStatus, StopReason, Timestamp, Trace,
    id::{MessageId, StepId, TraceId},
};
use bulkhead_store::{
    ContextChange, Disagreement, MessageFilter, RunUpdate, StepCommit, StoreError, SystemContent,
    ThreadFilter,
    step::{TRACE_BYTES_MAX, TRACES_MAX},
};
use serde_json::json;

use super::{
    history::{adding, context, exchange, new_agent, run, step},
    raw,
    receipt::receipt,
};

fn all(agent_id: bulkhead_domain::id::AgentId) -> MessageFilter {
    MessageFilter {
        agent_id: Some(agent_id),
        limit: Some(1000),
        ..Default::default()
    }
}

fn trace(step_id: StepId, agent_id: bulkhead_domain::id::AgentId) -> Trace {
    Trace {
        id: TraceId::random(),
        step_id,
        agent_id,
        run_id: None,
        call_type: "agent_step".to_owned(),
        request_json: json!({"messages": ["hello"]}),
        response_json: json!({"choices": []}),
        created_at: Timestamp::from_micros(7),
    }
}

on_both! {
    async fn a_run_that_ended_before_it_worked_leaves_an_agent_that_waits_as_it_is(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let stopped = async |reason, keeps_request| {
            let run = run(agent);
            store.create_run(&run).await.unwrap();
            let mut commit = StepCommit::new(agent, None);
            commit.run = Some(RunUpdate::ended(run.id, reason));
            commit.last_stop_reason = Some(reason);
            commit.keeps_request = keeps_request;
            store.commit_step(&commit).await.unwrap();
            store.agent(&agent).await.unwrap().unwrap().last_stop_reason.unwrap()
        };
        let (cancelled, asks) = (StopReason::Cancelled, StopReason::RequiresApproval);
        assert_eq!(stopped(cancelled, true).await, cancelled);
        assert_eq!(stopped(asks, false).await, asks);
        assert_eq!(stopped(cancelled, true).await, asks);
        assert_eq!(stopped(cancelled, false).await, cancelled);
    }

    async fn a_commit_leaves_all_that_a_step_changed(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let run = run(agent);
        store.create_run(&run).await.unwrap();
        let messages = exchange(agent, "weather");
        let mut commit = adding(agent, &[system], messages.clone());
        let step = step(agent, Some(run.id));
        commit.step = Some(step.clone());
        commit.traces = vec![trace(step.id, agent)];
        let call = |name: &str, at| (name.to_owned(), receipt(at));
        commit.receipts = vec![call("call_b", 2), call("call_a", 1)];
        commit.run = Some(RunUpdate::ended(run.id, StopReason::EndTurn));
        commit.last_stop_reason = Some(StopReason::EndTurn);
        commit.system = Some(SystemContent {
            message_id: system,
            content: vec![Part::text("Memory: Bob")],
        });
        commit.at = Timestamp::from_micros(99);
        let committed = store.commit_step(&commit).await.unwrap().run.unwrap();

        assert_eq!((committed.status, committed.stop_reason),
            (RunStatus::Completed, Some(StopReason::EndTurn)));
        assert_eq!(store.run(&run.id).await.unwrap(), Some(committed));
        assert_eq!(store.step(&step.id).await.unwrap(), Some(step.clone()));
        assert_eq!(store.trace_of_step(&step.id).await.unwrap().as_ref(), commit.traces.first());
        assert_eq!(store.receipts_of_step(&step.id).await.unwrap(), commit.receipts);
        let (_, first) = &commit.receipts[0];
        assert_eq!(store.receipt(&first.id).await.unwrap().as_ref(), Some(first));
        let stored = store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(stored.message_ids, commit.context.as_ref().unwrap().next);
        assert_eq!((stored.last_stop_reason, stored.updated_at),
            (Some(StopReason::EndTurn), commit.at));
        let listed = store.messages(&all(agent)).await.unwrap();
        assert_eq!(listed[0].plain_text(), "Memory: Bob");
        assert_eq!(listed[1..], messages);
        assert!(store.verify_thread(&agent, None).await.unwrap().is_empty());
    }

    async fn a_commit_that_is_refused_leaves_nothing(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let (other, _) = new_agent(&store).await;
        let step = step(agent, None);
        let with_step = |mut commit: StepCommit| {
            commit.step = Some(step.clone());
            commit
        };
        let good = || with_step(adding(agent, &[system], exchange(agent, "weather")));
        let stale = with_step(adding(agent, &[], exchange(agent, "weather")));
        let error = store.commit_step(&stale).await.unwrap_err();
        assert!(matches!(error, StoreError::ThreadChanged { .. }), "{error:?}");

        let mut unknown = good();
        unknown.context.as_mut().unwrap().next.push(MessageId::random());
        let mut foreign = good();
        foreign.context.as_mut().unwrap().next.extend(context(&store, &other).await);
        let mut without_run = good();
        without_run.run = Some(RunUpdate::running(run(agent).id));
        let nobody = StepCommit::new(bulkhead_domain::id::AgentId::random(), None);
        for commit in [unknown, foreign, without_run, nobody] {
            let error = store.commit_step(&commit).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        }
        let mut twice = good();
        twice.context.as_mut().unwrap().next.push(system);
        let mut receipt_of_nothing = good();
        receipt_of_nothing.step = None;
        receipt_of_nothing.receipts = vec![("call".to_owned(), receipt(1))];
        let mut other_thread = good();
        other_thread.messages[0].agent_id = other;
        let mut not_a_system_message = good();
        not_a_system_message.system = Some(SystemContent {
            message_id: not_a_system_message.messages[0].id,
            content: vec![],
        });
        for commit in [twice, receipt_of_nothing, other_thread, not_a_system_message] {
            let error = store.commit_step(&commit).await.unwrap_err();
            assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        }
        assert_eq!(store.count_messages(&all(agent)).await.unwrap(), 1);
        assert_eq!(store.step(&step.id).await.unwrap(), None);
        store.commit_step(&good()).await.unwrap();
        assert_eq!(store.count_messages(&all(agent)).await.unwrap(), 5);
    }

    async fn of_many_commits_on_one_context_exactly_one_wins(database) {
        const WRITERS: usize = 16;
        const ROUNDS: usize = 5;
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        for _ in 0..ROUNDS {
            let expected = context(&store, &agent).await;
            let tasks: Vec<_> = (0..WRITERS)
                .map(|_| {
                    let store = store.clone();
                    let commit = adding(agent, &expected, exchange(agent, "weather"));
                    tokio::spawn(async move { store.commit_step(&commit).await })
                })
                .collect();
            let mut wins = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Ok(_) => wins += 1,
                    Err(StoreError::ThreadChanged { .. }) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            assert_eq!(wins, 1);
            let now = context(&store, &agent).await;
            assert_eq!(now.len(), expected.len() + 4);
            let listed = store.messages(&all(agent)).await.unwrap();
            let listed: Vec<_> = listed.iter().map(|message| message.id).collect();
            assert_eq!(listed, now, "nothing of the others is left");
        }
        assert!(store.verify_thread(&agent, None).await.unwrap().is_empty());
    }

    async fn a_commit_that_is_cut_off_is_there_as_a_whole_or_not_at_all(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        for after in 0..40 {
            let expected = context(&store, &agent).await;
            let mut commit = adding(agent, &expected, exchange(agent, "weather"));
            let step = step(agent, None);
            commit.receipts = vec![("call".to_owned(), receipt(1))];
            commit.step = Some(step.clone());
            let committing = store.commit_step(&commit);
            tokio::time::timeout(Duration::from_micros(after * 200), committing).await.ok();
            // The server may still be at it: this waits for whoever holds the agent.
            store.commit_step(&StepCommit::new(agent, None)).await.unwrap();
            let next = context(&store, &agent).await;
            let is_there = next.len() > expected.len();
            assert_eq!(store.step(&step.id).await.unwrap().is_some(), is_there);
            let receipts = store.receipts_of_step(&step.id).await.unwrap();
            assert_eq!(receipts.len(), usize::from(is_there));
            let count = store.count_messages(&all(agent)).await.unwrap();
            assert_eq!(count, next.len() as u64);
        }
        assert!(store.verify_thread(&agent, None).await.unwrap().is_empty());
    }

    async fn a_run_that_was_cancelled_stays_cancelled_and_its_agent_sees_it(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let run = run(agent);
        store.create_run(&run).await.unwrap();
        let cancelled = RunUpdate::ended(run.id, StopReason::Cancelled);
        let cancelled = store.finish_run(&cancelled).await.unwrap();
        let mut commit = adding(agent, &[system], exchange(agent, "weather"));
        let mut update = RunUpdate::ended(run.id, StopReason::EndTurn);
        update.ttft_ns = Some(5);
        update.metadata.insert("error".to_owned(), "late".into());
        commit.run = Some(update);
        commit.last_stop_reason = Some(StopReason::EndTurn);
        let seen = store.commit_step(&commit).await.unwrap().run.unwrap();
        assert_eq!((seen.status, seen.stop_reason, seen.completed_at),
            (RunStatus::Cancelled, Some(StopReason::Cancelled), cancelled.completed_at));
        assert_eq!(seen.ttft_ns, Some(5));
        // What came later is not why it ended.
        assert_eq!(seen.metadata, cancelled.metadata);
        let agent = store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(agent.last_stop_reason, Some(StopReason::Cancelled));
    }

    async fn a_reset_forgets_the_thread_but_not_what_others_took_over(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let messages = exchange(agent, "weather");
        store.commit_step(&adding(agent, &[system], messages.clone())).await.unwrap();
        let mut conversation = Conversation::new(agent);
        let mut own = Message::text(agent, Role::System, "You are helpful.");
        own.conversation_id = Some(conversation.id);
        conversation.in_context_message_ids = vec![own.id, messages[0].id];
        store.create_conversation(&conversation, std::slice::from_ref(&own)).await.unwrap();

        let mut reset = StepCommit::new(agent, None);
        let expected = context(&store, &agent).await;
        reset.context = Some(ContextChange { expected, next: vec![system] });
        reset.forget_others = true;
        store.commit_step(&reset).await.unwrap();
        let left = store.messages(&all(agent)).await.unwrap();
        let left: HashSet<_> = left.iter().map(|message| message.id).collect();
        assert_eq!(left, HashSet::from([system, own.id, messages[0].id]));
        for thread in [None, Some(&conversation.id)] {
            assert!(store.verify_thread(&agent, thread).await.unwrap().is_empty());
        }
        assert_eq!(context(&store, &agent).await, [system]);
    }

    async fn a_conversation_has_its_own_context(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let conversation = Conversation::new(agent);
        store.create_conversation(&conversation, &[]).await.unwrap();
        let mut commit = adding(agent, &[], exchange(agent, "weather"));
        commit.conversation_id = Some(conversation.id);
        commit.last_stop_reason = Some(StopReason::EndTurn);
        commit.at = Timestamp::from_micros(55);
        let error = store.commit_step(&commit).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "messages of another thread");
        for message in &mut commit.messages {
            message.conversation_id = Some(conversation.id);
        }
        store.commit_step(&commit).await.unwrap();
        let error = store.commit_step(&commit).await.unwrap_err();
        assert!(matches!(error, StoreError::ThreadChanged { .. }), "{error:?}");
        let stored = store.conversation(&conversation.id).await.unwrap().unwrap();
        assert_eq!(stored.in_context_message_ids, commit.context.unwrap().next);
        assert_eq!(stored.last_message_at, Some(commit.at));
        assert_eq!(context(&store, &agent).await, [system]);
        let stored = store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(stored.last_stop_reason, Some(StopReason::EndTurn));
        let in_it = MessageFilter {
            thread: ThreadFilter::Conversation(conversation.id), ..all(agent)
        };
        assert_eq!(store.messages(&in_it).await.unwrap(), commit.messages);
        assert!(store.verify_thread(&agent, Some(&conversation.id)).await.unwrap().is_empty());
    }

    async fn what_becomes_of_a_conversation_hides_no_request_of_the_default_thread(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let conversation = Conversation::new(agent);
        store.create_conversation(&conversation, &[]).await.unwrap();
        let stopped = async |conversation_id, reason| {
            let mut commit = StepCommit::new(agent, conversation_id);
            commit.last_stop_reason = Some(reason);
            store.commit_step(&commit).await.unwrap();
            store.agent(&agent).await.unwrap().unwrap().last_stop_reason.unwrap()
        };
        let (ends, asks) = (StopReason::EndTurn, StopReason::RequiresApproval);
        let other = Some(conversation.id);
        // A conversation that waited and does not wait any more.
        assert_eq!(stopped(other, asks).await, asks);
        assert_eq!(stopped(other, ends).await, ends);
        let mut request = Message::new(agent, Role::Approval);
        request.tool_calls = exchange(agent, "weather")[1].tool_calls.clone();
        let mut commit = adding(agent, &[system], vec![request.clone()]);
        commit.last_stop_reason = Some(asks);
        store.commit_step(&commit).await.unwrap();
        for reason in [ends, StopReason::Cancelled, StopReason::Error] {
            assert_eq!(stopped(other, reason).await, asks, "{reason:?}");
        }
        // Nor a run of a conversation whose server died.
        let mut silent = run(agent);
        silent.conversation_id = other;
        silent.created_at = Timestamp::now();
        store.create_run(&silent).await.unwrap();
        let failed = store.fail_abandoned_runs(None, |_| json!("gone")).await.unwrap();
        assert_eq!(failed.len(), 1);
        let stored = store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(stored.last_stop_reason, Some(asks));
        assert_eq!(stopped(None, ends).await, ends);
    }

    async fn traces_are_bounded_in_size_and_number(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let mut steps = Vec::new();
        for number in 0..=TRACES_MAX {
            let step = step(agent, None);
            let mut trace = trace(step.id, agent);
            if number == TRACES_MAX {
                // Old ones go with those traces whose id ends in a zero.
                while !trace.id.uuid().as_u128().is_multiple_of(16) {
                    trace.id = TraceId::random();
                }
                trace.request_json = json!("x".repeat(TRACE_BYTES_MAX));
                let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
                trace.response_json = serde_json::from_str(&deep).unwrap();
            }
            steps.push(step.id);
            let mut commit = StepCommit::new(agent, None);
            commit.step = Some(step);
            commit.traces.push(trace);
            store.commit_step(&commit).await.unwrap();
        }
        assert_eq!(store.trace_of_step(&steps[0]).await.unwrap(), None, "the oldest is gone");
        assert!(store.trace_of_step(&steps[1]).await.unwrap().is_some());
        let cut = store.trace_of_step(steps.last().unwrap()).await.unwrap().unwrap();
        assert_eq!(cut.request_json["bytes"], json!(TRACE_BYTES_MAX + 2));
        assert_eq!(cut.response_json["bytes"], json!(240));
        let left = raw::number(&database, "SELECT COUNT(*) FROM traces").await;
        assert_eq!(left, TRACES_MAX);
    }

    async fn planted_disagreements_are_found(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let (other, foreign) = new_agent(&store).await;
        let messages = exchange(agent, "weather");
        let [question, call, result, answer] = &messages[..] else { panic!() };
        store.commit_step(&adding(agent, &[system], messages.clone())).await.unwrap();
        let gone = MessageId::random();
        let call_id = call.tool_calls[0].id.clone();
        let unasked = Disagreement::Unasked {
            message_id: result.id, tool_call_id: call_id.clone(),
        };
        let unanswered = Disagreement::Unanswered {
            message_id: call.id, tool_call_id: call_id,
        };
        for (ids, expected) in [
            (vec![system, question.id, call.id, result.id, answer.id], vec![]),
            (vec![system, gone], vec![Disagreement::Missing(gone)]),
            (vec![system, foreign], vec![Disagreement::OtherAgent(foreign)]),
            (vec![system, system], vec![Disagreement::Twice(system)]),
            (vec![system, call.id], vec![unanswered.clone()]),
            (vec![system, result.id], vec![unasked.clone()]),
            (vec![system, result.id, call.id], vec![unasked, unanswered]),
        ] {
            let ids = serde_json::to_string(&ids).unwrap();
            let plant = format!("UPDATE agents SET message_ids = '{ids}' WHERE id = '{agent}'");
            database.script(&plant).await;
            assert_eq!(store.verify_thread(&agent, None).await.unwrap(), expected, "{ids}");
        }
        assert!(store.verify_thread(&other, None).await.unwrap().is_empty());
    }

    async fn an_open_request_for_approval_at_the_end_is_no_disagreement(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let messages = <[Message; 4]>::try_from(exchange(agent, "pay"));
        let [question, mut call, result, _] = messages.unwrap();
        call.role = Role::Approval;
        let asked = vec![question, call];
        store.commit_step(&adding(agent, &[system], asked)).await.unwrap();
        assert!(store.verify_thread(&agent, None).await.unwrap().is_empty());
        let expected = context(&store, &agent).await;
        let passed = Message::text(agent, Role::User, "Never mind.");
        store.commit_step(&adding(agent, &expected, vec![passed])).await.unwrap();
        let found = store.verify_thread(&agent, None).await.unwrap();
        assert!(matches!(found[..], [Disagreement::Unanswered { .. }]), "{found:?}");
        let expected = context(&store, &agent).await;
        store.commit_step(&adding(agent, &expected, vec![result])).await.unwrap();
        assert!(store.verify_thread(&agent, None).await.unwrap().is_empty());
    }
}
