//! Who is before whom among the runs of a thread, of what is read of them: see [`super::turn`].

use std::time::Duration;

use bulkhead_domain::{Run, RunStatus, Timestamp, id::RunId};

use crate::{
    Result,
    message::ThreadFilter,
    sql::{Row, Statement, micros},
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
pub(super) struct Open {
    pub(super) run_id: RunId,
    status: RunStatus,
    /// Of two, the lower one was stored first.
    seq: i64,
    alive_at: Timestamp,
    lives: bool,
}

impl Open {
    fn is_own(&self, asking: Asking<'_>) -> bool {
        self.run_id == asking.run.id || asking.own.contains(&self.run_id)
    }

    /// Whether it has its turn, or had it when something was heard of it last.
    pub(super) fn is_rival(&self, asking: Asking<'_>) -> bool {
        self.status != RunStatus::Created && !self.is_own(asking)
    }

    pub(super) fn ahead(&self) -> Ahead {
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
pub(super) fn open_runs(run: &Run, clock: &'static str) -> Statement {
    let mut query = Statement::new("");
    for (before, condition) in [
        ("", "status IN ('created', 'running')"),
        (" UNION ALL ", ENDING),
    ] {
        query
            .push(before)
            .push("SELECT id, status, seq, alive_at, ");
        query.push(clock).push(" - alive_at FROM runs WHERE ");
        query.push(condition).push(" AND agent_id = ");
        query.push_value(run.agent_id.to_string());
        ThreadFilter::of(run.conversation_id).push_condition(&mut query);
    }
    query
}

/// What [`open_runs`] gave.
pub(super) fn opened(rows: &[Row], silence: Duration) -> Result<Vec<Open>> {
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
pub(super) fn lives(ago: i64, silence: Duration) -> bool {
    ago.saturating_abs() < micros(silence)
}

/// The run that is before one that asks. That one itself is before nobody when it has its turn.
pub(super) fn ahead(open: &[Open], asking: Asking<'_>) -> Option<Ahead> {
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
            assert_eq!(
                before(&both, number, &[number], true),
                None,
                "it has its turn"
            );
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
