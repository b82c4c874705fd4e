//! Interface `memory`.

use super::with;
use crate::memory::{Block, Error};

pub(crate) fn blocks() -> Result<Vec<Block>, Error> {
    with(|host| Ok(host.memory.0.values().cloned().collect()))
}

pub(crate) fn get(label: &str) -> Result<Block, Error> {
    with(|host| host.memory.get(label))
}

pub(crate) fn put(label: &str, value: &str, version: u64) -> Result<Block, Error> {
    with(|host| host.memory.put(label, value, version))
}

pub(crate) fn create(label: &str, value: &str, description: Option<&str>) -> Result<Block, Error> {
    with(|host| host.memory.create(label, value, description))
}

pub(crate) fn delete(label: &str) -> Result<(), Error> {
    with(|host| host.memory.delete(label))
}
