//! What a mock keeps for `state` and `memory`, with the versions of the real ones.

use std::collections::BTreeMap;

use crate::{memory, state};

/// Keys and their values.
#[derive(Debug, Default)]
pub(crate) struct State(pub(crate) BTreeMap<String, state::Entry>);

/// Labels and their blocks.
#[derive(Debug, Default)]
pub(crate) struct Memory(pub(crate) BTreeMap<String, memory::Block>);

/// Characters of a block that a test creates without saying more.
const DEFAULT_BLOCK_LIMIT: u32 = 5_000;

/// The most keys of one listing, as the interface promises.
const MAX_KEYS: u32 = 1_000;

impl State {
    pub(crate) fn put(
        &mut self,
        key: &str,
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> Result<u64, state::Error> {
        let version = self.check(key, expected)?.unwrap_or(0) + 1;
        self.0
            .insert(key.to_owned(), state::Entry { value, version });
        Ok(version)
    }

    pub(crate) fn delete(&mut self, key: &str, expected: u64) -> Result<(), state::Error> {
        self.check(key, Some(expected))?;
        self.0.remove(key);
        Ok(())
    }

    pub(crate) fn keys(&self, prefix: &str, limit: u32) -> Vec<String> {
        let limit = usize::try_from(limit.min(MAX_KEYS)).unwrap_or(usize::MAX);
        self.0
            .keys()
            .filter(|key| key.starts_with(prefix))
            .take(limit)
            .cloned()
            .collect()
    }

    /// The key's version, if it is the expected one.
    fn check(&self, key: &str, expected: Option<u64>) -> Result<Option<u64>, state::Error> {
        let version = self.0.get(key).map(|entry| entry.version);
        if version == expected {
            Ok(version)
        } else {
            Err(state::Error::Conflict(version.unwrap_or(0)))
        }
    }
}

impl Memory {
    pub(crate) fn get(&self, label: &str) -> Result<memory::Block, memory::Error> {
        self.0.get(label).cloned().ok_or(memory::Error::NotFound)
    }

    pub(crate) fn put(
        &mut self,
        label: &str,
        value: &str,
        version: u64,
    ) -> Result<memory::Block, memory::Error> {
        let block = self.0.get_mut(label).ok_or(memory::Error::NotFound)?;
        if block.read_only {
            return Err(memory::Error::ReadOnly);
        }
        if block.version != version {
            return Err(memory::Error::Conflict(block.version));
        }
        if u32::try_from(value.chars().count()).is_ok_and(|length| length <= block.limit) {
            block.value = value.to_owned();
            block.version += 1;
            return Ok(block.clone());
        }
        Err(memory::Error::TooLong(block.limit))
    }

    pub(crate) fn create(
        &mut self,
        label: &str,
        value: &str,
        description: Option<&str>,
    ) -> Result<memory::Block, memory::Error> {
        if let Some(block) = self.0.get(label) {
            return Err(memory::Error::Conflict(block.version));
        }
        let block = memory::Block {
            label: label.to_owned(),
            value: value.to_owned(),
            description: description.map(str::to_owned),
            limit: DEFAULT_BLOCK_LIMIT,
            read_only: false,
            version: 1,
        };
        self.0.insert(label.to_owned(), block.clone());
        Ok(block)
    }

    pub(crate) fn delete(&mut self, label: &str) -> Result<(), memory::Error> {
        if self.get(label)?.read_only {
            return Err(memory::Error::ReadOnly);
        }
        self.0.remove(label);
        Ok(())
    }
}
