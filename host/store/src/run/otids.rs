//! The clients' ids of the messages that began a run in the background. They are known from the
//! moment the run begins, its messages only from its first finished step on: by them a client that
//! sends a request again, or that knows no more than its own id, finds the run.

use std::collections::BTreeSet;

use bulkhead_domain::{
    Digest, Run, RunStatus,
    id::{AgentId, ConversationId},
};

use super::row;
use crate::{
    Result, Store, compiled_here,
    sql::{Durability, Statement, Transaction},
};

/// Ids of one request that are noted. Clients send one or two messages at once; a request with more
/// than this is not found by its ids.
pub const OTIDS_MAX: usize = 1_000;

/// An id that a new run has takes the place of the same id of an older one.
const NEWEST: &str = " ON CONFLICT (thread, otid) DO UPDATE SET run_id = excluded.run_id";

/// The ids of one request.
struct Otids {
    thread: String,
    /// Sorted, so that requests that come at once wait for each other in one order.
    each: BTreeSet<String>,
    /// What all of them together have as theirs.
    all: String,
}

impl Otids {
    /// None where there is none, or too many.
    fn of(
        agent: &AgentId,
        conversation: Option<&ConversationId>,
        otids: &[String],
    ) -> Option<Self> {
        let each = otids.iter().map(|otid| Digest::of(otid.as_bytes()).hex());
        let each: BTreeSet<_> = each.collect();
        if each.is_empty() || each.len() > OTIDS_MAX {
            return None;
        }
        let together: String = each.iter().map(String::as_str).collect();
        Some(Self {
            thread: conversation.map_or_else(|| agent.to_string(), ToString::to_string),
            all: format!("={}", Digest::of(together.as_bytes()).hex()),
            each,
        })
    }

    fn of_run(run: &Run, otids: &[String]) -> Option<Self> {
        Self::of(&run.agent_id, run.conversation_id.as_ref(), otids)
    }

    /// Leads ids to a run.
    fn insert<'a>(&self, run: &Run, ids: impl IntoIterator<Item = &'a String>) -> Statement {
        let mut insert = Statement::new("INSERT INTO run_otids (thread, otid, run_id) VALUES ");
        for (index, id) in ids.into_iter().enumerate() {
            let thread = self.thread.as_str().into();
            let row = [thread, id.as_str().into(), run.id.to_string().into()];
            insert.push_row(index == 0, row);
        }
        insert
    }

    /// The document of the run to which an id leads.
    fn run(&self, id: &str) -> Statement {
        let query = "SELECT runs.document FROM run_otids JOIN runs ON runs.id = run_otids.run_id
            WHERE run_otids.thread = $1 AND run_otids.otid = $2";
        Statement::new(query).bind(self.thread.as_str()).bind(id)
    }
}

fn messages(run: &Run) -> Statement {
    let query = "SELECT 1 FROM messages WHERE run_id = $1 LIMIT 1";
    Statement::new(query).bind(run.id.to_string())
}

impl Store {
    /// As [`Store::create_run`], and notes the clients' ids of its messages. Ids that lead to
    /// another run of the thread lead to this one from now on.
    ///
    /// # Errors
    ///
    /// As those of [`Store::create_run`].
    #[compiled_here]
    pub async fn create_run_with_otids(&self, run: &Run, otids: &[String]) -> Result<()> {
        let Some(otids) = Otids::of_run(run, otids) else {
            return self.create_run(run).await;
        };
        let stored = async {
            let mut transaction = self.database().begin(Durability::Process).await?;
            row::insert(&mut transaction, run).await?;
            // In the order of [`Self::once`], so that no two wait for each other.
            let ids = [&otids.all].into_iter().chain(&otids.each);
            let mut insert = otids.insert(run, ids);
            insert.push(NEWEST);
            transaction.defer(insert).await?;
            transaction.commit().await
        };
        match stored.await {
            Ok(()) => Ok(()),
            Err(error) => Err(row::refused(self, error, run).await),
        }
    }

    /// As [`Store::create_run_with_otids`], unless a request with exactly these ids has begun a run
    /// of the thread: then nothing is stored, and that run is given. Of equal requests that come
    /// at once, to several servers too, one begins a run. A run that failed before it stored
    /// anything does not count.
    ///
    /// # Errors
    ///
    /// As those of [`Store::create_run`].
    #[compiled_here]
    pub async fn create_run_once(&self, run: &Run, otids: &[String]) -> Result<Option<Run>> {
        let Some(otids) = Otids::of_run(run, otids) else {
            return self.create_run(run).await.map(|()| None);
        };
        match self.once(run, &otids).await {
            Ok(known) => Ok(known),
            Err(error) => Err(row::refused(self, error, run).await),
        }
    }

    async fn once(&self, run: &Run, otids: &Otids) -> Result<Option<Run>> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        row::insert(&mut transaction, run).await?;
        let mut insert = otids.insert(run, [&otids.all]);
        // Waits for the end of another transaction that inserts the same.
        insert.push(" ON CONFLICT (thread, otid) DO NOTHING");
        if transaction.execute(insert).await? == 0 {
            if let Some(known) = known(&mut transaction, otids).await? {
                return Ok(Some(known));
            }
            let mut update = otids.insert(run, [&otids.all]);
            update.push(NEWEST);
            transaction.defer(update).await?;
        }
        let mut insert = otids.insert(run, &otids.each);
        insert.push(NEWEST);
        transaction.defer(insert).await?;
        transaction.commit().await?;
        Ok(None)
    }

    /// The run of a thread that a request with exactly these ids has begun. One that failed before
    /// it stored anything does not count.
    #[compiled_here]
    pub async fn run_of_otids(
        &self,
        agent: &AgentId,
        conversation: Option<&ConversationId>,
        otids: &[String],
    ) -> Result<Option<Run>> {
        let Some(otids) = Otids::of(agent, conversation, otids) else {
            return Ok(None);
        };
        let run = self.database().optional(otids.run(&otids.all)).await?;
        let Some(run) = run.as_ref().map(row::record).transpose()? else {
            return Ok(None);
        };
        let counts = run.status != RunStatus::Failed
            || self.database().optional(messages(&run)).await?.is_some();
        Ok(counts.then_some(run))
    }

    /// The newest run of a thread that a message with this id began, alone or among others.
    #[compiled_here]
    pub async fn run_of_otid(
        &self,
        agent: &AgentId,
        conversation: Option<&ConversationId>,
        otid: &str,
    ) -> Result<Option<Run>> {
        let Some(otids) = Otids::of(agent, conversation, &[otid.to_owned()]) else {
            return Ok(None);
        };
        let Some(id) = otids.each.first() else {
            return Ok(None);
        };
        let run = self.database().optional(otids.run(id)).await?;
        run.as_ref().map(row::record).transpose()
    }
}

/// The run of an equal request, inside of a transaction that may take its place: nobody else does
/// meanwhile.
async fn known(transaction: &mut Transaction, otids: &Otids) -> Result<Option<Run>> {
    let query = "SELECT 1 FROM run_otids WHERE thread = $1 AND otid = $2";
    let query = Statement::new(query).bind(otids.thread.as_str());
    let mut query = query.bind(otids.all.as_str());
    query.push(transaction.for_update());
    transaction.all(query).await?;
    let run = transaction.optional(otids.run(&otids.all)).await?;
    let Some(run) = run.as_ref().map(row::record).transpose()? else {
        return Ok(None);
    };
    let counts =
        run.status != RunStatus::Failed || transaction.optional(messages(&run)).await?.is_some();
    Ok(counts.then_some(run))
}
