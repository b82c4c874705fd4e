use bulkhead_domain::{
    Step, StepStatus, Timestamp, Trace,
    id::{RunId, StepId, TraceId},
};
use bulkhead_store::{Paging, StepCommit, StepFilter, Store, StoreError, step::ERROR_DATA_MAX};
use serde_json::json;

use super::{
    history::{new_agent, step},
    receipt::receipt,
};

async fn put(store: &Store, step: &Step) {
    let mut commit = StepCommit::new(step.agent_id, None);
    commit.step = Some(step.clone());
    store.commit_step(&commit).await.unwrap();
}

on_both! {
    async fn calls_that_begin_are_noted_and_those_that_had_begun_are_told(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let step = Step { feedback: Some("positive".to_owned()), ..step(agent, None) };
        put(&store, &step).await;
        let calls = ["a", "b"].map(str::to_owned);
        assert!(store.begin_calls(&step.id, &calls[..1]).await.unwrap().is_empty());
        assert_eq!(store.begin_calls(&step.id, &calls).await.unwrap(), calls[..1]);
        let noted = store.step(&step.id).await.unwrap().unwrap();
        assert_eq!(noted, Step { begun_calls: calls.to_vec(), ..step });
        assert!(store.begin_calls(&StepId::random(), &calls).await.unwrap().is_empty());
    }

    async fn steps_are_found_by_every_filter(database) {
        let store = database.open().await;
        let (first, _) = new_agent(&store).await;
        let (second, _) = new_agent(&store).await;
        let run_id = Some(RunId::random());
        let time = Timestamp::from_micros;
        let text = |text: &str| Some(text.to_owned());
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        let steps = [
            Step { created_at: time(1), tags: vec!["a".to_owned(), "b".to_owned()],
                ..step(first, run_id) },
            Step { created_at: time(2), feedback: text("positive"), ..step(first, None) },
            Step { created_at: time(2), model: text("other"), project_id: text("p"),
                ..step(first, None) },
            Step { created_at: time(3), tags: vec!["b".to_owned()], ..step(second, run_id) },
        ];
        for step in &steps {
            put(&store, step).await;
        }
        let trace = Trace {
            id: TraceId::random(),
            step_id: steps[2].id,
            agent_id: first,
            run_id: None,
            call_type: "agent_step".to_owned(),
            request_json: json!({}),
            response_json: json!({}),
            created_at: time(2),
        };
        let trace_id = trace.id.to_string();
        let mut commit = StepCommit::new(first, None);
        commit.step = Some(steps[2].clone());
        commit.traces = vec![trace];
        store.commit_step(&commit).await.unwrap();
        let base = StepFilter::default();
        let ascending = Paging { ascending: true, ..Paging::default() };
        for (filter, expected) in [
            (base.clone(), vec![3, 2, 1, 0]),
            (StepFilter { paging: ascending, ..base.clone() }, vec![0, 1, 2, 3]),
            (StepFilter { agent_id: Some(second), ..base.clone() }, vec![3]),
            (StepFilter { run_id, ..base.clone() }, vec![3, 0]),
            (StepFilter { model: text("other"), ..base.clone() }, vec![2]),
            (StepFilter { project_id: text("p"), ..base.clone() }, vec![2]),
            (StepFilter { since: Some(time(2)), until: Some(time(3)), ..base.clone() },
                vec![2, 1]),
            (StepFilter { feedback: text("positive"), ..base.clone() }, vec![1]),
            (StepFilter { has_feedback: Some(true), ..base.clone() }, vec![1]),
            (StepFilter { has_feedback: Some(false), ..base.clone() }, vec![3, 2, 0]),
            (StepFilter { tags: texts(&["a", "b"]), ..base.clone() }, vec![3, 0]),
            (StepFilter { tags: texts(&["a"]), ..base.clone() }, vec![0]),
            (StepFilter { tags: texts(&[]), ..base.clone() }, vec![]),
            (StepFilter { trace_ids: texts(&[&trace_id, "none"]), ..base.clone() }, vec![2]),
        ] {
            let expected: Vec<_> = expected.iter().map(|index: &usize| &steps[*index]).collect();
            let found = store.steps(&filter).await.unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        }
    }

    async fn what_a_person_said_of_a_step_outlives_its_next_commit(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let step = Step { status: StepStatus::Pending, ..step(agent, None) };
        put(&store, &step).await;
        let tags = ["good".to_owned()];
        store.set_step_feedback(&step.id, Some("positive"), Some(&tags)).await.unwrap();
        store.set_step_transaction(&step.id, "tx-1").await.unwrap();
        let done = Step { status: StepStatus::Success, ..step.clone() };
        put(&store, &done).await;
        let expected = Step {
            feedback: Some("positive".to_owned()),
            tags: tags.to_vec(),
            tid: Some("tx-1".to_owned()),
            ..done
        };
        assert_eq!(store.step(&step.id).await.unwrap().as_ref(), Some(&expected));
        let found = StepFilter { tags: Some(tags.to_vec()), ..Default::default() };
        assert_eq!(store.steps(&found).await.unwrap(), std::slice::from_ref(&expected));
        let cleared = store.set_step_feedback(&step.id, None, None).await.unwrap();
        assert_eq!(cleared, Step { feedback: None, ..expected });

        let error = store.set_step_feedback(&step.id, Some("great"), None).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        let error = store.set_step_transaction(&StepId::random(), "tx").await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        let (thief, _) = new_agent(&store).await;
        let mut stolen = StepCommit::new(thief, None);
        stolen.step = Some(Step { agent_id: thief, ..step });
        let error = store.commit_step(&stolen).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
    }

    async fn an_endless_error_does_not_keep_its_step_from_being_stored(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let mut step = Step { status: StepStatus::Failed, ..step(agent, None) };
        step.usage.total_tokens = i64::MAX;
        step.error_data = Some(json!({"traceback": "x".repeat(ERROR_DATA_MAX)}));
        put(&store, &step).await;
        let stored = store.step(&step.id).await.unwrap().unwrap();
        assert!(stored.error_data.unwrap()["bytes"].as_u64().unwrap() > ERROR_DATA_MAX as u64);
    }

    async fn receipts_come_with_their_steps(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let steps = [step(agent, None), step(agent, None), step(agent, None)];
        let call = |name: &str, at| (name.to_owned(), receipt(at));
        let long = "c".repeat(5000);
        let receipts = [
            vec![call("call_2", 5), call("call_1", 1), call("call_1", 3)],
            vec![],
            vec![call(&long, 2)],
        ];
        for (step, receipts) in steps.iter().zip(&receipts) {
            let mut commit = StepCommit::new(agent, None);
            commit.step = Some(step.clone());
            commit.receipts.clone_from(receipts);
            store.commit_step(&commit).await.unwrap();
            // Sent again because its answer was lost.
            store.commit_step(&commit).await.unwrap();
        }
        assert_eq!(store.receipts_of_step(&steps[0].id).await.unwrap(), receipts[0]);
        let ids: Vec<_> = steps.iter().map(|step| step.id).collect();
        let found = store.receipts_of_steps(&ids).await.unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[&ids[0]], receipts[0]);
        let (call, stored) = &found[&ids[2]][0];
        assert!(long.starts_with(call) && *stored == receipts[2][0].1);
        store.prune_receipts(Some(Timestamp::from_micros(4)), None).await.unwrap();
        assert_eq!(store.receipts_of_step(&ids[0]).await.unwrap(), receipts[0][..1]);
    }
}
