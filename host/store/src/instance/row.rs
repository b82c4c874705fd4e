//! An instance as a row, joined with its agent.

use bulkhead_domain::{
    Timestamp,
    id::AgentId,
    platform::{Instance, InstanceFacts, Standing},
};

use super::{INSTANCES_MAX, InstanceRecord};
use crate::{
    Result, StoreError,
    agent_type::expect_active,
    project::lock_project,
    sql::{Row, Statement, Transaction},
};

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str = "i.agent_id, i.project_id, i.agent_type_id, a.name, i.created_by,
    a.standing, i.created_at, i.updated_at, i.terminated_at, a.last_stop_reason,
    CAST(CASE WHEN EXISTS (SELECT 1 FROM runs WHERE runs.agent_id = i.agent_id
        AND status IN ('created', 'running')) THEN 1 ELSE 0 END AS BIGINT)";

/// The tables of [`COLUMNS`].
pub(super) const FROM: &str = "instances i JOIN agents a ON a.id = i.agent_id";

/// A deleted project answers like none.
pub(super) const IN_LIVING_PROJECT: &str =
    " AND i.project_id IN (SELECT id FROM projects WHERE deleted_at IS NULL)";

/// Refuses an instance for which there is no place, and keeps that place to the end of the
/// transaction. [`StoreError::NotFound`] where the project or the type is not there,
/// [`StoreError::Invalid`] where the type is not active, [`StoreError::Quota`] where the project has
/// [`INSTANCES_MAX`].
pub(crate) async fn expect_room(transaction: &mut Transaction, instance: &Instance) -> Result<()> {
    let count = "SELECT COUNT(*) FROM instances WHERE project_id = $1 AND terminated_at IS NULL";
    let count = Statement::new(count).bind(instance.project_id.to_string());
    lock_project(transaction, instance.project_id).await?;
    expect_active(transaction, instance.agent_type_id).await?;
    let count = transaction.optional(count).await?;
    if count.map_or(Ok(0), |row| row.unsigned(0))? >= INSTANCES_MAX {
        return Err(StoreError::Quota {
            what: "the number of living instances of one project",
            limit: INSTANCES_MAX,
        });
    }
    Ok(())
}

/// Makes an agent, which is new, an instance.
pub(crate) async fn insert(transaction: &mut Transaction, instance: &Instance) -> Result<()> {
    let insert = "INSERT INTO instances
            (agent_id, project_id, agent_type_id, created_by, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6)";
    let insert = Statement::new(insert)
        .bind(instance.agent_id.to_string())
        .bind(instance.project_id.to_string())
        .bind(instance.agent_type_id.to_string())
        .bind(instance.created_by.to_string())
        .bind(instance.created_at)
        .bind(instance.updated_at);
    transaction.defer(insert).await
}

/// Notes that an instance was changed now, where the agent is one.
pub(crate) async fn note(
    transaction: &mut Transaction,
    agent: AgentId,
    now: Timestamp,
) -> Result<()> {
    let note = "UPDATE instances SET updated_at = $2 WHERE agent_id = $1";
    let note = Statement::new(note).bind(agent.to_string()).bind(now);
    transaction.defer(note).await
}

/// A query for the instance that this agent is.
pub(super) fn by_agent(agent: AgentId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM ").push(FROM);
    query.push(" WHERE i.agent_id = ");
    query.push_value(agent.to_string());
    query
}

pub(super) fn record(row: &Row) -> Result<InstanceRecord> {
    let standing: Standing = row.parsed(5, "standing of an agent")?;
    Ok(InstanceRecord {
        instance: Instance {
            agent_id: row.parsed(0, "agent of an instance")?,
            project_id: row.parsed(1, "project of an instance")?,
            agent_type_id: row.parsed(2, "type of an instance")?,
            name: row.text(3)?,
            created_by: row.parsed(4, "creator of an instance")?,
            standing,
            created_at: row.timestamp(6)?,
            updated_at: row.timestamp(7)?,
            terminated_at: row.optional_int(8)?.map(Timestamp::from_micros),
        },
        facts: InstanceFacts {
            standing,
            last_stop_reason: row.optional_parsed(9, "stop reason of an agent")?,
            has_active_run: row.int(10)? != 0,
        },
    })
}
