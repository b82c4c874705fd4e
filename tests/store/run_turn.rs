//! Turns of runs on a database that several servers share.

use std::time::Duration;

use bulkhead_domain::{
    Conversation, Run, RunStatus, StopReason, Timestamp,
    id::{AgentId, RunId},
};
use bulkhead_store::{
    Ahead, Asking, RunUpdate, Store, StoreError, Turn, Why,
    testing::{Kind, TestDatabase},
};
use futures::future::join_all;
use sqlx::{Connection as _, Executor as _, PgConnection};

use super::{
    history::{new_agent, run},
    raw,
};

const AN_HOUR: Duration = Duration::from_secs(3_600);
/// What a statement that waits for nobody takes at most on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(10);

/// So many runs that wait, the oldest first.
async fn waiting(store: &Store, agent: AgentId, count: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    for _ in 0..count {
        let run = run(agent);
        store.create_run(&run).await.unwrap();
        runs.push(run);
    }
    runs
}

fn asking<'a>(run: &'a Run, own: &'a [RunId]) -> Asking<'a> {
    Asking {
        run,
        own,
        silence: AN_HOUR,
        yields: false,
    }
}

async fn take(store: &Store, run: &Run) -> Turn {
    store.take_turn(asking(run, &[])).await.unwrap()
}

/// Who a run is behind, and why.
fn behind(turn: Turn) -> (RunId, Why) {
    let Turn::Behind(Ahead { run_id, why, .. }) = turn else {
        panic!("nobody is before it: {turn:?}");
    };
    (run_id, why)
}

/// Nothing was heard of a run for two hours.
async fn silence(database: &TestDatabase, run: &Run) {
    let aged = "UPDATE runs SET alive_at = alive_at - 7200000000 WHERE id";
    database.script(&format!("{aged} = '{}'", run.id)).await;
}

async fn stored(store: &Store, run: &Run) -> Run {
    store.run(&run.id).await.unwrap().unwrap()
}

