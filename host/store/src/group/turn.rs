//! When it is the turn of the agents that look after another one's memory.

use bulkhead_domain::{
    Group, Run,
    id::{AgentId, GroupId, MessageId, RunId},
};

use super::row::{COLUMNS, record};
use crate::{
    Result,
    run::insert_if_active,
    sql::{Statement, Transaction},
};

/// What the agents that look after another one's memory are to do.
#[derive(Debug, Clone)]
pub struct SleeptimeTurn {
    /// Their group.
    pub group_id: GroupId,
    /// The last message that they were shown before.
    pub after: Option<MessageId>,
    /// The last one that they are shown now.
    pub until: Option<MessageId>,
    /// Their runs, which are stored and have not begun.
    pub runs: Vec<Run>,
}

/// Counts a request to an agent, which is locked. Where it is the turn of those that look after its
/// memory, each of them gets a run like `first`, and what was said until now counts as shown to them.
pub(crate) async fn count_turn(
    transaction: &mut Transaction,
    agent: &AgentId,
    first: &Run,
) -> Result<Option<SleeptimeTurn>> {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS);
    query.push(" FROM agent_groups WHERE manager_type = 'sleeptime' AND manager_agent_id = ");
    query.push_value(agent.to_string());
    query.push(" ORDER BY seq LIMIT 1");
    query.push(transaction.for_update());
    let Some(row) = transaction.optional(query).await? else {
        return Ok(None);
    };
    let mut group: Group = record(&row, 0)?;
    let is_due = group.count_turn();
    let turn = match is_due {
        true => begin(transaction, agent, &group, first).await?,
        false => None,
    };
    let last = turn.as_ref().and_then(|turn| turn.until);
    let update = "UPDATE agent_groups SET turns_counter = $2,
        last_processed_message_id = COALESCE($3, last_processed_message_id) WHERE id = $1";
    let update = Statement::new(update)
        .bind(group.id.to_string())
        .bind(group.turns_counter)
        .bind(last.map(|id| id.to_string()));
    transaction.defer(update).await?;
    Ok(turn)
}

/// Stores the runs of a turn; none where nobody is there to take it.
async fn begin(
    transaction: &mut Transaction,
    agent: &AgentId,
    group: &Group,
    first: &Run,
) -> Result<Option<SleeptimeTurn>> {
    let members = "SELECT agent_id FROM group_agents WHERE group_id = $1 ORDER BY seq";
    let members = Statement::new(members).bind(group.id.to_string());
    let mut runs = Vec::new();
    for row in &transaction.all(members).await? {
        let run = Run {
            id: RunId::random(),
            agent_id: row.parsed(0, "agent id")?,
            conversation_id: None,
            ..first.clone()
        };
        if insert_if_active(transaction, &run).await? {
            runs.push(run);
        }
    }
    if runs.is_empty() {
        return Ok(None);
    }
    let newest = "SELECT id FROM messages WHERE agent_id = $1 ORDER BY seq DESC LIMIT 1";
    let newest = Statement::new(newest).bind(agent.to_string());
    let newest = transaction.optional(newest).await?;
    let newest = newest.map(|row| row.parsed(0, "message id"));
    Ok(Some(SleeptimeTurn {
        group_id: group.id,
        after: group.last_processed_message_id,
        until: newest.transpose()?,
        runs,
    }))
}
