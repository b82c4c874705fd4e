//! The entries of a folder, read in small batches and never collected.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use cap_std::fs::{DirEntry, ReadDir};

use super::{
    bindings::types::{DirectoryEntry, ErrorCode},
    blocking,
    error::{FsResult, code_of},
    journal::{Traffic, Way},
    limits::LISTING_BATCH,
    slots::Slot,
    stat::kind,
};

/// The resource `directory-entry-stream`.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct Listing {
    /// None while a batch is read, and at the end.
    rest: Option<ReadDir>,
    batch: VecDeque<Result<DirectoryEntry, ErrorCode>>,
    traffic: Arc<Traffic>,
    _slot: Slot,
}

impl Listing {
    pub(super) fn new(entries: ReadDir, traffic: Arc<Traffic>, slot: Slot) -> Self {
        Self {
            rest: Some(entries),
            batch: VecDeque::new(),
            traffic,
            _slot: slot,
        }
    }

    /// The next entry, none at the end.
    pub(super) async fn next(&mut self) -> FsResult<Option<DirectoryEntry>> {
        if self.batch.is_empty()
            && let Some(rest) = self.rest.take()
        {
            let since = Instant::now();
            let result = blocking(move || Ok(read_batch(rest))).await;
            let bytes = result
                .as_ref()
                .map(|(batch, _)| names(batch))
                .unwrap_or_default();
            self.traffic.count(since, Way::ToGuest(bytes), &result);
            (self.batch, self.rest) = result?;
        }
        Ok(self.batch.pop_front().transpose()?)
    }
}

type Batch = VecDeque<Result<DirectoryEntry, ErrorCode>>;

fn read_batch(mut entries: ReadDir) -> (Batch, Option<ReadDir>) {
    let mut batch = VecDeque::with_capacity(LISTING_BATCH);
    while batch.len() < LISTING_BATCH {
        match entries.next() {
            None => return (batch, None),
            // The system would give the same error for ever.
            Some(Err(error)) => {
                batch.push_back(Err(code_of(&error)));
                return (batch, None);
            }
            Some(Ok(found)) => batch.push_back(entry(&found)),
        }
    }
    (batch, Some(entries))
}

fn entry(found: &DirEntry) -> Result<DirectoryEntry, ErrorCode> {
    let name = found
        .file_name()
        .into_string()
        .map_err(|_| ErrorCode::IllegalByteSequence)?;
    let type_ = kind(found.file_type().map_err(|error| code_of(&error))?);
    Ok(DirectoryEntry { type_, name })
}

fn names(batch: &Batch) -> u64 {
    batch
        .iter()
        .flatten()
        .map(|entry| entry.name.len() as u64)
        .sum()
}