on_both! {
    async fn one_run_of_a_thread_has_its_turn(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let [first, second] = &waiting(&store, agent, 2).await[..] else { panic!() };
        let conversation = Conversation::new(agent);
        store.create_conversation(&conversation, &[]).await.unwrap();
        let elsewhere = Run { conversation_id: Some(conversation.id), ..run(agent) };
        store.create_run(&elsewhere).await.unwrap();
        assert_eq!(take(&store, first).await, Turn::Taken);
        assert_eq!(stored(&store, first).await, Run { status: RunStatus::Running, ..first.clone() });
        assert_eq!(take(&store, first).await, Turn::Taken, "it has it");
        assert_eq!(take(&store, &elsewhere).await, Turn::Taken, "another thread");
        assert_eq!(behind(take(&store, second).await), (first.id, Why::Works));
        let ahead = store.ahead(asking(second, &[])).await.unwrap();
        assert_eq!(ahead.map(|ahead| ahead.run_id), Some(first.id));
        assert_eq!(stored(&store, second).await, *second);
        let own = [first.id, second.id];
        assert_eq!(store.ahead(asking(second, &own)).await.unwrap(), None);
        let own = store.take_turn(asking(second, &own)).await.unwrap();
        assert_eq!(own, Turn::Taken, "its own server sees to it");
        store.delete_run(&first.id).await.unwrap();
        let error = store.take_turn(asking(first, &[])).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "run", .. }), "{error:?}");
        // Who works on it learns of that; one that has no turn yet may only not be stored yet.
        let both = [first.id, second.id];
        assert_eq!(store.stopped_runs(&both, &both).await.unwrap(), [first.id]);
        assert_eq!(store.stopped_runs(&both, &both[1..]).await.unwrap(), []);
    }

    async fn who_takes_the_turn_of_a_silent_run_puts_it_out(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let [first, second, third] = &waiting(&store, agent, 3).await[..] else { panic!() };
        assert_eq!(take(&store, first).await, Turn::Taken);
        silence(&database, first).await;
        assert!(store.keep_turn(&first.id).await.unwrap(), "nobody wanted it");
        assert_eq!(behind(take(&store, second).await), (first.id, Why::Works));
        silence(&database, first).await;
        assert_eq!(take(&store, second).await, Turn::Taken);
        assert_eq!(stored(&store, first).await, *first);
        assert!(!store.keep_turn(&first.id).await.unwrap());
        assert!(store.keep_turn(&second.id).await.unwrap());
        // Its server lives and learns of it.
        let both = [first.id, second.id];
        assert_eq!(store.stopped_runs(&both, &both).await.unwrap(), [first.id]);
        store.keep_runs_alive(&both, AN_HOUR).await.unwrap();
        assert_eq!(behind(take(&store, first).await), (second.id, Why::Works));
        // What it does then takes no turn back.
        let cancelled = store.cancel_run(&second.id).await.unwrap();
        assert_eq!(cancelled.total_duration_ns, None);
        silence(&database, second).await;
        assert_eq!(take(&store, third).await, Turn::Taken);
        assert!(!store.keep_turn(&second.id).await.unwrap());
        assert!(stored(&store, second).await.total_duration_ns.is_some());
    }

    async fn a_run_that_another_server_cancelled_has_its_turn_until_its_own_has_ended_it(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let [first, second, third] = &waiting(&store, agent, 3).await[..] else { panic!() };
        assert_eq!(take(&store, first).await, Turn::Taken);
        let cancelled = store.cancel_run(&first.id).await.unwrap();
        assert_eq!((cancelled.status, cancelled.total_duration_ns), (RunStatus::Cancelled, None));
        assert_eq!(behind(take(&store, second).await), (first.id, Why::Ends));
        let ids = [first.id, second.id];
        assert_eq!(store.ending_runs(&ids, AN_HOUR).await.unwrap(), [first.id]);
        // Its server still says that it works on it.
        silence(&database, first).await;
        assert_eq!(store.ending_runs(&ids, AN_HOUR).await.unwrap(), []);
        store.keep_runs_alive(&[first.id], AN_HOUR).await.unwrap();
        assert_eq!(store.ending_runs(&ids, AN_HOUR).await.unwrap(), [first.id]);
        assert!(store.keep_turn(&first.id).await.unwrap());
        let ended = RunUpdate::ended(first.id, StopReason::Cancelled);
        let ended = ended.taking(first, Timestamp::now());
        store.finish_run(&ended).await.unwrap();
        assert_eq!(store.ending_runs(&ids, AN_HOUR).await.unwrap(), []);
        assert_eq!(take(&store, second).await, Turn::Taken);
        // One that waits ends at once.
        let cancelled = store.cancel_run(&third.id).await.unwrap();
        assert!(cancelled.total_duration_ns.is_some());
        assert_eq!(take(&store, third).await, Turn::Ended(Box::new(cancelled)));
    }

    async fn to_cancel_a_run_of_another_server_is_no_sign_of_life(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let [first, second] = &waiting(&store, agent, 2).await[..] else { panic!() };
        assert_eq!(take(&store, first).await, Turn::Taken);
        silence(&database, first).await;
        store.cancel_run(&first.id).await.unwrap();
        assert_eq!(store.ending_runs(&[first.id], AN_HOUR).await.unwrap(), []);
        assert_eq!(take(&store, second).await, Turn::Taken);
    }

    async fn older_runs_that_wait_on_servers_that_live_go_first(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let [dead, first, second, third] = &waiting(&store, agent, 4).await[..] else { panic!() };
        silence(&database, dead).await;
        let yielding = async |run: &Run, own: &[RunId]| {
            let asking = Asking { yields: true, ..asking(run, own) };
            let ahead = store.ahead(asking).await.unwrap();
            let turn = store.take_turn(asking).await.unwrap();
            assert_eq!(ahead.is_none(), turn == Turn::Taken, "{ahead:?} {turn:?}");
            turn
        };
        for own in [vec![], vec![second.id]] {
            assert_eq!(behind(yielding(third, &own).await), (first.id, Why::Waits));
        }
        assert_eq!(behind(yielding(second, &[]).await), (first.id, Why::Waits));
        // Its server has the oldest, and lets this one pass its gate first.
        assert_eq!(yielding(third, &[first.id]).await, Turn::Taken);
        assert_eq!(behind(yielding(second, &[]).await), (third.id, Why::Works));
    }

    async fn of_runs_that_ask_for_their_turn_at_once_one_gets_it(database) {
        let store = database.open().await;
        let others = database.open().await;
        let (agent, _) = new_agent(&store).await;
        for round in 0..20 {
            let runs = waiting(&store, agent, 2).await;
            let [one, two] = &runs[..] else { panic!() };
            if round % 2 == 0 {
                // Of a silent one, too.
                let before = run(agent);
                store.create_run(&before).await.unwrap();
                assert_eq!(take(&store, &before).await, Turn::Taken);
                silence(&database, &before).await;
            }
            let taken: [Turn; 2] = futures::join!(take(&store, one), take(&others, two)).into();
            assert_eq!(taken.iter().filter(|turn| **turn == Turn::Taken).count(), 1, "{taken:?}");
            for run in &runs {
                let ended = RunUpdate::ended(run.id, StopReason::EndTurn);
                store.finish_run(&ended).await.unwrap();
            }
        }
    }
}

