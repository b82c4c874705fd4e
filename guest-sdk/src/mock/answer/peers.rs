//! Interface `peers`.

use serde_json::Value;

use super::{handle, missing, with};
use crate::{Output, mock::PeerCall, peers::Error};

pub(crate) fn call(name: &str, input: &str) -> Result<Output, Error> {
    let input: Value =
        serde_json::from_str(input).map_err(|error| Error::Malformed(error.to_string()))?;
    let seen = PeerCall {
        name: name.to_owned(),
        input: input.clone(),
    };
    with(|host| host.seen.peer_calls.push(seen));
    let answer = handle(|host| &mut host.peers, |handler| handler(name, &input));
    answer.unwrap_or_else(|| Err(Error::Denied(missing(name))))
}
