use std::time::Duration;

use bulkhead_domain::{
    Conversation, Run, RunStatus, StopReason, Timestamp, Usage,
    id::{AgentId, RunId},
};
use bulkhead_store::{
    NewTool, Paging, RunFilter, RunOrder, RunUpdate, Store, StoreError, ThreadFilter, ToolType,
    ToolUsed,
};
use serde_json::json;

use super::history::{adding, context, exchange, new_agent, run, step};

const AN_HOUR: Duration = Duration::from_secs(3_600);
/// Nothing was heard of any run for an hour.
const AGE: &str = "UPDATE runs SET alive_at = alive_at - 3600000000";

async fn found(store: &Store, filter: &RunFilter) -> Vec<RunId> {
    let runs = store.runs(filter).await.unwrap();
    assert_eq!(
        store.count_runs(filter).await.unwrap(),
        runs.len() as u64,
        "{filter:?}"
    );
    runs.iter().map(|run| run.id).collect()
}

on_both! {
    async fn a_run_reads_back_and_changes_and_goes(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let request_config = Some(json!({"use_assistant_message": true}));
        let run = Run { request_config, ..run(agent) };
        store.create_run(&run).await.unwrap();
        assert_eq!(store.run(&run.id).await.unwrap().as_ref(), Some(&run));
        let changed = store.update_run(&run.id, |run| {
            run.id = RunId::random();
            run.agent_id = AgentId::random();
            run.callback_status_code = Some(200);
        });
        let changed = changed.await.unwrap();
        assert_eq!(changed, Run { callback_status_code: Some(200), ..run.clone() });
        assert_eq!(store.run(&run.id).await.unwrap(), Some(changed));

        let mut commit = adding(agent, &[system], exchange(agent, "weather"));
        commit.messages[0].run_id = Some(run.id);
        commit.step = Some(step(agent, Some(run.id)));
        store.commit_step(&commit).await.unwrap();
        assert!(store.delete_run(&run.id).await.unwrap());
        assert!(!store.delete_run(&run.id).await.unwrap());
        assert_eq!(store.run(&run.id).await.unwrap(), None);
        let step = store.step(&commit.step.unwrap().id).await.unwrap().unwrap();
        let message = store.message(&commit.messages[0].id).await.unwrap().unwrap();
        assert_eq!((step.run_id, message.run_id), (None, None), "what was said stays");

        let nobody = super::history::run(AgentId::random());
        let error = store.create_run(&nobody).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "agent", .. }), "{error:?}");
        let error = store.finish_run(&RunUpdate::running(run.id)).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "run", .. }), "{error:?}");
    }

    async fn runs_are_found_by_every_filter_in_every_order(database) {
        let store = database.open().await;
        let (first, _) = new_agent(&store).await;
        let (second, _) = new_agent(&store).await;
        let conversation = Conversation::new(first);
        store.create_conversation(&conversation, &[]).await.unwrap();
        let time = Timestamp::from_micros;
        let runs = [
            Run { created_at: time(1), ..run(first) },
            Run { created_at: time(2), status: RunStatus::Running, background: true, ..run(first) },
            Run {
                created_at: time(2), status: RunStatus::Completed, total_duration_ns: Some(9),
                stop_reason: Some(StopReason::EndTurn), ..run(second)
            },
            Run {
                created_at: time(3), status: RunStatus::Failed, total_duration_ns: Some(3),
                stop_reason: Some(StopReason::LlmApiError),
                conversation_id: Some(conversation.id), ..run(first)
            },
        ];
        for run in &runs {
            store.create_run(run).await.unwrap();
        }
        let base = RunFilter::default();
        let ascending = Paging { ascending: true, ..Paging::default() };
        let of = |agent| Some(vec![agent]);
        for (filter, expected) in [
            (base.clone(), vec![3, 2, 1, 0]),
            (RunFilter { paging: ascending.clone(), ..base.clone() }, vec![0, 1, 2, 3]),
            (RunFilter { agent_ids: of(first), ..base.clone() }, vec![3, 1, 0]),
            (RunFilter { agent_ids: Some(vec![first, second]), ..base.clone() },
                vec![3, 2, 1, 0]),
            (RunFilter { agent_ids: Some(vec![]), ..base.clone() }, vec![]),
            (RunFilter {
                statuses: Some(vec![RunStatus::Failed, RunStatus::Created]), ..base.clone()
            }, vec![3, 0]),
            (RunFilter { background: Some(true), ..base.clone() }, vec![1]),
            (RunFilter { background: Some(false), ..base.clone() }, vec![3, 2, 0]),
            (RunFilter { stop_reason: Some(StopReason::EndTurn), ..base.clone() }, vec![2]),
            (RunFilter { active: true, ..base.clone() }, vec![1, 0]),
            (RunFilter { thread: ThreadFilter::Conversation(conversation.id), ..base.clone() },
                vec![3]),
            (RunFilter { thread: ThreadFilter::Default, ..base.clone() }, vec![2, 1, 0]),
            (RunFilter { order_by: RunOrder::Duration, ..base.clone() }, vec![2, 3, 1, 0]),
            (RunFilter { order_by: RunOrder::Duration, paging: ascending, ..base.clone() },
                vec![0, 1, 3, 2]),
        ] {
            let expected: Vec<_> = expected.iter().map(|index: &usize| runs[*index].id).collect();
            assert_eq!(found(&store, &filter).await, expected, "{filter:?}");
        }
        // Forwards and back, through two runs of one moment.
        for order_by in [RunOrder::CreatedAt, RunOrder::Duration] {
            let whole = found(&store, &RunFilter { order_by, ..base.clone() }).await;
            let mut filter = RunFilter { order_by, ..base.clone() };
            filter.paging.limit = Some(1);
            let mut seen = Vec::new();
            while let Some(run) = store.runs(&filter).await.unwrap().pop() {
                seen.push(run.id);
                filter.paging.after = Some(run.id.to_string());
            }
            assert_eq!(seen, whole);
            filter.paging = Paging {
                before: Some(whole[3].to_string()), limit: Some(2), ..Paging::default()
            };
            let back = store.runs(&filter).await.unwrap();
            assert_eq!(back.iter().map(|run| run.id).collect::<Vec<_>>(), whole[1..3]);
        }
        let active = store.active_runs(&first, ThreadFilter::Default).await.unwrap();
        assert_eq!(active, runs[..2]);
        let mut unknown = base;
        unknown.paging.after = Some(RunId::random().to_string());
        let error = store.runs(&unknown).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "run", .. }), "{error:?}");
    }

    async fn runs_that_nobody_works_on_have_failed(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let mut runs = [run(agent), run(agent), run(agent)];
        for (number, run) in (0..).zip(&mut runs) {
            run.created_at = Timestamp::from_micros(run.created_at.micros() + number);
            store.create_run(run).await.unwrap();
        }
        let ended = RunUpdate::ended(runs[2].id, StopReason::EndTurn);
        let ended = store.finish_run(&ended).await.unwrap();
        let silence = Some(AN_HOUR / 2);
        database.script(AGE).await;
        let working = [runs[1].id, runs[2].id, RunId::random()];
        store.keep_runs_alive(&working, AN_HOUR).await.unwrap();
        let ids = runs.clone().map(|run| run.id);
        // A run that completed was stopped by nobody.
        assert_eq!(store.stopped_runs(&ids, &[]).await.unwrap(), []);
        let ending = |text: &'static str| move |_: &Run| json!(text);
        let told = ending("the server ended");
        let all_failed = store.fail_abandoned_runs(silence, told).await.unwrap();
        let failed = store.run(&runs[0].id).await.unwrap().unwrap();
        assert_eq!(store.stopped_runs(&ids, &[]).await.unwrap(), [failed.id]);
        assert_eq!(all_failed, std::slice::from_ref(&failed));
        assert_eq!((failed.status, failed.stop_reason),
            (RunStatus::Failed, Some(StopReason::Error)));
        assert!(failed.completed_at.is_some() && failed.total_duration_ns.is_some());
        assert_eq!(failed.metadata,
            Some(json!({"run_type": "send_message", "error": "the server ended"})));
        assert_eq!(store.run(&runs[1].id).await.unwrap().as_ref(), Some(&runs[1]));
        assert_eq!(store.run(&runs[2].id).await.unwrap(), Some(ended));
        // Two more have begun since: how the agent stopped is theirs to say.
        let state = store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(state.last_stop_reason, None);
        let none = store.fail_abandoned_runs(silence, ending("again")).await.unwrap();
        assert!(none.is_empty());
        let all_failed = store.fail_abandoned_runs(None, ending("again")).await.unwrap();
        assert_eq!(all_failed.len(), 1);
        let state = store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(state.last_stop_reason, None);
    }

    async fn a_run_that_nobody_works_on_says_how_its_agent_stopped(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        store.create_run(&run(agent)).await.unwrap();
        store.fail_abandoned_runs(None, |_: &Run| json!("it ended")).await.unwrap();
        let state = store.agent(&agent).await.unwrap().unwrap();
        assert_eq!(state.last_stop_reason, Some(StopReason::Error));
    }

    async fn what_became_of_a_request_for_approval_counts_after_the_end_of_its_run(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        for (reason, expected) in [
            (StopReason::RequiresApproval, RunStatus::Cancelled),
            (StopReason::EndTurn, RunStatus::Completed),
        ] {
            let run = run(agent);
            store.create_run(&run).await.unwrap();
            let ended = store.finish_run(&RunUpdate::ended(run.id, reason)).await.unwrap();
            let closed = RunUpdate {
                completed_at: None,
                closes_request: true,
                ..RunUpdate::ended(run.id, StopReason::Cancelled)
            };
            let closed = store.finish_run(&closed).await.unwrap();
            assert_eq!((closed.status, closed.completed_at), (expected, ended.completed_at));
        }
    }

    async fn a_run_says_what_its_steps_cost_and_which_tools_they_used(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let tool = NewTool::new("weather", ToolType::Custom);
        let tool = store.upsert_tool(tool).await.unwrap().record;
        let run = Run { total_duration_ns: Some(77), ..run(agent) };
        store.create_run(&run).await.unwrap();
        assert_eq!(store.run_usage(&run.id).await.unwrap(), Some(Usage::default()));
        for name in ["weather", "nul\0", "weather"] {
            let expected = context(&store, &agent).await;
            let mut commit = adding(agent, &expected, exchange(agent, name));
            for message in &mut commit.messages {
                message.run_id = Some(run.id);
            }
            let mut step = step(agent, Some(run.id));
            step.usage.reasoning_tokens = (name != "weather").then_some(2);
            commit.step = Some(step);
            store.commit_step(&commit).await.unwrap();
        }
        let usage = store.run_usage(&run.id).await.unwrap().unwrap();
        assert_eq!(usage, Usage {
            completion_tokens: 15, prompt_tokens: 60, total_tokens: 75,
            cached_input_tokens: Some(12), cache_write_tokens: None, reasoning_tokens: Some(2),
        });
        let metrics = store.run_metrics(&run.id).await.unwrap().unwrap();
        assert_eq!((metrics.num_steps, metrics.run_ns), (3, Some(77)));
        assert_eq!(metrics.run_start_ns, run.created_at.micros() * 1000);
        let used = |name: &str, id| ToolUsed { name: name.to_owned(), id };
        assert_eq!(metrics.tools_used, [used("nul\0", None), used("weather", Some(tool.id))]);
        assert_eq!(store.run_usage(&RunId::random()).await.unwrap(), None);
        assert_eq!(store.run_metrics(&RunId::random()).await.unwrap(), None);
    }
}
