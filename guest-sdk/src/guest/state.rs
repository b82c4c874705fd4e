//! Interface `state`.

use super::wit::state::{self, StateError};
use crate::state::{Entry, Error};

pub(crate) fn get(key: &str) -> Result<Option<Entry>, Error> {
    let entry = state::get(key).map_err(error)?;
    Ok(entry.map(|state::Entry { value, version }| Entry { value, version }))
}

pub(crate) fn put(key: &str, value: Vec<u8>, expected: Option<u64>) -> Result<u64, Error> {
    state::put(key, &value, expected).map_err(error)
}

pub(crate) fn delete(key: &str, expected: u64) -> Result<(), Error> {
    state::delete(key, expected).map_err(error)
}

pub(crate) fn keys(prefix: &str, limit: u32) -> Result<Vec<String>, Error> {
    state::keys(prefix, limit).map_err(error)
}

fn error(error: StateError) -> Error {
    match error {
        StateError::Denied(text) => Error::Denied(text),
        StateError::Conflict(version) => Error::Conflict(version),
        StateError::Quota(text) => Error::Quota(text),
        StateError::Unavailable(text) => Error::Unavailable(text),
    }
}
