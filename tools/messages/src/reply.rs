//! What other agents answered.

use bulkhead_sdk::{Content, Error, IntoOutput, Output, agents, serde_json};
use serde::Serialize;

/// What stands for an answer without text.
const SILENCE: &str = "<no response>";

/// The answer of one agent.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Reply {
    agent_id: String,
    response: Vec<String>,
}

/// The answers of several agents.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Replies(Vec<Reply>);

impl From<agents::Reply> for Reply {
    fn from(reply: agents::Reply) -> Self {
        let text = if reply.text.is_empty() {
            SILENCE.to_owned()
        } else {
            reply.text
        };
        Self {
            agent_id: reply.agent_id,
            response: vec![text],
        }
    }
}

impl FromIterator<Reply> for Replies {
    fn from_iter<T: IntoIterator<Item = Reply>>(replies: T) -> Self {
        Self(replies.into_iter().collect())
    }
}

impl IntoOutput for Reply {
    fn into_output(self) -> Result<Output, Error> {
        output(&self)
    }
}

impl IntoOutput for Replies {
    fn into_output(self) -> Result<Output, Error> {
        output(&self)
    }
}

/// A value as Python writes it, for a model, and as JSON, for programs.
fn output<T: Serialize>(value: &T) -> Result<Output, Error> {
    Ok(Output {
        content: vec![Content::text(bulkhead_python_repr::repr(value)?)],
        structured: Some(serde_json::to_value(value)?),
    })
}

/// Why the agent with this id gave no answer, in words for a model.
pub(crate) fn explained(error: agents::Error, agent_id: &str) -> Error {
    match error {
        agents::Error::NotFound => {
            Error::Failed(format!("There is no agent with ID '{agent_id}'."))
        }
        agents::Error::Timeout => Error::Failed(format!(
            "The agent with ID '{agent_id}' did not answer in time."
        )),
        agents::Error::Failed(reason) => {
            Error::Failed(format!("The agent with ID '{agent_id}' failed: {reason}"))
        }
        other => other.into(),
    }
}
