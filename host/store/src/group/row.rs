//! A group as a row, and what belongs to it.

use std::{collections::HashMap, str::FromStr};

use bulkhead_domain::{
    Group,
    id::{AgentId, GroupId},
};

use super::{GROUP_BYTES_MAX, GroupRelations, MEMBERS_MAX};
use crate::{
    Result, Store, StoreError,
    agent::{expect_known, missing, texts},
    check,
    sql::{Argument, Row, Statement, Transaction},
};

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str = "document, turns_counter, last_processed_message_id";

/// The columns of a group and its document, each within its limits.
pub(super) fn columns(group: &Group) -> Result<[Argument; 12]> {
    for (what, value) in [
        ("the group's project", &group.project_id),
        ("the group's creator", &group.created_by_id),
    ] {
        check::text(what, value.as_deref().unwrap_or_default(), check::NAME_MAX)?;
    }
    let what = "the group";
    let bare = Group {
        agent_ids: Vec::new(),
        shared_block_ids: Vec::new(),
        turns_counter: None,
        last_processed_message_id: None,
        ..group.clone()
    };
    let document = serde_json::to_value(bare).map_err(|_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    })?;
    let reason = "is larger than 256 KiB";
    let document = check::json(what, &document, GROUP_BYTES_MAX, reason)?;
    let last = group.last_processed_message_id;
    Ok([
        group.id.to_string().into(),
        group.manager.manager_type().as_str().into(),
        group.manager.agent_id().map(|id| id.to_string()).into(),
        group.project_id.as_deref().into(),
        group.hidden.into(),
        group.turns_counter.into(),
        last.map(|id| id.to_string()).into(),
        group.created_by_id.as_deref().into(),
        group.created_at.into(),
        group.updated_at.into(),
        i64::try_from(document.len()).unwrap_or(i64::MAX).into(),
        document.into(),
    ])
}

/// Writes a group that is not there yet, without what belongs to it.
pub(super) async fn insert(transaction: &mut Transaction, group: &Group) -> Result<()> {
    let mut insert = Statement::new(
        "INSERT INTO agent_groups (id, manager_type, manager_agent_id, project_id, hidden,
            turns_counter, last_processed_message_id, created_by_id, created_at, updated_at, size,
            document) VALUES ",
    );
    insert.push_row(true, columns(group)?);
    transaction.defer(insert).await
}

/// Writes a group in place of the one with its id, whose row is locked.
pub(super) async fn replace(transaction: &mut Transaction, group: &Group) -> Result<()> {
    let replace =
        "UPDATE agent_groups SET manager_type = $2, manager_agent_id = $3, project_id = $4,
        hidden = $5, turns_counter = $6, last_processed_message_id = $7, created_by_id = $8,
        created_at = $9, updated_at = $10, size = $11, document = $12 WHERE id = $1";
    let mut replace = Statement::new(replace);
    for column in columns(group)? {
        replace = replace.bind(column);
    }
    transaction.defer(replace).await
}

/// The group, which from here to the end of the transaction nobody else changes or deletes. Without
/// what belongs to it.
pub(super) async fn lock(transaction: &mut Transaction, id: &GroupId) -> Result<Group> {
    let mut query = by_id(id);
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    record(&row.ok_or_else(|| missing("group", id))?, 0)
}

pub(super) fn by_id(id: &GroupId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM agent_groups WHERE id = ");
    query.push_value(id.to_string());
    query
}

/// A group without what belongs to it, from this column on.
pub(super) fn record(row: &Row, column: usize) -> Result<Group> {
    let mut group: Group = row.json(column, "group")?;
    group.turns_counter = row.optional_int(column + 1)?;
    group.last_processed_message_id = row.optional_parsed(column + 2, "message of a group")?;
    Ok(group)
}

