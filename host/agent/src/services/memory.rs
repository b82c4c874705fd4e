//! The agent's memory blocks.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering},
};

use bulkhead_domain::{
    Block,
    id::{AgentId, BlockId},
};
use bulkhead_sandbox::services::{MemoryBlock, MemoryError, MemoryService};
use bulkhead_store::{Store, StoreError};
use futures::future::BoxFuture;
use parking_lot::Mutex;

use super::unavailable;

/// The memory of one agent, for the calls of one step. Writes are stored at once.
pub(crate) struct AgentMemory {
    store: Store,
    agent_id: AgentId,
    /// Blocks of the conversation that stand in the place of the agent's, by label.
    isolated: BTreeMap<String, BlockId>,
    changed: AtomicBool,
    /// Written blocks that other threads and agents may have too.
    shared: Mutex<BTreeSet<BlockId>>,
}

impl AgentMemory {
    pub(crate) fn new(
        store: Store,
        agent_id: AgentId,
        isolated: BTreeMap<String, BlockId>,
    ) -> Self {
        Self {
            store,
            agent_id,
            isolated,
            changed: AtomicBool::new(false),
            shared: Mutex::default(),
        }
    }

    /// Whether something was written.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed.load(Ordering::Acquire)
    }

    /// The blocks that were written, made or taken away, but those of the conversation alone.
    pub(crate) fn shared_changes(&self) -> BTreeSet<BlockId> {
        self.shared.lock().clone()
    }

    fn note(&self, block: BlockId) {
        if !self.isolated.values().any(|own| *own == block) {
            self.shared.lock().insert(block);
        }
        self.changed.store(true, Ordering::Release);
    }

    fn actor(&self) -> String {
        self.agent_id.to_string()
    }

    async fn find(&self, label: &str) -> Result<Option<Block>, StoreError> {
        match self.isolated.get(label) {
            Some(id) => self.store.block(id).await,
            None => self.store.block_of_agent(&self.agent_id, label).await,
        }
    }

    async fn write(&self, label: &str, value: &str, version: i64) -> Result<Block, StoreError> {
        let actor = self.actor();
        let Some(id) = self.isolated.get(label) else {
            let expected = Some(version);
            return self
                .store
                .set_block_value(&self.agent_id, label, value, expected, &actor)
                .await;
        };
        let value = value.to_owned();
        let edit = move |block: &mut Block| {
            if block.read_only {
                let (what, id) = ("block", block.label.clone());
                return Err(StoreError::ReadOnly { what, id });
            }
            if block.version != version {
                let current = u64::try_from(block.version).unwrap_or(0);
                return Err(StoreError::Conflict { current });
            }
            block.value = value;
            Ok(())
        };
        self.store.update_block(id, edit, &actor).await
    }
}

impl MemoryService for AgentMemory {
    fn blocks(&self) -> BoxFuture<'_, Result<Vec<MemoryBlock>, MemoryError>> {
        Box::pin(async move {
            let agents = [self.agent_id];
            let found = self.store.blocks_of(&agents).await.map_err(refused)?;
            let mut blocks = Vec::new();
            for block in found.into_values().flatten() {
                let own = match self.isolated.contains_key(&block.label) {
                    true => self.find(&block.label).await.map_err(refused)?,
                    false => None,
                };
                blocks.push(view(own.unwrap_or(block)));
            }
            Ok(blocks)
        })
    }

    fn get<'a>(&'a self, label: &'a str) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(async move {
            let found = self.find(label).await.map_err(refused)?;
            found.map(view).ok_or(MemoryError::NotFound)
        })
    }

    fn put<'a>(
        &'a self,
        label: &'a str,
        value: String,
        version: u64,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(async move {
            let version = i64::try_from(version).unwrap_or(i64::MAX);
            let written = self.write(label, &value, version).await.map_err(refused)?;
            self.note(written.id);
            Ok(view(written))
        })
    }

    fn create<'a>(
        &'a self,
        label: &'a str,
        value: String,
        description: Option<String>,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(async move {
            let block = Block {
                description,
                last_updated_by_id: Some(self.actor()),
                ..Block::new(label, value)
            };
            let made = self.store.create_block_for(&self.agent_id, &block).await;
            made.map_err(refused)?;
            self.note(block.id);
            Ok(view(block))
        })
    }

    fn delete<'a>(&'a self, label: &'a str) -> BoxFuture<'a, Result<(), MemoryError>> {
        Box::pin(async move {
            let block = self.find(label).await.map_err(refused)?;
            let block = block.ok_or(MemoryError::NotFound)?;
            if block.read_only {
                return Err(MemoryError::ReadOnly);
            }
            // The block itself stays: others may share it, and its history is worth keeping.
            let detached = self.store.detach_block(&self.agent_id, &block.id).await;
            detached.map_err(refused)?;
            self.note(block.id);
            Ok(())
        })
    }
}

fn view(block: Block) -> MemoryBlock {
    MemoryBlock {
        label: block.label,
        value: block.value,
        description: block.description,
        limit: u32::try_from(block.limit).unwrap_or(u32::MAX),
        read_only: block.read_only,
        version: u64::try_from(block.version).unwrap_or(0),
    }
}

fn refused(error: StoreError) -> MemoryError {
    match error {
        StoreError::NotFound { .. } => MemoryError::NotFound,
        StoreError::ReadOnly { .. } => MemoryError::ReadOnly,
        StoreError::Conflict { current } => MemoryError::Conflict(current),
        StoreError::NameTaken { .. } => MemoryError::Conflict(0),
        StoreError::Quota { limit, .. } => {
            MemoryError::TooLong(u32::try_from(limit).unwrap_or(u32::MAX))
        }
        other => MemoryError::Unavailable(unavailable(&other)),
    }
}
