//! What relations of agents have in common, and the links to blocks and identities.

use std::{
    collections::{HashMap, HashSet},
    fmt::Display,
};

use bulkhead_domain::{
    Block, Identity,
    id::{AgentId, BlockId, IdentityId},
};

use super::limits;
use crate::{
    Result, Store, StoreError, block, compiled_here, identity,
    sql::{Row, Statement, Transaction},
};

impl Store {
    /// The blocks of each of these agents, in the order in which they were attached. Every agent
    /// that is asked for has a list.
    #[compiled_here]
    pub async fn blocks_of(&self, agents: &[AgentId]) -> Result<HashMap<AgentId, Vec<Block>>> {
        let rows = self.database().all(blocks_query(agents)?).await?;
        blocks_by_agent(agents, &rows)
    }

    /// The identities of each of these agents, in the order in which they came. Every agent that
    /// is asked for has a list.
    #[compiled_here]
    pub async fn identities_of(
        &self,
        agents: &[AgentId],
    ) -> Result<HashMap<AgentId, Vec<Identity>>> {
        let mut query = Statement::new("SELECT agent_id, identity_id FROM identity_agents");
        query.push(" WHERE agent_id IN (").push_list(asked(agents)?);
        query.push(" ORDER BY seq");
        let rows = self.database().all(query).await?;
        let ids = rows
            .iter()
            .map(|row| row.parsed(1, "identity id"))
            .collect::<Result<HashSet<IdentityId>>>()?;
        let known = identity::with_ids(self, ids).await?;
        let identities = by_agent(agents, &rows, |row| {
            let id: IdentityId = row.parsed(1, "identity id")?;
            // One that was deleted between the two queries is none of the agent's any more.
            Ok(known.get(&id).cloned())
        })?;
        let present = |(agent, list): (_, Vec<Option<Identity>>)| {
            (agent, list.into_iter().flatten().collect())
        };
        Ok(identities.into_iter().map(present).collect())
    }
}

/// The query for the blocks of agents, for [`blocks_by_agent`].
pub(super) fn blocks_query(agents: &[AgentId]) -> Result<Statement> {
    let mut query = Statement::new("SELECT agent_id, ");
    query.push(block::COLUMNS);
    query.push(" FROM agent_blocks l JOIN blocks b ON b.id = l.block_id");
    query
        .push(" WHERE l.agent_id IN (")
        .push_list(asked(agents)?);
    query.push(" ORDER BY l.seq");
    Ok(query)
}

pub(super) fn blocks_by_agent(
    agents: &[AgentId],
    rows: &[Row],
) -> Result<HashMap<AgentId, Vec<Block>>> {
    by_agent(agents, rows, |row| block::record(row, 1))
}

/// The ids of agents, as the values of a list.
pub(super) fn asked(agents: &[AgentId]) -> Result<Vec<String>> {
    if agents.len() > limits::AGENTS_AT_ONCE_MAX {
        return Err(StoreError::Quota {
            what: "the list of agents",
            limit: limits::AGENTS_AT_ONCE_MAX as u64,
        });
    }
    Ok(texts(agents))
}

/// Ids as they are stored.
pub(crate) fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// What rows say of each agent. Their first column is the agent.
pub(super) fn by_agent<T>(
    agents: &[AgentId],
    rows: &[Row],
    record: impl Fn(&Row) -> Result<T>,
) -> Result<HashMap<AgentId, Vec<T>>> {
    let mut lists: HashMap<_, _> = agents.iter().map(|id| (*id, Vec::new())).collect();
    for row in rows {
        let list = lists.entry(row.parsed(0, "agent id")?).or_default();
        list.push(record(row)?);
    }
    Ok(lists)
}

pub(crate) fn missing(what: &'static str, id: impl Display) -> StoreError {
    StoreError::NotFound {
        what,
        id: id.to_string(),
    }
}

/// Refuses ids of which there is nothing in `table`; nobody deletes the others before the end of
/// the transaction.
pub(crate) async fn expect_known(
    transaction: &mut Transaction,
    what: &'static str,
    table: &'static str,
    ids: &[String],
) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut query = Statement::new("SELECT id FROM ");
    query.push(table).push(" WHERE id IN (");
    query.push_list(ids.iter().map(String::as_str));
    query.push(" ORDER BY id").push(transaction.for_reference());
    let rows = transaction.all(query).await?;
    let known = rows
        .iter()
        .map(|row| row.text(0))
        .collect::<Result<HashSet<_>>>()?;
    let unknown = ids.iter().filter(|id| !known.contains(*id));
    let ids: Vec<_> = unknown.cloned().collect();
    if ids.is_empty() {
        return Ok(());
    }
    Err(StoreError::UnknownReferences { what, ids })
}