/// A connection of somebody who locks a row and does nothing.
async fn locking(database: &TestDatabase, query: String) -> PgConnection {
    let mut connection = PgConnection::connect(database.url()).await.unwrap();
    connection.execute("BEGIN").await.unwrap();
    let query = sqlx::raw_sql(sqlx::AssertSqlSafe(query));
    connection.execute(query).await.unwrap();
    connection
}

#[tokio::test]
async fn a_sign_of_life_waits_neither_for_a_free_connection_nor_for_a_locked_run() {
    let Some(database) = TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    let store = database.open().await;
    let (agent, _) = new_agent(&store).await;
    let [locked, free] = &waiting(&store, agent, 2).await[..] else {
        panic!()
    };
    silence(&database, free).await;
    let lock = format!("SELECT 1 FROM runs WHERE id = '{}' FOR UPDATE", locked.id);
    let _run = locking(&database, lock).await;
    let lock = format!("SELECT 1 FROM agents WHERE id = '{agent}' FOR UPDATE");
    let _agent = locking(&database, lock).await;
    // More than there are connections, and all of them wait.
    let waiting: Vec<_> = (0..40)
        .map(|_| {
            let (store, run) = (store.clone(), run(agent));
            tokio::spawn(async move { store.take_turn(asking(&run, &[])).await.map(drop) })
        })
        .collect();
    let busy = "SELECT COUNT(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()";
    while raw::number(&database, busy).await < 16 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let both = [locked.id, free.id];
    let said = store.keep_runs_alive(&both, AT_ONCE);
    let said = tokio::time::timeout(AT_ONCE, said).await;
    said.expect("it waits").unwrap();
    for waiting in &waiting {
        waiting.abort();
    }
    join_all(waiting).await;
    let silent = format!(
        "SELECT COUNT(*) FROM runs WHERE id = '{}' AND alive_at > created_at - 60000000",
        free.id
    );
    assert_eq!(raw::number(&database, &silent).await, 1);
}

#[tokio::test]
async fn silence_is_measured_by_the_clock_of_the_database_whatever_that_of_a_server_says() {
    let Some(database) = TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    // A database whose clock is a day ahead of this process's.
    let ahead = "CREATE SCHEMA ahead;
        CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
            AS 'SELECT pg_catalog.clock_timestamp() + interval ''1 day''';
        DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, ahead, pg_catalog',
            current_database()); END $$;";
    database.script(ahead).await;
    let store = database.open().await;
    let (agent, _) = new_agent(&store).await;
    let [first, second] = &waiting(&store, agent, 2).await[..] else {
        panic!()
    };
    assert_eq!(take(&store, first).await, Turn::Taken);
    let alive_at = format!("SELECT alive_at FROM runs WHERE id = '{}'", first.id);
    let since = raw::number(&database, &alive_at).await - Timestamp::now().micros();
    assert!(since > 23 * 3_600_000_000, "{since}");
    assert_eq!(behind(take(&store, second).await), (first.id, Why::Works));
    silence(&database, first).await;
    assert_eq!(take(&store, second).await, Turn::Taken);
    let failed = store.fail_abandoned_runs(Some(AN_HOUR), |_: &Run| "gone".into());
    let failed = failed.await.unwrap();
    let failed: Vec<_> = failed.iter().map(|run| run.id).collect();
    assert_eq!(failed, [first.id]);
}
