//! Compiled components in memory.

use std::{
    collections::HashMap,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bulkhead_domain::Digest;
use bulkhead_sandbox::Component;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::http::error::Rejection;

/// Components in memory at once; the least recently used go first and come back from the cache
/// on disk in milliseconds. Each holds its compiled code in memory, a few megabytes as a rule.
const LOADED_MAX: usize = 512;

/// Components by digest, each loaded once even where many tasks want it at the same time.
#[derive(Default)]
pub(crate) struct Loaded {
    entries: Mutex<HashMap<Digest, Arc<Entry>>>,
    /// Counts uses; stands in for a clock.
    uses: Arc<AtomicU64>,
}

/// A component that is loaded or being loaded.
pub(crate) struct Entry {
    component: OnceCell<Component>,
    /// Its last use.
    used: AtomicU64,
    uses: Arc<AtomicU64>,
}

impl Entry {
    /// Marks it as used.
    pub(crate) fn touch(&self) {
        self.used
            .store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(crate) fn component(&self) -> Option<&Component> {
        self.component.get()
    }

    /// The component; the first task that asks loads it, the others wait for that one. A
    /// failure is not kept: the next task tries again.
    pub(crate) async fn get_or_load<F>(
        &self,
        load: impl FnOnce() -> F,
    ) -> Result<&Component, Rejection>
    where
        F: Future<Output = Result<Component, Rejection>>,
    {
        self.component.get_or_try_init(load).await
    }
}

impl Loaded {
    /// The entry of a digest and whether its component was there already.
    pub(crate) fn entry(&self, digest: Digest) -> (Arc<Entry>, bool) {
        let entry = Arc::clone(
            self.entries
                .lock()
                .entry(digest)
                .or_insert_with(|| self.new_entry(OnceCell::new())),
        );
        entry.touch();
        let was_there = entry.component.initialized();
        (entry, was_there)
    }

    /// Keeps a component that was just installed.
    pub(crate) fn insert(&self, component: Component) {
        let digest = component.digest();
        let entry = self.new_entry(OnceCell::new_with(Some(component)));
        entry.touch();
        self.entries.lock().insert(digest, entry);
    }

    fn new_entry(&self, component: OnceCell<Component>) -> Arc<Entry> {
        Arc::new(Entry {
            component,
            used: AtomicU64::new(0),
            uses: Arc::clone(&self.uses),
        })
    }

    pub(crate) fn forget(&self, digest: &Digest) {
        self.entries.lock().remove(digest);
    }

    /// Lets the least recently used go while there are too many. Whether any went.
    pub(crate) fn evict(&self) -> bool {
        let mut entries = self.entries.lock();
        let mut evicted = false;
        while entries.len() > LOADED_MAX {
            let oldest = entries
                .iter()
                .min_by_key(|(_, entry)| entry.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(digest, _)| *digest) else {
                break;
            };
            entries.remove(&oldest);
            evicted = true;
        }
        evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_first() {
        let loaded = Loaded::default();
        let digest = |i: usize| Digest::of(&i.to_le_bytes());
        for i in 0..LOADED_MAX {
            loaded.entry(digest(i));
        }
        assert!(!loaded.evict());
        loaded.entry(digest(0));
        loaded.entry(digest(LOADED_MAX));
        assert!(loaded.evict());
        let entries = loaded.entries.lock();
        assert_eq!(entries.len(), LOADED_MAX);
        assert!(entries.contains_key(&digest(0)));
        assert!(!entries.contains_key(&digest(1)));
    }
}