/// Refuses more than `max`, and drops what was named before.
pub(super) fn distinct<T: Clone + Eq + std::hash::Hash>(
    what: &'static str,
    values: &[T],
    max: usize,
) -> Result<Vec<T>> {
    let mut seen = HashSet::new();
    let values: Vec<T> = values
        .iter()
        .filter(|value| seen.insert(*value))
        .cloned()
        .collect();
    if values.len() > max {
        let limit = max as u64;
        return Err(StoreError::Quota { what, limit });
    }
    Ok(values)
}

/// Locks blocks, so that their labels stay; gives those in the order in which they are named.
pub(crate) async fn lock_blocks(
    transaction: &mut Transaction,
    ids: &[BlockId],
) -> Result<Vec<(BlockId, String)>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Statement::new("SELECT id, label FROM blocks WHERE id IN (");
    query.push_list(texts(ids));
    query.push(" ORDER BY id").push(transaction.for_update());
    let rows = transaction.all(query).await?;
    let labels = rows
        .iter()
        .map(|row| Ok((row.parsed(0, "block id")?, row.text(1)?)))
        .collect::<Result<HashMap<BlockId, String>>>()?;
    let mut blocks = Vec::with_capacity(ids.len());
    let mut unknown = Vec::new();
    for id in ids {
        match labels.get(id) {
            Some(label) => blocks.push((*id, label.clone())),
            None => unknown.push(id.to_string()),
        }
    }
    if unknown.is_empty() {
        return Ok(blocks);
    }
    let what = "block";
    Err(StoreError::UnknownReferences { what, ids: unknown })
}

/// Attaches blocks in this order to an agent that has none. The blocks are locked or new.
pub(super) async fn link_blocks(
    transaction: &mut Transaction,
    agent: &AgentId,
    blocks: &[(BlockId, String)],
) -> Result<()> {
    if blocks.len() > limits::BLOCKS_MAX {
        return Err(StoreError::Quota {
            what: "the agent's list of blocks",
            limit: limits::BLOCKS_MAX as u64,
        });
    }
    let mut labels = HashSet::new();
    for (_, label) in blocks {
        if !labels.insert(label) {
            return Err(block::label_taken(label));
        }
    }
    if blocks.is_empty() {
        return Ok(());
    }
    let mut insert = Statement::new("INSERT INTO agent_blocks (agent_id, block_id, label) VALUES ");
    for (index, (block, label)) in blocks.iter().enumerate() {
        let row = [
            agent.to_string().into(),
            block.to_string().into(),
            label.as_str().into(),
        ];
        insert.push_row(index == 0, row);
    }
    transaction.defer(insert).await
}

/// Makes exactly these the identities of an agent; one that stays keeps its place.
pub(super) async fn put_identities(
    transaction: &mut Transaction,
    agent: &AgentId,
    ids: &[IdentityId],
) -> Result<()> {
    let ids = distinct(
        "the agent's list of identities",
        ids,
        limits::IDENTITIES_MAX,
    )?;
    let ids = texts(&ids);
    expect_known(transaction, "identity", "identities", &ids).await?;
    let mut delete = Statement::new("DELETE FROM identity_agents WHERE agent_id = $1");
    delete = delete.bind(agent.to_string());
    delete.push(" AND (identity_id IN (");
    delete.push_list(ids.iter().map(String::as_str));
    // The list has a NULL: what equals none of it is neither in it nor not.
    delete.push(") IS NOT TRUE");
    transaction.defer(delete).await?;
    if ids.is_empty() {
        return Ok(());
    }
    let mut insert = Statement::new("INSERT INTO identity_agents (identity_id, agent_id) VALUES ");
    for (index, id) in ids.into_iter().enumerate() {
        insert.push_row(index == 0, [id.into(), agent.to_string().into()]);
    }
    insert.push(" ON CONFLICT (identity_id, agent_id) DO NOTHING");
    transaction.defer(insert).await
}
