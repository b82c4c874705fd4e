//! `bulkhead:tool/memory`: the agent's memory blocks whose labels are granted.

use std::sync::Arc;

use bulkhead_policy::capabilities::ANY;

use super::{
    entry::service,
    wit::memory::{Block, Host, MemoryError as WitError},
};
use crate::{
    services::{MemoryBlock, MemoryError, MemoryService},
    state::CallState,
};

impl CallState {
    fn may_see(&self, label: &str) -> bool {
        let rule = self.context.authority.capabilities.memory.as_ref();
        rule.is_some_and(|rule| rule.labels.contains(ANY) || rule.labels.contains(label))
    }

    /// The memory, if `granted`; the refusal speaks of `what` and of the block with `label`.
    fn memory_service(
        &mut self,
        granted: bool,
        what: &str,
        label: &str,
    ) -> Result<Arc<dyn MemoryService>, WitError> {
        let suffix = if what == READING { "" } else { ":rw" };
        let what = || format!("{what} the memory block \"{label}\"");
        let flag = || format!("--memory-block {label}{suffix}");
        self.require::<WitError>(granted, "memory", what, flag)?;
        service(self.context.services.memory.clone(), "memory")
    }

    fn readable(&mut self, label: &str) -> Result<Arc<dyn MemoryService>, WitError> {
        let granted = self.may_see(label);
        self.memory_service(granted, READING, label)
    }

    fn writable(&mut self, label: &str) -> Result<Arc<dyn MemoryService>, WitError> {
        let rule = self.context.authority.capabilities.memory.as_ref();
        let granted = rule.is_some_and(|rule| rule.write) && self.may_see(label);
        self.memory_service(granted, "writing", label)
    }
}

const READING: &str = "reading";

impl Host for CallState {
    async fn blocks(&mut self) -> wasmtime::Result<Result<Vec<Block>, WitError>> {
        let begun = self.begin("memory", "blocks", None, 0).await;
        let result = async {
            let granted = self.context.authority.capabilities.memory.is_some();
            let service = self.memory_service(granted, READING, ANY)?;
            let blocks = service.blocks().await?.into_iter();
            Ok(blocks
                .filter(|block| self.may_see(&block.label))
                .map(Block::from)
                .collect())
        };
        let result = result.await;
        Ok(self.end(begun, result, |blocks: &Vec<Block>| {
            blocks.iter().map(|block| block.value.len()).sum()
        }))
    }

    async fn get(&mut self, label: String) -> wasmtime::Result<Result<Block, WitError>> {
        let begun = self.begin("memory", "get", Some(&label), label.len()).await;
        let result = async {
            let service = self.readable(&label)?;
            Ok(service.get(&label).await?.into())
        };
        let result = result.await;
        Ok(self.end(begun, result, |block: &Block| block.value.len()))
    }

    async fn put(
        &mut self,
        label: String,
        value: String,
        version: u64,
    ) -> wasmtime::Result<Result<Block, WitError>> {
        let begun = self.begin("memory", "put", Some(&label), value.len()).await;
        let result = async {
            self.keep_secrets::<WitError>("memory", &[value.as_bytes()])?;
            let service = self.writable(&label)?;
            Ok(service.put(&label, value, version).await?.into())
        };
        let result = result.await;
        Ok(self.end(begun, result, |_| 0))
    }

    async fn create(
        &mut self,
        label: String,
        value: String,
        description: Option<String>,
    ) -> wasmtime::Result<Result<Block, WitError>> {
        let bytes = value.len() + description.as_ref().map_or(0, String::len);
        let begun = self.begin("memory", "create", Some(&label), bytes).await;
        let result = async {
            for text in [&label, &value].into_iter().chain(&description) {
                self.keep_secrets::<WitError>("memory", &[text.as_bytes()])?;
            }
            let service = self.writable(&label)?;
            Ok(service.create(&label, value, description).await?.into())
        };
        let result = result.await;
        Ok(self.end(begun, result, |_| 0))
    }

    async fn delete(&mut self, label: String) -> wasmtime::Result<Result<(), WitError>> {
        let begun = self
            .begin("memory", "delete", Some(&label), label.len())
            .await;
        let result = async {
            let service = self.writable(&label)?;
            Ok(service.delete(&label).await?)
        };
        let result = result.await;
        Ok(self.end(begun, result, |()| 0))
    }
}

impl From<MemoryBlock> for Block {
    fn from(block: MemoryBlock) -> Self {
        let MemoryBlock {
            label,
            value,
            description,
            limit,
            read_only,
            version,
        } = block;
        Self {
            label,
            value,
            description,
            limit,
            read_only,
            version,
        }
    }
}

impl From<MemoryError> for WitError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::NotFound => Self::NotFound,
            MemoryError::ReadOnly => Self::ReadOnly,
            MemoryError::TooLong(limit) => Self::TooLong(limit),
            MemoryError::Conflict(version) => Self::Conflict(version),
            MemoryError::Unavailable(message) => Self::Unavailable(message),
        }
    }
}
