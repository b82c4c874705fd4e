//! The tools of agents.

use std::{collections::HashMap, sync::Arc};

use bulkhead_domain::{Agent, RuleKind, Timestamp, ToolRule, id::AgentId};

use super::{
    limits, lock, missing,
    relations::{asked, by_agent, distinct, expect_known},
    row::{self, by_id, record},
};
use crate::{
    Result, Store, StoreError, ToolRecord, check, compiled_here,
    sql::{Durability, Row, Statement, Transaction},
    tool,
};

impl Store {
    /// The tools of each of these agents, in the order in which they were attached. Every agent
    /// that is asked for has a list. A tool of several agents is in memory once.
    #[compiled_here]
    pub async fn tools_of(
        &self,
        agents: &[AgentId],
    ) -> Result<HashMap<AgentId, Vec<Arc<ToolRecord>>>> {
        let answers = self.database().each(tools_queries(agents)?.into()).await?;
        tools_by_agent(agents, &mut answers.into_iter())
    }

    /// The tool with this name, where the agent has it.
    #[compiled_here]
    pub async fn tool_of_agent(&self, agent: &AgentId, name: &str) -> Result<Option<ToolRecord>> {
        check::text("the tool's name", name, tool::limits::NAME_MAX)?;
        let mut query = Statement::new("SELECT ");
        query.push(tool::COLUMNS);
        query.push(" FROM tools WHERE name = ").push_value(name);
        query.push(" AND id IN (SELECT tool_id FROM agent_tools WHERE agent_id = ");
        query.push_value(agent.to_string()).push(")");
        let row = self.database().optional(query).await?;
        row.as_ref().map(tool::record).transpose()
    }

    /// Gives an agent a tool. Whether it did not have it. Calls of one that requires approval by
    /// default wait from then on, by a rule that is stored together with it. [`StoreError::NotFound`] where there is
    /// no such agent or tool.
    #[compiled_here]
    pub async fn attach_tool(&self, agent: &AgentId, tool_id: &str) -> Result<bool> {
        check::name("the tool's id", tool_id)?;
        let mut transaction = self.database().begin(Durability::Process).await?;
        lock(&mut transaction, agent).await?;
        let known = expect_known(&mut transaction, "tool", "tools", &[tool_id.to_owned()]).await;
        known.map_err(|error| match error {
            StoreError::UnknownReferences { what, .. } => missing(what, tool_id),
            error => error,
        })?;
        let count = Statement::new("SELECT COUNT(*) FROM agent_tools WHERE agent_id = $1");
        let count = transaction.optional(count.bind(agent.to_string())).await?;
        let count = count.map_or(Ok(0), |row| row.unsigned(0))?;
        let ids = [tool_id.to_owned()];
        let rules = approval_rules(&mut transaction, agent, &ids).await?;
        let attached = link(&mut transaction, agent, &ids).await? > 0;
        if attached && count >= limits::TOOLS_MAX as u64 {
            return Err(StoreError::Quota {
                what: TOOLS,
                limit: limits::TOOLS_MAX as u64,
            });
        }
        if !rules.is_empty() {
            let row = transaction.optional(by_id(agent)).await?;
            let former = record(&row.ok_or_else(|| missing("agent", agent))?)?;
            let mut next = former.clone();
            add_rules(&mut next, rules);
            next.updated_at = Timestamp::now();
            row::replace(&mut transaction, &former, &next).await?;
        }
        transaction.commit().await?;
        Ok(attached)
    }

    /// Takes a tool from an agent. Whether it had it. [`StoreError::NotFound`] where there is no
    /// such agent.
    #[compiled_here]
    pub async fn detach_tool(&self, agent: &AgentId, tool_id: &str) -> Result<bool> {
        check::name("the tool's id", tool_id)?;
        let mut transaction = self.database().begin(Durability::Process).await?;
        lock(&mut transaction, agent).await?;
        let delete = "DELETE FROM agent_tools WHERE agent_id = $1 AND tool_id = $2";
        let delete = Statement::new(delete).bind(agent.to_string()).bind(tool_id);
        let detached = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(detached)
    }
}

/// The queries for the tools of agents, for [`tools_by_agent`].
pub(super) fn tools_queries(agents: &[AgentId]) -> Result<[Statement; 2]> {
    let agent_ids = asked(agents)?;
    let mut tools = Statement::new("SELECT ");
    tools.push(tool::COLUMNS);
    tools.push(" FROM tools WHERE id IN (SELECT tool_id FROM agent_tools WHERE agent_id IN (");
    tools
        .push_list(agent_ids.iter().map(String::as_str))
        .push(")");
    let mut links = Statement::new("SELECT agent_id, tool_id FROM agent_tools");
    links.push(" WHERE agent_id IN (").push_list(agent_ids);
    links.push(" ORDER BY seq");
    Ok([tools, links])
}

