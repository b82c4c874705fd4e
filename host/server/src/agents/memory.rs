//! Memory blocks as source finds them, and what it makes of them.
//!
//! Source works on a copy of the blocks, which is written when the source has returned: only over
//! what it found, so that it never undoes what somebody else wrote meanwhile.

use std::collections::BTreeMap;

use bulkhead_sandbox::services::{MemoryBlock, MemoryError, MemoryService};

/// How often a block is looked at anew that was written meanwhile and has the same text again.
const ATTEMPTS: u32 = 8;

/// The blocks of an agent as a call found them, by label.
pub(super) struct Found(BTreeMap<String, MemoryBlock>);

impl Found {
    /// The blocks as they are now.
    ///
    /// # Errors
    /// Why they could not be read, for the model.
    pub(super) async fn of(memory: &dyn MemoryService) -> Result<Self, String> {
        let blocks = memory.blocks().await;
        let blocks = blocks.map_err(|error| format!("MemoryError: {}", told(error)))?;
        let blocks = blocks.into_iter().map(|block| (block.label.clone(), block));
        Ok(Self(blocks.collect()))
    }

    /// The text that a block had.
    pub(super) fn value(&self, label: &str) -> Option<&str> {
        self.0.get(label).map(|block| block.value.as_str())
    }

    /// Writes the blocks that source changed, label to new text. Where one of them can't be written,
    /// none is, unless that came out while the others were being written.
    ///
    /// # Errors
    /// What was not written and why, for the model.
    pub(super) async fn write(
        &self,
        memory: &dyn MemoryService,
        changed: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        for (label, value) in changed {
            let replaced = self.replaced(memory, label, value).await;
            replaced.map_err(|reason| refusal(label, &reason, &[]))?;
        }
        let mut written = Vec::new();
        for (label, value) in changed {
            let put = self.put(memory, label, value).await;
            put.map_err(|reason| refusal(label, &reason, &written))?;
            written.push(label.as_str());
        }
        Ok(())
    }

    async fn put(
        &self,
        memory: &dyn MemoryService,
        label: &str,
        value: &str,
    ) -> Result<(), String> {
        for _ in 0..ATTEMPTS {
            let Some(version) = self.replaced(memory, label, value).await? else {
                return Ok(());
            };
            match memory.put(label, value.to_owned(), version).await {
                Ok(_) => return Ok(()),
                Err(MemoryError::Conflict(_)) => {}
                Err(error) => return Err(told(error)),
            }
        }
        Err("others change it all the time".to_owned())
    }

    /// The version that a new text takes the place of; none where the block has this text already.
    async fn replaced(
        &self,
        memory: &dyn MemoryService,
        label: &str,
        value: &str,
    ) -> Result<Option<u64>, String> {
        let now = memory.get(label).await.map_err(told)?;
        if now.value == value {
            return Ok(None);
        }
        if now.read_only {
            return Err(told(MemoryError::ReadOnly));
        }
        match self.value(label) {
            Some(found) if found == now.value => Ok(Some(now.version)),
            _ => Err(told(MemoryError::Conflict(now.version))),
        }
    }
}

fn refusal(label: &str, reason: &str, written: &[&str]) -> String {
    let but = match written {
        [] => "nothing was written".to_owned(),
        others => format!("only {} was written", others.join(", ")),
    };
    format!("MemoryError: block {label}: {reason} ({but})")
}

fn told(error: MemoryError) -> String {
    match error {
        MemoryError::NotFound => "it is not there any more".to_owned(),
        MemoryError::ReadOnly => "This block is read-only and cannot be edited.".to_owned(),
        MemoryError::TooLong(limit) => format!("it may have {limit} characters at most"),
        MemoryError::Conflict(_) => {
            "somebody else changed it while the tool ran; look at it again and repeat the change"
                .to_owned()
        }
        MemoryError::Unavailable(text) => text,
    }
}
