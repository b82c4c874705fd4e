//! An agent with what it works with, read at once.

use std::sync::Arc;

use bulkhead_domain::{Agent, Block, id::AgentId};

use super::{
    relations::{blocks_by_agent, blocks_query},
    row,
    tools::{tools_by_agent, tools_queries},
};
use crate::{Result, Store, ToolRecord, compiled_here};

/// An agent with what it works with.
#[derive(Debug, Clone)]
pub struct EquippedAgent {
    /// The agent.
    pub agent: Agent,
    /// Its blocks, in the order in which they were attached.
    pub blocks: Vec<Block>,
    /// Its tools, in the order in which they were attached.
    pub tools: Vec<Arc<ToolRecord>>,
}

impl Store {
    /// The agent with this id, with its blocks and its tools: what every request to an agent
    /// begins with, and so in one message to SQLite.
    #[compiled_here]
    pub async fn equipped_agent(&self, id: &AgentId) -> Result<Option<EquippedAgent>> {
        let agents = [*id];
        let mut queries = vec![row::by_id(id), blocks_query(&agents)?];
        queries.extend(tools_queries(&agents)?);
        let mut answers = self.database().each(queries).await?.into_iter();
        let agent = answers.next().unwrap_or_default();
        let blocks = answers.next().unwrap_or_default();
        let Some(agent) = agent.first() else {
            return Ok(None);
        };
        let mut blocks = blocks_by_agent(&agents, &blocks)?;
        let mut tools = tools_by_agent(&agents, &mut answers)?;
        Ok(Some(EquippedAgent {
            agent: row::record(agent)?,
            blocks: blocks.remove(id).unwrap_or_default(),
            tools: tools.remove(id).unwrap_or_default(),
        }))
    }
}
