//! Memory blocks that last as long as the process.

use std::collections::BTreeMap;

use bulkhead_sandbox::services::{MemoryBlock, MemoryError, MemoryService};
use futures::future::{BoxFuture, ready};
use parking_lot::Mutex;

/// Characters of a block that names no limit of its own.
pub const DEFAULT_BLOCK_CHARS: u32 = 100_000;
/// Blocks in all: far more than an agent has, and an end for a tool that creates in a loop.
const MAX_BLOCKS: usize = 1_000;

/// The `memory` interface over a map of blocks.
#[derive(Debug, Default)]
pub struct InMemoryBlocks {
    blocks: Mutex<BTreeMap<String, MemoryBlock>>,
}

impl InMemoryBlocks {
    /// No block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a block up, replacing one of the same label.
    pub fn set(&self, label: impl Into<String>, value: impl Into<String>) {
        let block = block(label.into(), value.into(), None);
        self.blocks.lock().insert(block.label.clone(), block);
    }

    /// Sets a block up that tools may read and not change.
    pub fn set_read_only(&self, label: impl Into<String>, value: impl Into<String>) {
        let block = MemoryBlock {
            read_only: true,
            ..block(label.into(), value.into(), None)
        };
        self.blocks.lock().insert(block.label.clone(), block);
    }

    /// The text of a block, for assertions.
    pub fn value(&self, label: &str) -> Option<String> {
        self.blocks
            .lock()
            .get(label)
            .map(|block| block.value.clone())
    }

    fn write(&self, label: &str, value: String, version: u64) -> Result<MemoryBlock, MemoryError> {
        let mut blocks = self.blocks.lock();
        let block = blocks.get_mut(label).ok_or(MemoryError::NotFound)?;
        if block.read_only {
            return Err(MemoryError::ReadOnly);
        }
        if block.version != version {
            return Err(MemoryError::Conflict(block.version));
        }
        if is_too_long(&value, block.limit) {
            return Err(MemoryError::TooLong(block.limit));
        }
        block.value = value;
        block.version += 1;
        Ok(block.clone())
    }

    fn make(&self, block: MemoryBlock) -> Result<MemoryBlock, MemoryError> {
        let mut blocks = self.blocks.lock();
        if let Some(there) = blocks.get(&block.label) {
            return Err(MemoryError::Conflict(there.version));
        }
        if is_too_long(&block.value, block.limit) {
            return Err(MemoryError::TooLong(block.limit));
        }
        if blocks.len() >= MAX_BLOCKS {
            return Err(MemoryError::Unavailable(format!(
                "at most {MAX_BLOCKS} blocks"
            )));
        }
        blocks.insert(block.label.clone(), block.clone());
        Ok(block)
    }

    fn remove(&self, label: &str) -> Result<(), MemoryError> {
        let mut blocks = self.blocks.lock();
        match blocks.get(label) {
            None => Err(MemoryError::NotFound),
            Some(block) if block.read_only => Err(MemoryError::ReadOnly),
            Some(_) => {
                blocks.remove(label);
                Ok(())
            }
        }
    }
}

fn block(label: String, value: String, description: Option<String>) -> MemoryBlock {
    let limit = DEFAULT_BLOCK_CHARS;
    MemoryBlock {
        label,
        value,
        description,
        limit,
        read_only: false,
        version: 1,
    }
}

fn is_too_long(value: &str, limit: u32) -> bool {
    value.chars().count() > usize::try_from(limit).unwrap_or(usize::MAX)
}

impl MemoryService for InMemoryBlocks {
    fn blocks(&self) -> BoxFuture<'_, Result<Vec<MemoryBlock>, MemoryError>> {
        Box::pin(ready(Ok(self.blocks.lock().values().cloned().collect())))
    }

    fn get<'a>(&'a self, label: &'a str) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(ready(
            self.blocks
                .lock()
                .get(label)
                .cloned()
                .ok_or(MemoryError::NotFound),
        ))
    }

    fn put<'a>(
        &'a self,
        label: &'a str,
        value: String,
        version: u64,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(ready(self.write(label, value, version)))
    }

    fn create<'a>(
        &'a self,
        label: &'a str,
        value: String,
        description: Option<String>,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(ready(self.make(block(
            label.to_owned(),
            value,
            description,
        ))))
    }

    fn delete<'a>(&'a self, label: &'a str) -> BoxFuture<'a, Result<(), MemoryError>> {
        Box::pin(ready(self.remove(label)))
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// Everything here is ready at once.
    fn block_on<T>(future: BoxFuture<'_, T>) -> T {
        future.now_or_never().expect("nothing waits")
    }

    #[test]
    fn a_block_is_written_only_at_the_version_that_was_read() {
        let memory = InMemoryBlocks::new();
        memory.set("human", "Ada");
        let read = block_on(memory.get("human")).expect("there");
        let written = block_on(memory.put("human", "Grace".into(), read.version)).expect("written");
        assert_eq!(
            block_on(memory.put("human", "Alan".into(), read.version)),
            Err(MemoryError::Conflict(written.version))
        );
        assert_eq!(memory.value("human").as_deref(), Some("Grace"));
    }

    #[test]
    fn read_only_and_overlong_writes_are_refused() {
        let memory = InMemoryBlocks::new();
        memory.set_read_only("policy", "be kind");
        assert_eq!(
            block_on(memory.put("policy", String::new(), 1)),
            Err(MemoryError::ReadOnly)
        );
        assert_eq!(
            block_on(memory.delete("policy")),
            Err(MemoryError::ReadOnly)
        );
        let long = "ä".repeat(DEFAULT_BLOCK_CHARS as usize + 1);
        assert_eq!(
            block_on(memory.create("notes", long, None)),
            Err(MemoryError::TooLong(DEFAULT_BLOCK_CHARS))
        );
    }
}
