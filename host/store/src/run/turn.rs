//! Whose turn it is in a thread of messages on a database that several servers share.
//!
//! - A run that waits for its turn is `created`. The one that is `running` has it, and so has one that
//!   another server cancelled meanwhile, until its own has said how long it took. On each server a
//!   gate lets one of its runs work at a time; those of one server do not count for each other.
//! - A server says of its runs from time to time that it works on them
//!   ([`Store::keep_runs_alive`]). Of one that is killed nothing is heard any more. Silence is
//!   measured by the clock of the database, and told by whoever has waited for it.
//! - Who takes the turn of a run of which nothing was heard for too long puts that run out of its turn
//!   in the same transaction: it is `created` again, or has ended. So a server that was only slow
//!   sees in the run's own row that its turn is lost ([`Store::keep_turn`]), and no two servers can
//!   both find that they have it.
//! - Among runs that wait, those of the server with the oldest one go first.

use std::time::Duration;

use bulkhead_domain::{Run, RunStatus, StopReason, Timestamp, id::RunId};

use super::{RunUpdate, row};
use crate::{
    Result, Store,
    message::{ThreadFilter, lists},
    sql::{Durability, Row, Statement, Transaction, micros},
};

/// The condition of runs that another server than their own cancelled, and that their own has not
/// ended yet. The index of such runs spells it the same.
pub(super) const ENDING: &str = "status = 'cancelled' AND total_duration_ns IS NULL";

/// A run that asks for its turn.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// The run.
    pub run: &'a Run,
    /// The runs of its thread that its server works on, and those that wait there.
    pub own: &'a [RunId],
    /// After this long without a word a turn counts no more.
    pub silence: Duration,
    /// Whether it lets older ones that wait on other servers go first.
    pub yields: bool,
}

/// What came of asking for a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The run has it, and is running.
    Taken,
    /// Another run of the thread is before it.
    Behind(Ahead),
    /// There is nothing to do: the run, as it is here, has ended.
    Ended(Box<Run>),
}

/// A run that is before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// That one.
    pub run_id: RunId,
    /// Why it is.
    pub why: Why,
    /// When its server said last that it works on it.
    pub alive_at: Timestamp,
}

/// Why a run is before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It has its turn.
    Works,
    /// It has its turn and was cancelled.
    Ends,
    /// It waits too, and is older.
    Waits,
}

/// A run of the thread that goes on.
struct Open {
    run_id: RunId,
    status: RunStatus,
    /// Of two, the lower one was stored first.
    seq: i64,
    alive_at: Timestamp,
    lives: bool,
}

impl Store {
    /// Who is before a run, without asking for its turn; nobody also where it is not there or has
    /// ended. Changes nothing and waits for nobody.
    pub async fn ahead(&self, asking: Asking<'_>) -> Result<Option<Ahead>> {
        let query = open_runs(asking.run, self.database().clock());
        let open = opened(&self.database().all(query).await?, asking.silence)?;
        Ok(ahead(&open, asking))
    }

    /// Gives a run the turn in its thread, unless another one is before it. Runs that had it and of
    /// which nothing was heard for too long have lost it then.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NotFound`] where the run was deleted.
    pub async fn take_turn(&self, asking: Asking<'_>) -> Result<Turn> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        // The agent first, as the commit of a step does; of servers that ask at once one is first.
        let mut agent = Statement::new("SELECT 1 FROM agents WHERE id = ");
        agent.push_value(asking.run.agent_id.to_string());
        agent.push(transaction.for_update());
        let queries = vec![
            agent,
            row::run_to_change(&transaction, &asking.run.id),
            open_runs(asking.run, transaction.clock()),
        ];
        let answers = transaction.each(queries).await?;
        let [_, locked, open] = &answers[..] else {
            return Err(row::missing(&asking.run.id));
        };
        let mut run = row::run_of(&asking.run.id, locked)?;
        if run.status.is_final() {
            return Ok(Turn::Ended(Box::new(run)));
        }
        // Whoever wanted it would have taken this from it.
        if run.status == RunStatus::Running {
            return Ok(Turn::Taken);
        }
        let open = opened(open, asking.silence)?;
        if let Some(ahead) = ahead(&open, asking) {
            return Ok(Turn::Behind(ahead));
        }
        for silent in open.iter().filter(|other| other.is_rival(asking)) {
            if let Some(ahead) = put_out(&mut transaction, silent, asking.silence).await? {
                return Ok(Turn::Behind(ahead));
            }
        }
        run.status = RunStatus::Running;
        row::put_alive(&mut transaction, &run).await?;
        transaction.commit().await?;
        Ok(Turn::Taken)
    }

