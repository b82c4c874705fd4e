//! An agent with the one that looks after its memory.

use bulkhead_domain::{
    Group,
    id::{AgentId, GroupId},
};

use super::{
    follow::mirror,
    row::{insert, link_agents},
};
use crate::{
    NewAgent, Result, StoreError,
    agent::insert_agent,
    seal::Sealer,
    sql::{Statement, Transaction},
};

/// An agent that looks after the memory of another one, which leads the group.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSleeptime {
    /// The agent, without blocks that are there: it gets those of the other one. A new block of it is
    /// left out where the other one has one with its label.
    pub agent: NewAgent,
    /// Their group, without agents.
    pub group: Group,
}

/// Stores the agent that looks after the memory of `main`, which is new or locked, with the blocks
/// that `main` has by now, and their group. Where `main` leads such a group already, nothing is made
/// unless nobody is in it; then the agent comes into that one.
pub(crate) async fn insert_pair(
    transaction: &mut Transaction,
    sealer: &Sealer,
    main: &AgentId,
    new: &NewSleeptime,
) -> Result<()> {
    let invalid = |what, reason| Err(StoreError::Invalid { what, reason });
    if new.group.manager.agent_id() != Some(*main) {
        return invalid("the group", "is led by another agent");
    }
    if !new.agent.block_ids.is_empty() || new.agent.sleeptime.is_some() {
        return invalid("the sleeptime agent", "has blocks or an agent of its own");
    }
    let known = "SELECT id, (SELECT COUNT(*) FROM group_agents WHERE group_id = agent_groups.id)
        FROM agent_groups WHERE manager_agent_id = $1 AND manager_type = $2 ORDER BY seq";
    let kind = new.group.manager.manager_type().as_str();
    let known = Statement::new(known).bind(main.to_string()).bind(kind);
    let mut group: Option<GroupId> = None;
    for row in &transaction.all(known).await? {
        if row.int(1)? > 0 {
            return Ok(());
        }
        group.get_or_insert(row.parsed(0, "group id")?);
    }
    let blocks = "SELECT block_id, label FROM agent_blocks WHERE agent_id = $1 ORDER BY seq";
    let blocks = Statement::new(blocks).bind(main.to_string());
    let mut shared = Vec::new();
    for row in &transaction.all(blocks).await? {
        shared.push((row.parsed(0, "block id")?, row.text(1)?));
    }
    let mut agent = new.agent.clone();
    let has = |label: &str| shared.iter().any(|(_, known)| known == label);
    agent.new_blocks.retain(|block| !has(&block.label));
    let id = agent.agent.id;
    insert_agent(transaction, sealer, &agent).await?;
    mirror(transaction, &[id], &[], &shared).await?;
    let group = match group {
        Some(group) => group,
        None => {
            insert(transaction, &new.group).await?;
            new.group.id
        }
    };
    link_agents(transaction, &group, &[id], |_| true).await
}
