//! Interface `agents`.

use super::{
    owned,
    wit::agents::{self, AgentError},
};
use crate::agents::{Error, Reply};

pub(crate) fn send(agent_id: &str, text: &str) -> Result<(), Error> {
    agents::send(agent_id, text).map_err(error)
}

pub(crate) fn ask(agent_id: &str, text: &str) -> Result<Reply, Error> {
    agents::ask(agent_id, text).map(reply).map_err(error)
}

pub(crate) fn ask_matching(
    text: &str,
    match_all: &[&str],
    match_some: &[&str],
) -> Result<Vec<Reply>, Error> {
    let replies =
        agents::ask_matching(text, &owned(match_all), &owned(match_some)).map_err(error)?;
    Ok(replies.into_iter().map(reply).collect())
}

fn reply(reply: agents::Reply) -> Reply {
    let agents::Reply { agent_id, text } = reply;
    Reply { agent_id, text }
}

fn error(error: AgentError) -> Error {
    match error {
        AgentError::Denied(text) => Error::Denied(text),
        AgentError::NotFound => Error::NotFound,
        AgentError::Timeout => Error::Timeout,
        AgentError::Failed(text) => Error::Failed(text),
        AgentError::Unavailable(text) => Error::Unavailable(text),
    }
}