    /// Whether a run has its turn still; its server says by this that it works on it.
    pub async fn keep_turn(&self, id: &RunId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let mut update = Statement::new("UPDATE runs SET alive_at = ");
        update.push(transaction.clock()).push(" WHERE id = ");
        update.push_value(id.to_string());
        update.push(" AND (status = 'running' OR ").push(ENDING);
        update.push(")");
        let kept = transaction.execute(update).await? > 0;
        transaction.commit().await?;
        Ok(kept)
    }

    /// Cancels a run that goes on on another server, which looks for this now and then, or nowhere
    /// any more; one that has ended stays as it is. One that waited for its turn has ended by this;
    /// one that works has its turn until its own server has ended it. Gives the run as it is then.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NotFound`] where the run was deleted.
    pub async fn cancel_run(&self, id: &RunId) -> Result<Run> {
        let update = RunUpdate::ended(*id, StopReason::Cancelled);
        let cancel = |run: &mut Run| match run.status {
            RunStatus::Created => update.taking(run, Timestamp::now()).apply(run),
            _ => update.apply(run),
        };
        self.update_run(id, cancel).await
    }

    /// Those of these runs that another server cancelled, and that their own works on still: it said
    /// so within this time.
    pub async fn ending_runs(&self, ids: &[RunId], heard: Duration) -> Result<Vec<RunId>> {
        let mut ending = Vec::new();
        for list in lists(ids) {
            let mut query = Statement::new("SELECT id, ");
            query.push(self.database().clock());
            query.push(" - alive_at FROM runs WHERE id IN (").push_list(list);
            query.push(" AND ").push(ENDING);
            for row in &self.database().all(query).await? {
                if lives(row.int(1)?, heard) {
                    ending.push(row.parsed(0, "run id")?);
                }
            }
        }
        Ok(ending)
    }
}

impl Open {
    fn is_own(&self, asking: Asking<'_>) -> bool {
        self.run_id == asking.run.id || asking.own.contains(&self.run_id)
    }

    /// Whether it has its turn, or had it when something was heard of it last.
    fn is_rival(&self, asking: Asking<'_>) -> bool {
        self.status != RunStatus::Created && !self.is_own(asking)
    }

    fn ahead(&self) -> Ahead {
        Ahead {
            run_id: self.run_id,
            why: match self.status {
                RunStatus::Created => Why::Waits,
                RunStatus::Running => Why::Works,
                _ => Why::Ends,
            },
            alive_at: self.alive_at,
        }
    }
}

/// The runs of a thread that go on: one query for each of their indexes.
fn open_runs(run: &Run, clock: &'static str) -> Statement {
    let mut query = Statement::new("");
    for (before, condition) in [
        ("", "status IN ('created', 'running')"),
        (" UNION ALL ", ENDING),
    ] {
        query.push(before).push("SELECT id, status, seq, alive_at, ");
        query.push(clock).push(" - alive_at FROM runs WHERE ");
        query.push(condition).push(" AND agent_id = ");
        query.push_value(run.agent_id.to_string());
        ThreadFilter::of(run.conversation_id).push_condition(&mut query);
    }
    query
}

fn opened(rows: &[Row], silence: Duration) -> Result<Vec<Open>> {
    let open = rows.iter().map(|row| {
        Ok(Open {
            run_id: row.parsed(0, "run id")?,
            status: match &*row.text(1)? {
                "created" => RunStatus::Created,
                "running" => RunStatus::Running,
                _ => RunStatus::Cancelled,
            },
            seq: row.int(2)?,
            alive_at: row.timestamp(3)?,
            lives: lives(row.int(4)?, silence),
        })
    });
    open.collect()
}

/// Whether something was heard so many microseconds ago. What was heard in the future was heard before
/// somebody set the clock back.
fn lives(ago: i64, silence: Duration) -> bool {
    ago.saturating_abs() < micros(silence)
}

