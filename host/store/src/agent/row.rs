//! An agent as a row.

use bulkhead_domain::{Agent, id::AgentId};

use super::{limits, missing};
use crate::{
    Result, StoreError, check,
    fold::folded,
    sql::{Row, Statement, Transaction},
};

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str =
    "document, message_ids, last_stop_reason, last_run_completion, updated_at, standing";

/// The parts of an agent that are columns, and its document, each within its limits.
struct Parts {
    document: String,
    message_ids: String,
    size: i64,
}

/// Whether an agent can be stored, but for what hangs on it: [`StoreError::Quota`] or
/// [`StoreError::Invalid`] where a part of it is larger than [`limits`] and [`check::NAME_MAX`] allow,
/// or can't be read back. For whoever wants to refuse it before anything else is written.
pub fn expect_storable(agent: &Agent) -> Result<()> {
    parts(agent).map(drop)
}

fn parts(agent: &Agent) -> Result<Parts> {
    check::name("the agent's name", &agent.name)?;
    for (what, value) in [
        ("the agent's project", &agent.project_id),
        ("the agent's template", &agent.template_id),
        ("the agent's base template", &agent.base_template_id),
        ("the agent's creator", &agent.created_by_id),
    ] {
        check::text(what, value.as_deref().unwrap_or_default(), check::NAME_MAX)?;
    }
    if agent.message_ids.len() > limits::MESSAGE_IDS_MAX {
        return Err(StoreError::Quota {
            what: "messages in the agent's context",
            limit: limits::MESSAGE_IDS_MAX as u64,
        });
    }
    let what = "the agent";
    let unreadable = |_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    };
    let mut document = serde_json::to_value(agent).map_err(unreadable)?;
    if let Some(fields) = document.as_object_mut() {
        fields.remove("message_ids");
    }
    let reason = "is larger than 1 MiB";
    let document = check::json(what, &document, limits::AGENT_BYTES_MAX, reason)?;
    Ok(Parts {
        message_ids: check::document("the agent's message ids", &agent.message_ids)?,
        size: i64::try_from(document.len()).unwrap_or(i64::MAX),
        document,
    })
}

/// Writes an agent that is not there yet. It is active, whatever it says.
pub(super) async fn insert(transaction: &mut Transaction, agent: &Agent) -> Result<()> {
    let parts = parts(agent)?;
    let insert = "INSERT INTO agents (id, name, name_folded, hidden, project_id, template_id,
            base_template_id, created_by_id, last_stop_reason, last_run_completion, created_at,
            updated_at, size, message_ids, document)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
        ON CONFLICT (id) DO NOTHING";
    let insert = Statement::new(insert)
        .bind(agent.id.to_string())
        .bind(agent.name.as_str())
        .bind(folded(&agent.name))
        .bind(agent.hidden)
        .bind(agent.project_id.as_deref())
        .bind(agent.template_id.as_deref())
        .bind(agent.base_template_id.as_deref())
        .bind(agent.created_by_id.as_deref())
        .bind(agent.last_stop_reason.map(|reason| reason.as_str()))
        .bind(agent.last_run_completion)
        .bind(agent.created_at)
        .bind(agent.updated_at)
        .bind(parts.size)
        .bind(parts.message_ids)
        .bind(parts.document);
    if transaction.execute(insert).await? == 0 {
        return Err(StoreError::NameTaken {
            what: "agent",
            name: agent.id.to_string(),
        });
    }
    Ok(())
}

/// Writes an agent in place of `former`, whose row is locked. The ids of its messages can be
/// long, so they are written only where they changed.
pub(super) async fn replace(
    transaction: &mut Transaction,
    former: &Agent,
    agent: &Agent,
) -> Result<()> {
    let parts = parts(agent)?;
    let replace = "UPDATE agents SET name = $2, name_folded = $3, hidden = $4, project_id = $5,
        template_id = $6, base_template_id = $7, created_by_id = $8, last_stop_reason = $9,
        last_run_completion = $10, updated_at = $11, size = $12, document = $13";
    let mut replace = Statement::new(replace)
        .bind(agent.id.to_string())
        .bind(agent.name.as_str())
        .bind(folded(&agent.name))
        .bind(agent.hidden)
        .bind(agent.project_id.as_deref())
        .bind(agent.template_id.as_deref())
        .bind(agent.base_template_id.as_deref())
        .bind(agent.created_by_id.as_deref())
        .bind(agent.last_stop_reason.map(|reason| reason.as_str()))
        .bind(agent.last_run_completion)
        .bind(agent.updated_at)
        .bind(parts.size)
        .bind(parts.document);
    if agent.message_ids != former.message_ids {
        let message_ids = parts.message_ids;
        replace.push(", message_ids = ").push_value(message_ids);
    }
    replace.push(" WHERE id = $1");
    transaction.defer(replace).await
}

/// A query for the agent with this id.
pub(super) fn by_id(id: &AgentId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM agents WHERE id = ");
    query.push_value(id.to_string());
    query
}

/// From here to the end of the transaction nobody else changes or deletes this agent.
/// [`StoreError::NotFound`] where it is not there.
pub(crate) async fn lock(transaction: &mut Transaction, id: &AgentId) -> Result<()> {
    let mut query = Statement::new("SELECT id FROM agents WHERE id = $1").bind(id.to_string());
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    row.map(drop).ok_or_else(|| missing("agent", id))
}

/// The same, and the agent.
pub(crate) async fn lock_record(transaction: &mut Transaction, id: &AgentId) -> Result<Agent> {
    let mut query = by_id(id);
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    record(&row.ok_or_else(|| missing("agent", id))?)
}

pub(super) fn record(row: &Row) -> Result<Agent> {
    let what = "agent";
    let mut agent: Agent = row.json(0, what)?;
    agent.message_ids = row.json(1, what)?;
    agent.last_stop_reason = row.optional_parsed(2, "stop reason of an agent")?;
    agent.last_run_completion = row
        .optional_int(3)?
        .map(bulkhead_domain::Timestamp::from_micros);
    agent.updated_at = row.timestamp(4)?;
    agent.standing = row.parsed(5, "standing of an agent")?;
    Ok(agent)
}
