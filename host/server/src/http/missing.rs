//! What is not there, and what contradicts what is: refusals of the contract by kinds of things.

use std::fmt::Display;

use bulkhead_domain::id::AgentId;
use bulkhead_store::StoreError;
use serde_json::json;

use crate::contract::{Refusal, id, repr};

/// 404 for an agent.
pub(crate) fn agent(id: impl Display) -> Refusal {
    Refusal::not_found(format!("Agent with ID {id} not found"))
}

/// 404 for a block.
pub(crate) fn block(id: impl Display) -> Refusal {
    Refusal::not_found(format!("Block with id '{id}' not found"))
}

/// 404 for a label of which an agent has no block.
pub(crate) fn label(agent: &AgentId, label: &str) -> Refusal {
    Refusal::not_found(format!(
        "No block with label '{label}' found for agent '{agent}'"
    ))
}

/// 404 for all other things. `what`: the contract's name for the kind.
pub(crate) fn object(what: &str, id: impl Display) -> Refusal {
    Refusal::not_found(format!(
        "{what} not found with id='['{id}']', access level in ['read'] for actor='{}'",
        id::DEFAULT_USER
    ))
}

/// 409 for a value that something else of the kind has.
pub(crate) fn duplicate(what: &str, reason: impl Display) -> Refusal {
    Refusal::conflict(format!(
        "A unique constraint was violated for {what}. Check your input for duplicates: {reason}"
    ))
}

/// What the store refused, in the words of the contract.
pub(crate) fn stored(error: StoreError) -> Refusal {
    match error {
        StoreError::NotFound { what, id } => unknown(what, &id),
        StoreError::UnknownReferences { what: "tool", ids } => tools("id:  ", &ids),
        StoreError::UnknownReferences { what, ids } => {
            let kind = kind(what);
            Refusal::conflict(format!(
                "A foreign key constraint was violated for {kind}. Check your input for missing or \
                 invalid references: there is no {what} {}",
                ids.join(", ")
            ))
        }
        StoreError::NameTaken { what, name } => duplicate(
            kind(what),
            format!("there is already a {what} named '{name}'"),
        ),
        error @ (StoreError::Quota { .. } | StoreError::Invalid { .. }) => {
            Refusal::bad_request(format!("INVALID_ARGUMENT: {error}"))
        }
        error => error.into(),
    }
}

/// 400 for tools that an agent is to have. `by`: what they were looked for by.
pub(crate) fn tools(by: &str, these: &[String]) -> Refusal {
    let names: Vec<_> = these.iter().map(|name| repr::repr(&json!(name))).collect();
    Refusal::bad_request(format!("Tools not found by {by} {{{}}}", names.join(", ")))
}

fn unknown(what: &str, id: &str) -> Refusal {
    match what {
        "agent" => agent(id),
        "block" => block(id),
        "message" => Refusal::not_found(format!("Message with id {id} not found.")),
        what => object(kind(what), id),
    }
}

/// The contract's name for a kind of the store.
fn kind(what: &str) -> &str {
    match what {
        "agent" => "Agent",
        "block of this agent" | "block" => "BlocksAgents",
        "tool" => "Tool",
        "identity" => "Identity",
        "group" => "Group",
        "archive" => "Archive",
        "folder" => "Source",
        "file" => "FileMetadata",
        "file of the agent" => "FileAgent",
        "passage" => "ArchivalPassage",
        "run" => "Run",
        "step" => "Step",
        "conversation" => "Conversation",
        "provider" => "Provider",
        "MCP server" => "MCPServer",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_told_in_the_words_of_its_kind() {
        let text = |error| match stored(error) {
            Refusal::Contract(status, body) => (status.as_u16(), body["detail"].to_string()),
            Refusal::Native(rejection) => panic!("{rejection:?}"),
        };
        let missing = |what| StoreError::NotFound {
            what,
            id: "x-1".to_owned(),
        };
        for (what, expected) in [
            ("agent", "\"Agent with ID x-1 not found\""),
            ("block", "\"Block with id 'x-1' not found\""),
            (
                "identity",
                "\"Identity not found with id='['x-1']', access level in ['read'] for actor='user-00000000-0000-4000-8000-000000000000'\"",
            ),
        ] {
            assert_eq!(text(missing(what)), (404, expected.to_owned()));
        }
        let unknown = StoreError::UnknownReferences {
            what: "tool",
            ids: vec!["tool-1".to_owned()],
        };
        let expected = "\"Tools not found by id:   {'tool-1'}\"".to_owned();
        assert_eq!(text(unknown), (400, expected));
    }
}
