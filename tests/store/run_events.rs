//! What runs in the background told is kept for a while.

use std::ops::RangeInclusive;

use bulkhead_domain::{StopReason, Timestamp, id::RunId};
use bulkhead_store::{RunEvent, RunUpdate, Store, StoreError};

use super::history::{new_agent, run};

/// Events at these positions; the last one is the end.
fn events(positions: RangeInclusive<u64>) -> Vec<RunEvent> {
    let last = *positions.end();
    let event = |position| RunEvent {
        position,
        is_last: position == last,
        data: format!("data: {position} é\n\n"),
    };
    positions.map(event).collect()
}

async fn new_run(store: &Store) -> RunId {
    let (agent, _) = new_agent(store).await;
    let run = run(agent);
    store.create_run(&run).await.unwrap();
    run.id
}

on_both! {
    async fn events_are_read_from_any_position_and_those_that_come_again_change_nothing(database) {
        let store = database.open().await;
        let run = new_run(&store).await;
        let all = events(1..=5);
        store.append_run_events(&run, &all[..3]).await.unwrap();
        assert!(!store.has_last_event(&run).await.unwrap());
        // Whoever does not know whether they were stored adds them again.
        let mut again = all.clone();
        "another".clone_into(&mut again[0].data);
        store.append_run_events(&run, &again).await.unwrap();
        assert!(store.has_last_event(&run).await.unwrap());
        assert_eq!(store.run_events(&run, 0, 100).await.unwrap(), all);
        assert_eq!(store.run_events(&run, 2, 2).await.unwrap(), all[2..4]);
        assert!(store.run_events(&run, u64::MAX, 100).await.unwrap().is_empty());
        assert!(store.delete_run(&run).await.unwrap());
        assert!(store.run_events(&run, 0, 100).await.unwrap().is_empty());
        assert!(!store.has_last_event(&run).await.unwrap());
        let error = store.append_run_events(&run, &all).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "run", .. }), "{error:?}");
    }

    async fn events_that_are_older_are_deleted_unless_their_run_goes_on_and_younger_ones_stay(database) {
        let store = database.open().await;
        let (old, young) = (new_run(&store).await, new_run(&store).await);
        let ended = RunUpdate::ended(old, StopReason::EndTurn);
        store.finish_run(&ended).await.unwrap();
        let goes_on = new_run(&store).await;
        let all = events(1..=7_001);
        store.append_run_events(&old, &all).await.unwrap();
        store.append_run_events(&goes_on, &all[..3]).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        let before = Timestamp::now();
        store.append_run_events(&young, &all[..2]).await.unwrap();
        let early = Timestamp::from_micros(before.micros() - 3_600_000_000);
        assert_eq!(store.prune_run_events(early).await.unwrap(), 0);
        assert_eq!(store.prune_run_events(before).await.unwrap(), 7_001);
        assert!(store.run_events(&old, 0, 100).await.unwrap().is_empty());
        assert_eq!(store.run_events(&young, 0, 100).await.unwrap(), all[..2]);
        assert_eq!(store.prune_run_events(before).await.unwrap(), 0);
        assert!(store.run(&old).await.unwrap().is_some(), "the run stays");
        assert_eq!(store.run_events(&goes_on, 0, 100).await.unwrap(), all[..3]);
        let ended = RunUpdate::ended(goes_on, StopReason::EndTurn);
        store.finish_run(&ended).await.unwrap();
        assert_eq!(store.prune_run_events(before).await.unwrap(), 3);
    }
}