/// Refuses what is not there, before the group is locked; nobody deletes the rest before the end of
/// the transaction.
pub(super) async fn expect(
    transaction: &mut Transaction,
    relations: &GroupRelations,
    manager: Option<AgentId>,
) -> Result<()> {
    let blocks = relations.shared_block_ids.as_deref().map(texts);
    let agents = relations.agent_ids.as_deref().map(texts);
    let mut agents = agents.unwrap_or_default();
    let blocks = blocks.unwrap_or_default();
    if agents.len().max(blocks.len()) > MEMBERS_MAX {
        return Err(StoreError::Quota {
            what: "the group's list of agents or blocks",
            limit: MEMBERS_MAX as u64,
        });
    }
    agents.extend(manager.map(|id| id.to_string()));
    expect_known(transaction, "block", "blocks", &blocks).await?;
    expect_known(transaction, "agent", "agents", &agents).await
}

/// Makes exactly these what belongs to a group, which is locked or new. [`expect`] has seen them.
pub(super) async fn relate(
    transaction: &mut Transaction,
    group: &GroupId,
    relations: &GroupRelations,
) -> Result<()> {
    let id = group.to_string();
    if let Some(agents) = &relations.agent_ids {
        let owned = "SELECT agent_id FROM group_agents WHERE group_id = $1 AND is_owned = 1";
        let owned = transaction.all(Statement::new(owned).bind(id.as_str()));
        let owned = owned.await?;
        let owned = owned.iter().map(|row| row.parsed(0, "agent id"));
        let owned = owned.collect::<Result<Vec<AgentId>>>()?;
        let delete = Statement::new("DELETE FROM group_agents WHERE group_id = $1");
        transaction.defer(delete.bind(id.as_str())).await?;
        link_agents(transaction, group, agents, |agent| owned.contains(agent)).await?;
    }
    if let Some(blocks) = &relations.shared_block_ids {
        let delete = Statement::new("DELETE FROM group_blocks WHERE group_id = $1");
        transaction.defer(delete.bind(id.as_str())).await?;
        if blocks.is_empty() {
            return Ok(());
        }
        let mut insert = Statement::new("INSERT INTO group_blocks (group_id, block_id) VALUES ");
        for (index, block) in texts(blocks).into_iter().enumerate() {
            insert.push_row(index == 0, [id.as_str().into(), block.into()]);
        }
        insert.push(" ON CONFLICT (group_id, block_id) DO NOTHING");
        transaction.defer(insert).await?;
    }
    Ok(())
}

/// Adds agents to a group, but those that it has.
pub(super) async fn link_agents(
    transaction: &mut Transaction,
    group: &GroupId,
    agents: &[AgentId],
    is_owned: impl Fn(&AgentId) -> bool,
) -> Result<()> {
    if agents.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO group_agents (group_id, agent_id, is_owned) VALUES ";
    let mut insert = Statement::new(insert);
    for (index, agent) in agents.iter().enumerate() {
        let row = [
            group.to_string().into(),
            agent.to_string().into(),
            is_owned(agent).into(),
        ];
        insert.push_row(index == 0, row);
    }
    insert.push(" ON CONFLICT (group_id, agent_id) DO NOTHING");
    transaction.defer(insert).await
}

/// Groups with what belongs to them.
pub(super) async fn with_relations(store: &Store, mut groups: Vec<Group>) -> Result<Vec<Group>> {
    if groups.is_empty() {
        return Ok(groups);
    }
    let ids: Vec<_> = groups.iter().map(|group| group.id).collect();
    let agents = "SELECT group_id, agent_id FROM group_agents WHERE group_id IN (";
    let blocks = "SELECT group_id, block_id FROM group_blocks WHERE group_id IN (";
    let mut agents = linked(store, agents, &ids).await?;
    let mut blocks = linked(store, blocks, &ids).await?;
    for group in &mut groups {
        group.agent_ids = agents.remove(&group.id).unwrap_or_default();
        group.shared_block_ids = blocks.remove(&group.id).unwrap_or_default();
    }
    Ok(groups)
}

async fn linked<T>(
    store: &Store,
    query: &'static str,
    groups: &[GroupId],
) -> Result<HashMap<GroupId, Vec<T>>>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    let mut query = Statement::new(query);
    query.push_list(texts(groups)).push(" ORDER BY seq");
    let mut linked: HashMap<GroupId, Vec<T>> = HashMap::new();
    for row in &store.database().all(query).await? {
        let of = linked.entry(row.parsed(0, "group id")?).or_default();
        of.push(row.parsed(1, "id of what is in a group")?);
    }
    Ok(linked)
}