/// The tools of agents, from what the two queries gave.
pub(super) fn tools_by_agent(
    agents: &[AgentId],
    answers: &mut impl Iterator<Item = Vec<Row>>,
) -> Result<HashMap<AgentId, Vec<Arc<ToolRecord>>>> {
    let rows = answers.next().unwrap_or_default();
    let tools = rows
        .iter()
        .map(|row| tool::record(row).map(|tool| (tool.id.clone(), Arc::new(tool))))
        .collect::<Result<HashMap<_, _>>>()?;
    let links = answers.next().unwrap_or_default();
    // What was attached or deleted between the two queries is left out.
    let lists = by_agent(agents, &links, |row| Ok(tools.get(&row.text(1)?).cloned()))?;
    let present =
        |(agent, list): (_, Vec<Option<_>>)| (agent, list.into_iter().flatten().collect());
    Ok(lists.into_iter().map(present).collect())
}

/// The rules that come with those of these tools that an agent does not have yet; it is locked.
pub(super) async fn approval_rules(
    transaction: &mut Transaction,
    agent: &AgentId,
    ids: &[String],
) -> Result<Vec<ToolRule>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Statement::new("SELECT ");
    query.push(tool::COLUMNS).push(" FROM tools WHERE id IN (");
    query.push_list(ids.iter().map(String::as_str));
    query.push(" AND id NOT IN (SELECT tool_id FROM agent_tools WHERE agent_id = ");
    query.push_value(agent.to_string()).push(")");
    let rows = transaction.all(query).await?;
    let mut rules = Vec::new();
    for row in &rows {
        let tool = tool::record(row)?;
        if tool.default_requires_approval == Some(true) {
            rules.push(ToolRule::new(&tool.name, RuleKind::RequiresApproval));
        }
    }
    Ok(rules)
}

/// Adds rules to an agent's, but those that it has.
pub(super) fn add_rules(agent: &mut Agent, rules: Vec<ToolRule>) {
    for rule in rules {
        if !agent.tool_rules.contains(&rule) {
            agent.tool_rules.push(rule);
        }
    }
}

const TOOLS: &str = "the agent's list of tools";

/// Makes exactly these the tools of an agent; one that stays keeps its place.
pub(super) async fn put_tools(
    transaction: &mut Transaction,
    agent: &AgentId,
    ids: &[String],
) -> Result<()> {
    let ids = distinct(TOOLS, ids, limits::TOOLS_MAX)?;
    for id in &ids {
        check::name("the tool's id", id)?;
    }
    expect_known(transaction, "tool", "tools", &ids).await?;
    let mut delete = Statement::new("DELETE FROM agent_tools WHERE agent_id = $1");
    delete = delete.bind(agent.to_string());
    delete.push(" AND (tool_id IN (");
    delete.push_list(ids.iter().map(String::as_str));
    // The list has a NULL: what equals none of it is neither in it nor not.
    delete.push(") IS NOT TRUE");
    transaction.defer(delete).await?;
    link(transaction, agent, &ids).await.map(drop)
}

/// Gives an agent whose row is locked these tools too, or takes them from it.
pub(crate) async fn put_file_tools(
    transaction: &mut Transaction,
    agent: &AgentId,
    ids: &[String],
    wanted: bool,
) -> Result<()> {
    if wanted {
        expect_known(transaction, "tool", "tools", ids).await?;
        return link(transaction, agent, ids).await.map(drop);
    }
    let mut delete = Statement::new("DELETE FROM agent_tools WHERE agent_id = $1");
    delete = delete.bind(agent.to_string());
    delete.push(" AND tool_id IN (");
    delete.push_list(ids.iter().map(String::as_str));
    transaction.defer(delete).await
}

/// Attaches tools in this order, but those that are attached; gives how many that were.
async fn link(transaction: &mut Transaction, agent: &AgentId, ids: &[String]) -> Result<u64> {
    if ids.is_empty() {
        return Ok(0);
    }
    let mut insert = Statement::new("INSERT INTO agent_tools (agent_id, tool_id) VALUES ");
    for (index, id) in ids.iter().enumerate() {
        insert.push_row(index == 0, [agent.to_string().into(), id.as_str().into()]);
    }
    insert.push(" ON CONFLICT (agent_id, tool_id) DO NOTHING");
    transaction.execute(insert).await
}
