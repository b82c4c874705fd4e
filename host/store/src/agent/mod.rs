//! Agents, and what hangs on them: blocks, tools, tags, secrets, identities.
//!
//! - `row`: an agent as a row; `create`, `update`: one agent with its relations, each in one
//!   transaction; `filter`: lists and counts; `limits`: what is stored at most.
//! - `tools`, `tags`, `secrets`, `relations`: what hangs on an agent. What is read of it is read
//!   for many agents at once; `equipped`: an agent with what it works with.
//!
//! Whoever changes an agent locks its row first. Whoever needs blocks and agents locks the
//! blocks first, each kind by id, so that no two writers wait for each other.

mod create;
mod equipped;
mod filter;
pub mod limits;
mod relations;
mod row;
mod secrets;
mod tags;
mod tools;
mod update;

use bulkhead_domain::{
    Agent, Block, Message,
    id::{BlockId, FolderId, IdentityId},
    platform::Instance,
};

use crate::NewSleeptime;

pub(crate) use create::insert_agent;
pub use equipped::EquippedAgent;
pub(crate) use filter::push_tags;
pub use filter::{AgentFilter, AgentOrder};
pub(crate) use relations::{expect_known, lock_blocks, missing, texts};
pub use row::expect_storable;
pub(crate) use row::{lock, lock_record};
pub use tags::TagFilter;
pub(crate) use tools::put_file_tools;

/// An agent to store, with all that hangs on it from the start.
#[derive(Clone, PartialEq)]
pub struct NewAgent {
    /// The agent.
    pub agent: Agent,
    /// Blocks to make for it. They are attached first.
    pub new_blocks: Vec<Block>,
    /// Blocks that are there, attached after the new ones.
    pub block_ids: Vec<BlockId>,
    /// Its tools.
    pub tool_ids: Vec<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What its tools see in their environment, by key.
    pub secrets: Vec<(String, String)>,
    /// To whom it belongs.
    pub identity_ids: Vec<IdentityId>,
    /// Its folders.
    pub folder_ids: Vec<FolderId>,
    /// The tools that read files, for an agent with folders.
    pub file_tool_ids: Vec<String>,
    /// What makes it an instance of the platform; its name and its standing are the agent's.
    pub instance: Option<Instance>,
    /// Its first messages, in order. The agent's `message_ids` say which are in its context.
    pub messages: Vec<Message>,
    /// The agent that looks after its memory.
    pub sleeptime: Option<Box<NewSleeptime>>,
}

impl NewAgent {
    /// An agent on which nothing hangs.
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            new_blocks: Vec::new(),
            block_ids: Vec::new(),
            tool_ids: Vec::new(),
            tags: Vec::new(),
            secrets: Vec::new(),
            identity_ids: Vec::new(),
            folder_ids: Vec::new(),
            file_tool_ids: Vec::new(),
            instance: None,
            messages: Vec::new(),
            sleeptime: None,
        }
    }
}

/// Printed without the values of its secrets.
impl std::fmt::Debug for NewAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewAgent")
            .field("agent", &self.agent)
            .field("secrets", &keys(&self.secrets))
            .finish_non_exhaustive()
    }
}

/// What is to hang on an agent: exactly what is listed; what is none stays as it is.
#[derive(Clone, Default, PartialEq)]
pub struct AgentRelations {
    /// Its tools.
    pub tool_ids: Option<Vec<String>>,
    /// Its blocks, in this order.
    pub block_ids: Option<Vec<BlockId>>,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
    /// What its tools see in their environment, by key. A key that it has already keeps its id.
    pub secrets: Option<Vec<(String, String)>>,
    /// To whom it belongs.
    pub identity_ids: Option<Vec<IdentityId>>,
    /// Its folders.
    pub folder_ids: Option<Vec<FolderId>>,
    /// The tools that read files: an agent gets them with its first folder, and they go with the last.
    pub file_tool_ids: Vec<String>,
    /// An agent that is to look after its memory, unless there is one.
    pub sleeptime: Option<Box<NewSleeptime>>,
}

/// Printed without the values of its secrets.
impl std::fmt::Debug for AgentRelations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentRelations")
            .field("tool_ids", &self.tool_ids)
            .field("block_ids", &self.block_ids)
            .field("tags", &self.tags)
            .field("secrets", &self.secrets.as_deref().map(keys))
            .field("identity_ids", &self.identity_ids)
            .field("folder_ids", &self.folder_ids)
            .field("sleeptime", &self.sleeptime)
            .finish()
    }
}

fn keys(secrets: &[(String, String)]) -> Vec<&str> {
    secrets.iter().map(|(key, _)| key.as_str()).collect()
}
