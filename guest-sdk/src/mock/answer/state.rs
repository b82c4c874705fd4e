//! Interface `state`.

use super::with;
use crate::state::{Entry, Error};

pub(crate) fn get(key: &str) -> Result<Option<Entry>, Error> {
    with(|host| Ok(host.state.0.get(key).cloned()))
}

pub(crate) fn put(key: &str, value: Vec<u8>, expected: Option<u64>) -> Result<u64, Error> {
    with(|host| host.state.put(key, value, expected))
}

pub(crate) fn delete(key: &str, expected: u64) -> Result<(), Error> {
    with(|host| host.state.delete(key, expected))
}

pub(crate) fn keys(prefix: &str, limit: u32) -> Result<Vec<String>, Error> {
    with(|host| Ok(host.state.keys(prefix, limit)))
}
