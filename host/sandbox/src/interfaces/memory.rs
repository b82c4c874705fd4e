//! `bulkhead:tool/memory`: the agent's memory blocks whose labels are granted.

use std::sync::Arc;

use bulkhead_domain::HostCallOutcome;
use bulkhead_policy::capabilities::ANY;

use super::{
    missing_grant, unavailable,
    wit::memory::{Block, Host, MemoryError as WitError},
};
use crate::{
    recorder::Begun,
    services::{MemoryBlock, MemoryError, MemoryService},
    state::CallState,
};

impl CallState {
    fn may_see(&self, label: &str) -> bool {
        let rule = self.context.authority.capabilities.memory.as_ref();
        rule.is_some_and(|rule| rule.labels.contains(ANY) || rule.labels.contains(label))
    }

    fn memory_service(
        &mut self,
        label: &str,
        write: bool,
    ) -> Result<Arc<dyn MemoryService>, WitError> {
        let rule = self.context.authority.capabilities.memory.as_ref();
        let allowed = self.may_see(label) && (!write || rule.is_some_and(|rule| rule.write));
        if !allowed {
            let (what, suffix) = if write {
                ("writing", ":rw")
            } else {
                ("reading", "")
            };
            let what = format!("{what} the memory block \"{label}\"");
            let message = missing_grant(&what, &format!("--memory-block {label}{suffix}"));
            self.recorder.deny("memory", message.clone());
            return Err(WitError::Denied(message));
        }
        let service = self.context.services.memory.clone();
        service.ok_or_else(|| WitError::Unavailable(unavailable("memory")))
    }

    /// As [`Self::memory_service`] for writing `value`, which the model will read.
    fn guarded_memory(
        &mut self,
        label: &str,
        value: &str,
    ) -> Result<Arc<dyn MemoryService>, WitError> {
        match self.leak("memory", value.as_bytes()) {
            Some(message) => Err(WitError::Denied(message)),
            None => self.memory_service(label, true),
        }
    }

    fn end_memory<T>(
        &mut self,
        begun: Begun,
        result: Result<T, WitError>,
        bytes: impl Fn(&T) -> usize,
    ) -> Result<T, WitError> {
        let (bytes, outcome) = match &result {
            Ok(value) => (bytes(value), HostCallOutcome::Ok),
            Err(WitError::Denied(_)) => (0, HostCallOutcome::Denied),
            Err(_) => (0, HostCallOutcome::Failed),
        };
        self.recorder.end(begun, bytes, outcome);
        result
    }
}

impl Host for CallState {
    async fn blocks(&mut self) -> wasmtime::Result<Result<Vec<Block>, WitError>> {
        self.breathe(0).await;
        let begun = self.recorder.begin("memory", "blocks", None, 0);
        let result = if self.context.authority.capabilities.memory.is_none() {
            self.memory_service(ANY, false).map(|_| Vec::new())
        } else {
            match self.context.services.memory.clone() {
                Some(service) => service
                    .blocks()
                    .await
                    .map_err(WitError::from)
                    .map(|blocks| {
                        let seen = blocks
                            .into_iter()
                            .filter(|block| self.may_see(&block.label));
                        seen.map(Block::from).collect()
                    }),
                None => Err(WitError::Unavailable(unavailable("memory"))),
            }
        };
        Ok(self.end_memory(begun, result, |blocks: &Vec<Block>| {
            blocks.iter().map(|block| block.value.len()).sum()
        }))
    }

    async fn get(&mut self, label: String) -> wasmtime::Result<Result<Block, WitError>> {
        self.breathe(label.len()).await;
        let begun = self
            .recorder
            .begin("memory", "get", Some(&label), label.len());
        let result = match self.memory_service(&label, false) {
            Ok(service) => service
                .get(&label)
                .await
                .map(Block::from)
                .map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_memory(begun, result, |block| block.value.len()))
    }

    async fn put(
        &mut self,
        label: String,
        value: String,
        version: u64,
    ) -> wasmtime::Result<Result<Block, WitError>> {
        self.breathe(value.len()).await;
        let begun = self
            .recorder
            .begin("memory", "put", Some(&label), value.len());
        let result = match self.guarded_memory(&label, &value) {
            Ok(service) => {
                let written = service.put(&label, value, version).await;
                written.map(Block::from).map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_memory(begun, result, |_| 0))
    }

    async fn create(
        &mut self,
        label: String,
        value: String,
        description: Option<String>,
    ) -> wasmtime::Result<Result<Block, WitError>> {
        self.breathe(value.len()).await;
        let begun = self
            .recorder
            .begin("memory", "create", Some(&label), value.len());
        let result = match self.guarded_memory(&label, &value) {
            Ok(service) => {
                let made = service.create(&label, value, description).await;
                made.map(Block::from).map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_memory(begun, result, |_| 0))
    }

    async fn delete(&mut self, label: String) -> wasmtime::Result<Result<(), WitError>> {
        self.breathe(label.len()).await;
        let begun = self
            .recorder
            .begin("memory", "delete", Some(&label), label.len());
        let result = match self.memory_service(&label, true) {
            Ok(service) => service.delete(&label).await.map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_memory(begun, result, |()| 0))
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
