use bulkhead_domain::{
    RunStatus, StopReason, Usage,
    id::AgentId,
    platform::{ProjectId, Standing},
};
use bulkhead_store::{AgentUsage, ModelUsage, Store, StoreError, UsageOf};

use super::{
    history::{adding, context, new_agent, run, step},
    instance::Place,
    receipt::receipt,
};

/// A step with a model of this handle, and receipts of this many calls, 110 units of fuel each.
async fn worked(store: &Store, agent: AgentId, handle: Option<&str>, calls: usize) {
    let expected = context(store, &agent).await;
    let mut commit = adding(agent, &expected, Vec::new());
    let mut step = step(agent, None);
    step.model_handle = handle.map(str::to_owned);
    commit.step = Some(step);
    commit.receipts = (0..calls)
        .map(|call| (format!("call-{call}"), receipt(7)))
        .collect();
    store.commit_step(&commit).await.unwrap();
}

fn used(handle: Option<&str>, steps: u8) -> ModelUsage {
    let steps = i64::from(steps);
    ModelUsage {
        model: Some("scripted".to_owned()),
        model_handle: handle.map(str::to_owned),
        steps: steps.unsigned_abs(),
        usage: Usage {
            completion_tokens: 5 * steps,
            prompt_tokens: 20 * steps,
            total_tokens: 25 * steps,
            cached_input_tokens: Some(4 * steps),
            cache_write_tokens: None,
            reasoning_tokens: None,
        },
    }
}

on_both! {
    async fn what_agents_used_is_summed_from_their_steps_and_runs(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let busy = place.spawn(&store, "busy").await.agent_id;
        let lazy = place.spawn(&store, "lazy").await.agent_id;
        let elsewhere = Place::new(&store, "two").await.spawn(&store, "other").await.agent_id;
        let (plain, _) = new_agent(&store).await;
        for (handle, calls) in [(Some("a/x"), 2), (Some("a/x"), 0), (Some("b\0/x"), 1), (None, 0)] {
            worked(&store, busy, handle, calls).await;
        }
        worked(&store, elsewhere, Some("a/x"), 1).await;
        worked(&store, plain, Some("a/x"), 1).await;
        let ended = |status, reason| {
            let mut run = run(busy);
            run.status = status;
            run.stop_reason = reason;
            run
        };
        for run in [
            ended(RunStatus::Completed, Some(StopReason::EndTurn)),
            ended(RunStatus::Completed, Some(StopReason::MaxSteps)),
            ended(RunStatus::Completed, Some(StopReason::RequiresApproval)),
            ended(RunStatus::Failed, Some(StopReason::Error)),
            ended(RunStatus::Cancelled, Some(StopReason::Cancelled)),
            ended(RunStatus::Running, None),
        ] {
            store.create_run(&run).await.unwrap();
        }
        // What was pruned of the receipts, and what a terminated instance cost, is not forgotten.
        store.prune_receipts(None, Some(0)).await.unwrap();
        store.set_standing(busy, &[Standing::Active], Standing::Terminated).await.unwrap();
        let mut of_busy = AgentUsage {
            agent_id: busy,
            runs_completed: 2,
            fuel: 330,
            models: vec![
                used(Some("a/x"), 2),
                used(Some("b\u{fffd}/x"), 1),
                used(None, 1),
            ],
        };
        let in_order = |mut usage: Vec<AgentUsage>| {
            // Where NULL stands is the database's business.
            let models = usage.iter_mut().map(|usage| &mut usage.models);
            models.for_each(|models| models.sort_by_key(|model| model.model_handle.clone()));
            usage
        };
        of_busy.models.rotate_right(1);
        let project = store.usage_of_agents(UsageOf::Project(place.project.id)).await.unwrap();
        assert_eq!(in_order(project), std::slice::from_ref(&of_busy));
        let both = store.usage_of_agents(UsageOf::Agents(&[lazy, busy])).await.unwrap();
        let of_lazy =
            AgentUsage { agent_id: lazy, runs_completed: 0, fuel: 0, models: Vec::new() };
        let mut expected = vec![of_busy, of_lazy];
        expected.sort_by_key(|usage| usage.agent_id);
        assert_eq!(in_order(both), expected);
        for nothing in [UsageOf::Agents(&[]), UsageOf::Project(ProjectId::random())] {
            assert_eq!(store.usage_of_agents(nothing).await.unwrap(), []);
        }
        let many = [busy; 1001];
        let error = store.usage_of_agents(UsageOf::Agents(&many)).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { .. }), "{error:?}");
    }
}
