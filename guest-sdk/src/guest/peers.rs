//! Interface `peers`.

use super::wit::peers::{self, PeerError};
use crate::{Output, peers::Error};

pub(crate) fn call(name: &str, input: &str) -> Result<Output, Error> {
    let output = peers::call(name, input).map_err(|error| match error {
        PeerError::Denied(text) => Error::Denied(text),
        PeerError::Unknown => Error::Unknown,
        PeerError::Depth => Error::Depth,
        PeerError::Stopped(text) => Error::Stopped(text),
        PeerError::Tool(error) => Error::Tool(error.into()),
        PeerError::Unavailable(text) => Error::Unavailable(text),
    })?;
    output
        .try_into()
        .map_err(|error: serde_json::Error| Error::Unavailable(error.to_string()))
}
