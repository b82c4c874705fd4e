//! Whose things are: who made an agent, a block, a tool, an archive, an identity or a group. What an agent has
//! (conversations, runs, steps, messages) is whose the agent is; a passage is whose its archive is.
//!
//! A tool is everybody's unless a user of the platform made it: those of the server itself, and what
//! the operator saved, have other creators or none. That is not noted anywhere but found in the table
//! of users, so that it holds for tools that are older than that table.

use std::collections::{HashMap, HashSet};

use bulkhead_domain::platform::UserId;

use crate::{
    Result, Store, StoreError, check, message::lists, sql::Statement, tool::FILTER_LIST_MAX,
};

/// What an id begins with, and the query for the users who made the things with such ids; it ends
/// before the list of ids.
const KINDS: [(&str, &str); 11] = [
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
        "SELECT t.id, u.id FROM tools t LEFT JOIN users u ON u.id = t.created_by_id
        WHERE t.id IN (",
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
];

impl Store {
    /// The users of the platform who made the things with these ids, of whatever kinds (`agent-`,
    /// `block-`, `tool-`, `archive-`, `identity-`, `group-`, `conv-`, `run-`, `step-`, `message-`, `passage-`):
    /// an entry for each that is there, none in it where no user made it. [`FILTER_LIST_MAX`] at
    /// once at most.
    pub async fn owners(&self, ids: &[&str]) -> Result<HashMap<String, Option<UserId>>> {
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
        for (prefix, text) in KINDS {
            let of_kind = ids.iter().filter(|id| id.starts_with(prefix));
            let of_kind: Vec<_> = of_kind.copied().collect();
            for list in lists(&of_kind) {
                let mut query = Statement::new(text);
                query.push_list(list);
                queries.push(query);
            }
        }
        let mut owners = HashMap::new();
        for rows in self.database().each(queries).await? {
            for row in &rows {
                owners.insert(row.text(0)?, row.optional_parsed(1, "user id")?);
            }
        }
        Ok(owners)
    }
}

/// The tools that a user may see: the own ones, and those that no user of the platform made.
pub(crate) fn push_tools_for(query: &mut Statement, user: Option<UserId>) {
    if let Some(user) = user {
        query
            .push(" AND (created_by_id = ")
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
