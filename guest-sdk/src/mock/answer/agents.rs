//! Interface `agents`.

use super::{handle, missing, with};
use crate::{
    agents::{Error, Reply},
    mock::Message,
};

/// The id by which the handler of a test knows a message to every matching agent.
const MATCHING: &str = "*";

pub(crate) fn send(agent_id: &str, text: &str) -> Result<(), Error> {
    ask(agent_id, text).map(drop)
}

pub(crate) fn ask(agent_id: &str, text: &str) -> Result<Reply, Error> {
    let message = Message {
        agent_id: agent_id.to_owned(),
        text: text.to_owned(),
    };
    with(|host| host.seen.messages.push(message));
    let answer = handle(|host| &mut host.agents, |handler| handler(agent_id, text));
    let text = answer.unwrap_or_else(|| Err(Error::Denied(missing(agent_id))))?;
    Ok(Reply {
        agent_id: agent_id.to_owned(),
        text,
    })
}

pub(crate) fn ask_matching(
    text: &str,
    _match_all: &[&str],
    _match_some: &[&str],
) -> Result<Vec<Reply>, Error> {
    ask(MATCHING, text).map(|reply| vec![reply])
}
