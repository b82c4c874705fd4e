//! A type of agents as a row.

use bulkhead_domain::platform::{AgentType, AgentTypeId, slug};

use super::limits;
use crate::{
    Result, StoreError,
    agent::missing,
    check,
    fold::folded,
    sql::{Row, Statement, Transaction},
};

/// The column of [`record`].
pub(super) const COLUMNS: &str = "document";

/// All of a type, each part within its limits.
fn document(agent_type: &AgentType) -> Result<String> {
    check::name("the agent type's name", &agent_type.name)?;
    slug::check(&agent_type.slug).map_err(|_| StoreError::Invalid {
        what: "the agent type's slug",
        reason: "is none",
    })?;
    check::name("the agent type's model", &agent_type.primary_model)?;
    for (what, list, max) in [
        (
            "the agent type's expertise",
            &agent_type.expertise,
            limits::EXPERTISE_MAX,
        ),
        (
            "the agent type's fallback models",
            &agent_type.fallback_models,
            limits::FALLBACK_MODELS_MAX,
        ),
        (
            "the agent type's MCP servers",
            &agent_type.mcp_servers,
            limits::MCP_SERVERS_MAX,
        ),
    ] {
        if list.len() > max {
            let limit = max as u64;
            return Err(StoreError::Quota { what, limit });
        }
        list.iter().try_for_each(|text| check::name(what, text))?;
    }
    let what = "the agent type";
    let document = serde_json::to_value(agent_type).map_err(|_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    })?;
    let reason = "is larger than 1 MiB";
    check::json(what, &document, limits::AGENT_TYPE_BYTES_MAX, reason)
}

/// Writes a type that is not there yet.
pub(super) async fn insert(transaction: &mut Transaction, agent_type: &AgentType) -> Result<()> {
    let insert = "INSERT INTO agent_types (id, slug, name_folded, is_active, document)
        VALUES ($1, $2, $3, $4, $5)";
    write(transaction, insert, agent_type).await
}

/// Writes a type in place of the one with its id, whose row is locked.
pub(super) async fn replace(transaction: &mut Transaction, agent_type: &AgentType) -> Result<()> {
    let replace = "UPDATE agent_types SET slug = $2, name_folded = $3, is_active = $4,
        document = $5 WHERE id = $1";
    write(transaction, replace, agent_type).await
}

async fn write(
    transaction: &mut Transaction,
    statement: &'static str,
    agent_type: &AgentType,
) -> Result<()> {
    let document = document(agent_type)?;
    let statement = Statement::new(statement)
        .bind(agent_type.id.to_string())
        .bind(agent_type.slug.as_str())
        .bind(folded(&agent_type.name))
        .bind(agent_type.is_active)
        .bind(document);
    let written = transaction.execute(statement).await.map(drop);
    written.map_err(|error| error.or_taken("agent type", &agent_type.slug))
}

/// Refuses to make an instance from a type that is not there or not active. Nobody waits for it:
/// where the type is made inactive at the same moment, the instance came first.
pub(crate) async fn expect_active(transaction: &mut Transaction, id: AgentTypeId) -> Result<()> {
    let query = "SELECT is_active FROM agent_types WHERE id = $1";
    let mut query = Statement::new(query).bind(id.to_string());
    query.push(transaction.for_reference());
    let row = transaction.optional(query).await?;
    let row = row.ok_or_else(|| missing("agent type", id))?;
    if row.int(0)? != 0 {
        return Ok(());
    }
    Err(StoreError::Invalid {
        what: "the agent type",
        reason: "is not active",
    })
}

pub(super) fn by_id(id: AgentTypeId) -> Statement {
    Statement::new("SELECT document FROM agent_types WHERE id = $1").bind(id.to_string())
}

pub(super) fn record(row: &Row) -> Result<AgentType> {
    row.json(0, "agent type")
}
