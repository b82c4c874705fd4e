//! Whose things are: who made an agent, a block, a tool, an archive, a folder, an identity or a group.
//! What an agent has (conversations, runs, steps, messages, its view of files) is whose the agent is; a
//! passage is whose its archive or folder is, a file whose its folder is.
//!
//! A tool is everybody's unless a user of the platform made it: those of the server itself, and what
//! the operator saved, have other creators or none. That is not noted anywhere but found in the table
//! of users, so that it holds for tools that are older than that table. Tools of MCP servers are the
//! operator's alone: they act with the installation's tokens.

use std::collections::{HashMap, HashSet};

use bulkhead_domain::platform::UserId;

use crate::{
    Result, Store, StoreError, check, compiled_here, message::lists, sql::Statement,
    tool::FILTER_LIST_MAX,
};

/// What an id begins with, and the query for the users who made the things with such ids; it ends
/// before the list of ids.
const KINDS: [(&str, &str); 15] = [
    (
        "agent-",
        "SELECT t.id, u.id FROM agents t LEFT JOIN users u ON u.id = t.created_by_id
        WHERE t.id IN (",
    ),
    (
        "block-",
        "SELECT t.id, u.id FROM blocks t LEFT JOIN users u ON u.id = t.created_by_id
        WHERE t.id IN (",
    ),
    (
        "tool-",
        "SELECT t.id, u.id, t.mcp_server_id FROM tools t
        LEFT JOIN users u ON u.id = t.created_by_id AND t.mcp_server_id IS NULL WHERE t.id IN (",
    ),
    (
        "archive-",
        "SELECT t.id, u.id FROM archives t LEFT JOIN users u ON u.id = t.created_by_id
        WHERE t.id IN (",
    ),
    (
        "identity-",
        "SELECT t.id, u.id FROM identities t LEFT JOIN users u ON u.id = t.created_by_id
        WHERE t.id IN (",
    ),
    (
        "group-",
        "SELECT t.id, u.id FROM agent_groups t LEFT JOIN users u ON u.id = t.created_by_id
        WHERE t.id IN (",
    ),
    (
        "conv-",
        "SELECT t.id, u.id FROM conversations t JOIN agents a ON a.id = t.agent_id
        LEFT JOIN users u ON u.id = a.created_by_id WHERE t.is_deleted = 0 AND t.id IN (",
    ),
    (
        "run-",
        "SELECT t.id, u.id FROM runs t JOIN agents a ON a.id = t.agent_id
        LEFT JOIN users u ON u.id = a.created_by_id WHERE t.id IN (",
    ),
    (
        "step-",
        "SELECT t.id, u.id FROM steps t JOIN agents a ON a.id = t.agent_id
        LEFT JOIN users u ON u.id = a.created_by_id WHERE t.id IN (",
    ),
    (
        "message-",
        "SELECT t.id, u.id FROM messages t JOIN agents a ON a.id = t.agent_id
        LEFT JOIN users u ON u.id = a.created_by_id WHERE t.id IN (",
    ),
    (
        "passage-",
        "SELECT t.id, u.id FROM passages t JOIN archives a ON a.id = t.archive_id
        LEFT JOIN users u ON u.id = a.created_by_id WHERE t.id IN (",
    ),
    (
        "passage-",
        "SELECT t.id, u.id FROM file_passages t JOIN folders d ON d.id = t.folder_id
        LEFT JOIN users u ON u.id = d.created_by_id WHERE t.id IN (",
    ),
    (
        "source-",
        "SELECT t.id, u.id FROM folders t LEFT JOIN users u ON u.id = t.created_by_id
        WHERE t.id IN (",
    ),
    (
        "file-",
        "SELECT t.id, u.id FROM folder_files t JOIN folders d ON d.id = t.folder_id
        LEFT JOIN users u ON u.id = d.created_by_id WHERE t.id IN (",
    ),
    (
        "file_agent-",
        "SELECT t.id, u.id FROM agent_files t JOIN agents a ON a.id = t.agent_id
        LEFT JOIN users u ON u.id = a.created_by_id WHERE t.id IN (",
    ),
];

/// Whose a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A user of the platform made it.
    User(UserId),
    /// Nobody of the platform made it, and it is nobody's there.
    Operator,
    /// Nobody of the platform made it, and everybody may use it.
    Everybody,
}

impl Owner {
    /// The user of the platform who made it; none where it is nobody of it.
    pub fn user(self) -> Option<UserId> {
        match self {
            Self::User(user) => Some(user),
            Self::Operator | Self::Everybody => None,
        }
    }
}

impl Store {
    /// Whose the things with these ids are, of whatever kinds (`agent-`, `block-`, `tool-`,
    /// `archive-`, `identity-`, `group-`, `conv-`, `run-`, `step-`, `message-`, `passage-`,
    /// `source-`, `file-`, `file_agent-`): an entry for each that is there. [`FILTER_LIST_MAX`] at once at most.
    #[compiled_here]
    pub async fn owners(&self, ids: &[&str]) -> Result<HashMap<String, Owner>> {
        if ids.len() > FILTER_LIST_MAX {
            return Err(StoreError::Quota {
                what: "the list of ids",
                limit: FILTER_LIST_MAX as u64,
            });
        }
        // What no database could have is not there.
        let ids = ids
            .iter()
            .filter(|id| check::text("an id", id, check::NAME_MAX).is_ok());
        let ids: HashSet<&str> = ids.copied().collect();
        let mut queries = Vec::new();
        let mut of_tools = Vec::new();
        for (prefix, text) in KINDS {
            let of_kind = ids.iter().filter(|id| id.starts_with(prefix));
            let of_kind: Vec<_> = of_kind.copied().collect();
            for list in lists(&of_kind) {
                let mut query = Statement::new(text);
                query.push_list(list);
                queries.push(query);
                of_tools.push(prefix == "tool-");
            }
        }
        let mut owners = HashMap::new();
        for (rows, of_tools) in self.database().each(queries).await?.iter().zip(of_tools) {
            for row in rows {
                let owner = match row.optional_parsed(1, "user id")? {
                    Some(user) => Owner::User(user),
                    None if of_tools && row.optional_text(2)?.is_none() => Owner::Everybody,
                    None => Owner::Operator,
                };
                owners.insert(row.text(0)?, owner);
            }
        }
        Ok(owners)
    }
}

/// The tools that a user may see: the own ones, and those that no user of the platform made and no MCP
/// server brought.
pub(crate) fn push_tools_for(query: &mut Statement, user: Option<UserId>) {
    if let Some(user) = user {
        query
            .push(" AND mcp_server_id IS NULL AND (created_by_id = ")
            .push_value(user.to_string());
        query.push(" OR created_by_id IS NULL OR created_by_id NOT IN (SELECT id FROM users))");
    }
}

/// What this user made, of a table that has `created_by_id`.
pub(crate) fn push_created_by(query: &mut Statement, user: Option<UserId>) {
    query.push_if(" AND created_by_id = ", user.map(|id| id.to_string()));
}

/// What belongs to agents that this user made, of a table that has `agent_id`.
pub(crate) fn push_agent_created_by(query: &mut Statement, user: Option<UserId>) {
    if let Some(user) = user {
        query.push(" AND agent_id IN (SELECT id FROM agents WHERE created_by_id = ");
        query.push_value(user.to_string()).push(")");
    }
}