fn ahead(open: &[Open], asking: Asking<'_>) -> Option<Ahead> {
    let own = || open.iter().filter(|run| run.is_own(asking));
    if own().any(|run| run.run_id == asking.run.id && run.status == RunStatus::Running) {
        return None;
    }
    let mut others = open.iter().filter(|run| run.lives && run.is_rival(asking));
    if let Some(other) = others.next() {
        return Some(other.ahead());
    }
    if !asking.yields {
        return None;
    }
    // The oldest of its server: runs pass the gate there in another order than they were stored, and
    // two that compared themselves might wait for each other.
    let waits = |run: &&Open| run.status == RunStatus::Created;
    let oldest = own().filter(waits).map(|run| run.seq).min()?;
    let older = open
        .iter()
        .filter(waits)
        .filter(|run| run.lives && run.seq < oldest && !run.is_own(asking));
    older.min_by_key(|run| run.seq).map(Open::ahead)
}

/// Takes its turn from a run of which nothing was heard for too long. Gives it where something was
/// heard of it at this very moment.
async fn put_out(
    transaction: &mut Transaction,
    silent: &Open,
    silence: Duration,
) -> Result<Option<Ahead>> {
    let mut query = Statement::new("SELECT document, ");
    query.push(transaction.clock());
    query.push(" - alive_at FROM runs WHERE id = ");
    query.push_value(silent.run_id.to_string());
    query.push(transaction.for_update());
    let Some(row) = transaction.optional(query).await? else {
        return Ok(None);
    };
    if lives(row.int(1)?, silence) {
        return Ok(Some(silent.ahead()));
    }
    let mut run = row::record(&row)?;
    match run.status {
        // Its server may live, and learns of it; else the run fails when it is found abandoned.
        RunStatus::Running => run.status = RunStatus::Created,
        RunStatus::Cancelled => {
            let update = RunUpdate::ended(run.id, StopReason::Cancelled);
            update.taking(&run, Timestamp::now()).apply(&mut run);
        }
        _ => return Ok(None),
    }
    row::put(transaction, &run).await?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bulkhead_domain::id::AgentId;
    use serde_json::json;

    /// Runs of a thread, the older ones first.
    fn open(statuses: &[RunStatus]) -> Vec<Open> {
        let open = (0..).zip(statuses).map(|(seq, status)| Open {
            run_id: RunId::random(),
            status: *status,
            seq,
            alive_at: Timestamp::now(),
            lives: true,
        });
        open.collect()
    }

    /// Who is before the run of this number, of a server that has these.
    fn before(open: &[Open], number: usize, own: &[usize], yields: bool) -> Option<usize> {
        let run = json!({ "id": open[number].run_id, "agent_id": AgentId::random(),
            "status": "created", "background": false, "created_at": Timestamp::now() });
        let own: Vec<_> = own.iter().map(|number| open[*number].run_id).collect();
        let asking = Asking {
            run: &serde_json::from_value(run).unwrap(),
            own: &own,
            silence: Duration::from_secs(1),
            yields,
        };
        let ahead = ahead(open, asking)?;
        open.iter().position(|run| run.run_id == ahead.run_id)
    }

    #[test]
    fn whatever_order_the_gates_have_somebody_goes() {
        let waiting = open(&[RunStatus::Created; 4]);
        let servers = [[0, 3], [1, 2]];
        // At the gate of the first is its younger run, before its older one.
        assert_eq!(before(&waiting, 3, &servers[0], true), None);
        for number in servers[1] {
            assert_eq!(before(&waiting, number, &servers[1], true), Some(0));
            assert_eq!(before(&waiting, number, &servers[1], false), None);
        }
    }

    #[test]
    fn a_run_waits_for_the_one_that_works_and_not_for_one_of_its_own_server() {
        for status in [RunStatus::Running, RunStatus::Cancelled] {
            let mut thread = open(&[RunStatus::Created, status]);
            assert_eq!(before(&thread, 0, &[0], true), Some(1));
            assert_eq!(before(&thread, 0, &[0, 1], true), None);
            thread[1].lives = false;
            assert_eq!(before(&thread, 0, &[0], true), None);
        }
        let both = open(&[RunStatus::Running; 2]);
        for number in [0, 1] {
            assert_eq!(before(&both, number, &[number], true), None, "it has its turn");
        }
    }

    #[test]
    fn what_was_heard_in_the_future_is_as_far_away_as_what_was_heard_in_the_past() {
        let silence = Duration::from_micros(10);
        for (ago, expected) in [(0, true), (9, true), (10, false), (-9, true), (-10, false)] {
            assert_eq!(lives(ago, silence), expected, "{ago}");
        }
        assert!(!lives(i64::MIN, silence));
    }
}
