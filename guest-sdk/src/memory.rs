//! The agent's memory blocks.

use crate::host;

/// How often [`update`] tries again after someone else was faster.
const MAX_UPDATE_ATTEMPTS: u32 = 8;

/// One labelled text that stands in the agent's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is called, for example `human`.
    pub label: String,
    /// The text.
    pub value: String,
    /// What it is for.
    pub description: Option<String>,
    /// Characters that it may have.
    pub limit: u32,
    /// Whether it can't be written.
    pub read_only: bool,
    /// Counts its writes.
    pub version: u64,
}

/// Why a block can't be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool has no grant for this block, or none for writing.
    #[error("{0}")]
    Denied(String),
    /// No block has this label.
    #[error("there is no such memory block")]
    NotFound,
    /// The block can't be written.
    #[error("the memory block is read-only")]
    ReadOnly,
    /// The value has more characters than this, the block's limit.
    #[error("the value has more than {0} characters")]
    TooLong(u32),
    /// The block has this version by now.
    #[error("the memory block has changed: its version is {0}")]
    Conflict(u64),
    /// The host can't reach its storage.
    #[error("the memory is unavailable: {0}")]
    Unavailable(String),
}

/// The blocks whose labels are granted.
pub fn blocks() -> Result<Vec<Block>, Error> {
    host::memory::blocks()
}

/// The block of this label.
pub fn get(label: &str) -> Result<Block, Error> {
    host::memory::get(label)
}

/// Writes a block that still has this version.
pub fn put(label: &str, value: &str, version: u64) -> Result<Block, Error> {
    host::memory::put(label, value, version)
}

/// Creates a block.
pub fn create(label: &str, value: &str, description: Option<&str>) -> Result<Block, Error> {
    host::memory::create(label, value, description)
}

/// Removes a block.
pub fn delete(label: &str) -> Result<(), Error> {
    host::memory::delete(label)
}

/// Replaces a block's text by what `change` makes of it, again until nobody else was faster.
pub fn update(label: &str, mut change: impl FnMut(&str) -> String) -> Result<Block, Error> {
    let mut last = Error::NotFound;
    for _ in 0..MAX_UPDATE_ATTEMPTS {
        let block = get(label)?;
        match put(label, &change(&block.value), block.version) {
            Err(error @ Error::Conflict(_)) => last = error,
            result => return result,
        }
    }
    Err(last)
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Denied(_) | Error::ReadOnly => Self::Denied(text),
            Error::NotFound => Self::NotFound(text),
            Error::Conflict(_) => Self::Conflict(text),
            Error::TooLong(_) | Error::Unavailable(_) => Self::Failed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, create, get, put, update};

    #[test]
    fn a_write_over_an_old_version_is_a_conflict() {
        let block = create("human", "Ann", None).expect("the label is new");
        let newer = put("human", "Bob", block.version).expect("the version is right");
        assert_eq!(
            put("human", "Cid", block.version),
            Err(Error::Conflict(newer.version))
        );
        assert_eq!(get("human").map(|block| block.value), Ok("Bob".to_owned()));
    }

    #[test]
    fn an_update_starts_from_the_current_text() {
        create("notes", "a", None).expect("the label is new");
        let block = update("notes", |old| format!("{old}b")).expect("nobody else writes");
        assert_eq!(block.value, "ab");
        assert_eq!(update("missing", str::to_owned), Err(Error::NotFound));
    }
}
