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

use super::{
    RunUpdate,
    queue::{self, Ahead, Asking, ENDING, Open},
    row,
};
use crate::{
    Result, Store, compiled_here,
    message::lists,
    sql::{Durability, Statement, Transaction},
};

/// What came of asking for a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// The run has it, and is running.
    Taken,
    /// Another run of the thread is before it.
    Behind(Ahead),
    /// There is nothing to do: the run, as it is here, has ended.
    Ended(Box<Run>),
}

impl Store {
    /// Who is before a run, without asking for its turn; nobody also where it is not there or has
    /// ended. Changes nothing and waits for nobody.
    pub async fn ahead(&self, asking: Asking<'_>) -> Result<Option<Ahead>> {
        let query = queue::open_runs(asking.run, self.database().clock());
        let open = queue::opened(&self.database().all(query).await?, asking.silence)?;
        Ok(queue::ahead(&open, asking))
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
            queue::open_runs(asking.run, transaction.clock()),
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
        let open = queue::opened(open, asking.silence)?;
        if let Some(ahead) = queue::ahead(&open, asking) {
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
    #[compiled_here]
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
    #[compiled_here]
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
    #[compiled_here]
    pub async fn ending_runs(&self, ids: &[RunId], heard: Duration) -> Result<Vec<RunId>> {
        let mut ending = Vec::new();
        for list in lists(ids) {
            let mut query = Statement::new("SELECT id, ");
            query.push(self.database().clock());
            query
                .push(" - alive_at FROM runs WHERE id IN (")
                .push_list(list);
            query.push(" AND ").push(ENDING);
            for row in &self.database().all(query).await? {
                if queue::lives(row.int(1)?, heard) {
                    ending.push(row.parsed(0, "run id")?);
                }
            }
        }
        Ok(ending)
    }
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
    if queue::lives(row.int(1)?, silence) {
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
