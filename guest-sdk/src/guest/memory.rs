//! Interface `memory`.

use super::wit::memory::{self, MemoryError};
use crate::memory::{Block, Error};

pub(crate) fn blocks() -> Result<Vec<Block>, Error> {
    let blocks = memory::blocks().map_err(error)?;
    Ok(blocks.into_iter().map(block).collect())
}

pub(crate) fn get(label: &str) -> Result<Block, Error> {
    memory::get(label).map(block).map_err(error)
}

pub(crate) fn put(label: &str, value: &str, version: u64) -> Result<Block, Error> {
    memory::put(label, value, version).map(block).map_err(error)
}

pub(crate) fn create(label: &str, value: &str, description: Option<&str>) -> Result<Block, Error> {
    memory::create(label, value, description)
        .map(block)
        .map_err(error)
}

pub(crate) fn delete(label: &str) -> Result<(), Error> {
    memory::delete(label).map_err(error)
}

fn block(block: memory::Block) -> Block {
    let memory::Block {
        label,
        value,
        description,
        limit,
        read_only,
        version,
    } = block;
    Block {
        label,
        value,
        description,
        limit,
        read_only,
        version,
    }
}

fn error(error: MemoryError) -> Error {
    match error {
        MemoryError::Denied(text) => Error::Denied(text),
        MemoryError::NotFound => Error::NotFound,
        MemoryError::ReadOnly => Error::ReadOnly,
        MemoryError::TooLong(limit) => Error::TooLong(limit),
        MemoryError::Conflict(version) => Error::Conflict(version),
        MemoryError::Unavailable(text) => Error::Unavailable(text),
    }
}
