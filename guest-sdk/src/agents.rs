//! Messages to other agents.

use crate::host;

/// What another agent answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Who answered.
    pub agent_id: String,
    /// The answer.
    pub text: String,
}

/// Why an agent can't be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool has no grant for this agent.
    #[error("{0}")]
    Denied(String),
    /// No agent has this id.
    #[error("there is no such agent")]
    NotFound,
    /// The agent did not answer in time.
    #[error("the agent did not answer in time")]
    Timeout,
    /// The agent failed.
    #[error("the agent failed: {0}")]
    Failed(String),
    /// The host can't deliver messages now.
    #[error("agents are unavailable: {0}")]
    Unavailable(String),
}

/// Leaves a message without waiting for an answer.
pub fn send(agent_id: &str, text: &str) -> Result<(), Error> {
    host::agents::send(agent_id, text)
}

/// Sends a message and waits for the answer.
pub fn ask(agent_id: &str, text: &str) -> Result<Reply, Error> {
    host::agents::ask(agent_id, text)
}

/// Asks every agent that has all tags of `match_all` and one of `match_some`.
pub fn ask_matching(
    text: &str,
    match_all: &[&str],
    match_some: &[&str],
) -> Result<Vec<Reply>, Error> {
    host::agents::ask_matching(text, match_all, match_some)
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Denied(_) => Self::Denied(text),
            Error::NotFound => Self::NotFound(text),
            Error::Timeout | Error::Failed(_) | Error::Unavailable(_) => Self::Failed(text),
        }
    }
}
