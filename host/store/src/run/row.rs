//! A run as a row.

use bulkhead_domain::{
    Run,
    id::{AgentId, RunId},
    platform::Standing,
};

use crate::{
    Result, Store, StoreError, check,
    sql::{Row, Statement, Transaction},
};

/// Bytes of a run's metadata.
const METADATA_MAX: usize = 4 << 20;
/// Bytes of what a run keeps of its request's options.
const REQUEST_CONFIG_MAX: usize = 64 << 10;
/// Bytes of an address to report to.
const URL_MAX: usize = 8192;

/// What both of [`put`] and [`put_alive`] begin with.
const PUT: &str =
    "INSERT INTO runs (id, agent_id, conversation_id, status, stop_reason, background,
        total_duration_ns, created_at, size, document, alive_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ";

/// The column of [`record`].
pub(super) const COLUMNS: &str = "document";

/// Writes a run that is not there yet. Where its agent is not there or takes no messages, the row
/// would have no agent, and the database refuses it: [`refused`] says why. So the question costs no
/// statement of its own, and nobody has to wait for an answer.
pub(super) async fn insert(transaction: &mut Transaction, run: &Run) -> Result<()> {
    let insert = "INSERT INTO runs (id, agent_id, conversation_id, status, stop_reason, background,
            total_duration_ns, created_at, size, document, alive_at)
        VALUES ($1, (SELECT id FROM agents WHERE id = $2 AND standing = 'active'), $3, $4, $5, $6,
            $7, $8, $9, $10, ";
    write(transaction, insert, run, ")").await
}

/// Writes a run that is not there yet, if its agent takes messages; whether it does.
pub(crate) async fn insert_if_active(transaction: &mut Transaction, run: &Run) -> Result<bool> {
    let insert = "INSERT INTO runs (id, agent_id, conversation_id, status, stop_reason, background,
            total_duration_ns, created_at, size, document, alive_at)
        SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $10, ";
    let end = " FROM agents WHERE id = $2 AND standing = 'active'";
    let statement = statement(insert, run, transaction.clock(), end)?;
    Ok(transaction.execute(statement).await? > 0)
}

/// Writes a run, in place of the one with its id. When its server last said that it works on it stays
/// what it was: anybody may write a run.
pub(super) async fn put(transaction: &mut Transaction, run: &Run) -> Result<()> {
    let end = ") ON CONFLICT (id) DO UPDATE SET
            conversation_id = excluded.conversation_id, status = excluded.status,
            stop_reason = excluded.stop_reason, background = excluded.background,
            total_duration_ns = excluded.total_duration_ns, size = excluded.size,
            document = excluded.document";
    write(transaction, PUT, run, end).await
}

/// As [`put`], by its own server, which works on it.
pub(super) async fn put_alive(transaction: &mut Transaction, run: &Run) -> Result<()> {
    let end = ") ON CONFLICT (id) DO UPDATE SET
            conversation_id = excluded.conversation_id, status = excluded.status,
            stop_reason = excluded.stop_reason, background = excluded.background,
            total_duration_ns = excluded.total_duration_ns, size = excluded.size,
            document = excluded.document, alive_at = excluded.alive_at";
    write(transaction, PUT, run, end).await
}

/// Writes a run: `begin` ends where the present moment stands.
async fn write(
    transaction: &mut Transaction,
    begin: &'static str,
    run: &Run,
    end: &'static str,
) -> Result<()> {
    let statement = statement(begin, run, transaction.clock(), end)?;
    transaction.defer(statement).await
}

/// The statement that writes a run: `begin` ends where `clock` stands.
fn statement(
    begin: &'static str,
    run: &Run,
    clock: &'static str,
    end: &'static str,
) -> Result<Statement> {
    let document = document(run)?;
    let mut statement = Statement::new(begin)
        .bind(run.id.to_string())
        .bind(run.agent_id.to_string())
        .bind(run.conversation_id.map(|id| id.to_string()))
        .bind(run.status.as_str())
        .bind(run.stop_reason.map(|reason| reason.as_str()))
        .bind(run.background)
        .bind(run.total_duration_ns)
        .bind(run.created_at)
        .bind(i64::try_from(document.len()).unwrap_or(i64::MAX))
        .bind(document);
    statement.push(clock).push(end);
    Ok(statement)
}

/// What it means that a new run was not taken: nothing but its agent is referred to.
pub(super) async fn refused(store: &Store, error: StoreError, run: &Run) -> StoreError {
    use sqlx::error::ErrorKind::{ForeignKeyViolation, NotNullViolation};
    let StoreError::Database(sqlx::Error::Database(refusal)) = &error else {
        return error;
    };
    if !matches!(refusal.kind(), ForeignKeyViolation | NotNullViolation) {
        return error;
    }
    match standing(store, &run.agent_id).await {
        Ok(None) => StoreError::NotFound {
            what: "agent",
            id: run.agent_id.to_string(),
        },
        // Somebody resumed it a moment later than the run asked for it.
        Ok(Some(Standing::Active | Standing::Paused)) => StoreError::AgentPaused {
            agent: run.agent_id.to_string(),
        },
        Ok(Some(Standing::Terminated)) => StoreError::AgentTerminated {
            agent: run.agent_id.to_string(),
        },
        Err(error) => error,
    }
}

async fn standing(store: &Store, agent: &AgentId) -> Result<Option<Standing>> {
    let query = Statement::new("SELECT standing FROM agents WHERE id = $1");
    let row = store
        .database()
        .optional(query.bind(agent.to_string()))
        .await?;
    row.map(|row| row.parsed(0, "standing of an agent"))
        .transpose()
}

fn document(run: &Run) -> Result<String> {
    // The document needs room for what is added when the run ends.
    for (what, value, max, reason) in [
        (
            "the run's metadata",
            &run.metadata,
            METADATA_MAX,
            "is larger than 4 MiB",
        ),
        (
            "the run's request configuration",
            &run.request_config,
            REQUEST_CONFIG_MAX,
            "is larger than 64 KiB",
        ),
    ] {
        if let Some(value) = value {
            check::json(what, value, max, reason)?;
        }
    }
    let url = run.callback_url.as_deref().unwrap_or_default();
    check::text("the run's callback URL", url, URL_MAX)?;
    check::document("the run", run)
}

/// The run with this id, locked until the end of the transaction.
pub(super) async fn lock(transaction: &mut Transaction, id: &RunId) -> Result<Run> {
    let rows = transaction.all(run_to_change(transaction, id)).await?;
    run_of(id, &rows)
}

/// The query that locks a run, for [`run_of`].
pub(crate) fn run_to_change(transaction: &Transaction, id: &RunId) -> Statement {
    let mut query = Statement::new("SELECT document FROM runs WHERE id = ");
    query.push_value(id.to_string());
    query.push(transaction.for_update());
    query
}

/// The run that was locked.
pub(crate) fn run_of(id: &RunId, rows: &[Row]) -> Result<Run> {
    record(rows.first().ok_or_else(|| missing(id))?)
}

pub(super) fn missing(id: &RunId) -> StoreError {
    StoreError::NotFound {
        what: "run",
        id: id.to_string(),
    }
}

pub(super) fn record(row: &Row) -> Result<Run> {
    row.json(0, "run")
}
