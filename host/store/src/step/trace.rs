//! What providers were sent and answered: for whoever looks why an agent did what it did.

use bulkhead_domain::{Trace, id::StepId};
use serde_json::Value;

use super::row::bounded;
use crate::{
    Result, Store, check, compiled_here,
    sql::{Durability, Row, Statement, Transaction},
};

/// Bytes of a request, and of an answer. Of a larger one there is a note of its size: the
/// messages themselves are stored anyway.
pub const TRACE_BYTES_MAX: usize = 512 << 10;
/// Traces of one agent, the newest; some [`PRUNED_EVERY`] more may stand for a while. Together
/// some 200 MiB at most.
pub const TRACES_MAX: i64 = 200;
/// Old traces are looked for once in so many times: each look costs as much as a trace.
const PRUNED_EVERY: u128 = 16;

impl Store {
    /// What the provider was sent and answered in a step: of the last call that made it, not of
    /// one that summarised. None where it is too old.
    #[compiled_here]
    pub async fn trace_of_step(&self, id: &StepId) -> Result<Option<Trace>> {
        let query = "SELECT id, step_id, agent_id, run_id, call_type, request, response, created_at
            FROM traces WHERE step_id = $1
            ORDER BY CASE WHEN call_type = 'summarization' THEN 1 ELSE 0 END, seq DESC LIMIT 1";
        let query = Statement::new(query).bind(id.to_string());
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }
}

impl Store {
    /// Adds a trace to a step that is stored.
    #[compiled_here]
    pub async fn add_trace(&self, trace: &Trace) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        put_trace(&mut transaction, trace).await?;
        transaction.commit().await
    }

    /// All traces of a step that are not too old, the oldest first.
    #[compiled_here]
    pub async fn traces_of_step(&self, id: &StepId) -> Result<Vec<Trace>> {
        let query = "SELECT id, step_id, agent_id, run_id, call_type, request, response, created_at
            FROM traces WHERE step_id = $1 ORDER BY seq";
        let query = Statement::new(query).bind(id.to_string());
        let rows = self.database().all(query).await?;
        rows.iter().map(record).collect()
    }
}

/// Writes a trace, and now and then deletes the agent's oldest ones.
pub(super) async fn put_trace(transaction: &mut Transaction, trace: &Trace) -> Result<()> {
    check::name("the kind of a traced call", &trace.call_type)?;
    let insert = "INSERT INTO traces
            (id, step_id, agent_id, run_id, call_type, request, response, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let insert = Statement::new(insert)
        .bind(trace.id.to_string())
        .bind(trace.step_id.to_string())
        .bind(trace.agent_id.to_string())
        .bind(trace.run_id.map(|id| id.to_string()))
        .bind(trace.call_type.as_str())
        .bind(document(&trace.request_json))
        .bind(document(&trace.response_json))
        .bind(trace.created_at);
    transaction.defer(insert).await?;
    // Ids are random, so that this needs no counter and holds over restarts.
    if !trace.id.uuid().as_u128().is_multiple_of(PRUNED_EVERY) {
        return Ok(());
    }
    let prune = "DELETE FROM traces WHERE agent_id = $1 AND seq <= (
        SELECT seq FROM traces WHERE agent_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)";
    let prune = Statement::new(prune)
        .bind(trace.agent_id.to_string())
        .bind(TRACES_MAX);
    transaction.defer(prune).await
}

fn document(value: &Value) -> String {
    bounded(value, TRACE_BYTES_MAX).unwrap_or_else(|note| note.to_string())
}

fn record(row: &Row) -> Result<Trace> {
    Ok(Trace {
        id: row.parsed(0, "trace id")?,
        step_id: row.parsed(1, "step of a trace")?,
        agent_id: row.parsed(2, "agent of a trace")?,
        run_id: row.optional_parsed(3, "run of a trace")?,
        call_type: row.text(4)?,
        request_json: row.json(5, "request of a trace")?,
        response_json: row.json(6, "answer of a trace")?,
        created_at: row.timestamp(7)?,
    })
}
