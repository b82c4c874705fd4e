//! Durable state that lasts as long as the process.

use std::collections::BTreeMap;

use bulkhead_sandbox::services::{Namespace, StateEntry, StateError, StateService};
use futures::future::{BoxFuture, ready};
use parking_lot::Mutex;

/// Keys of all namespaces together: far more than a test needs, and an end for a tool that
/// writes in a loop.
const MAX_KEYS: usize = 100_000;

/// The `state` interface over a map. What is written is gone with the process.
#[derive(Debug, Default)]
pub struct InMemoryState {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: BTreeMap<(Namespace, String), StateEntry>,
    /// Counts every write, so that a key that is deleted and made anew gets another version.
    writes: u64,
}

impl InMemoryState {
    /// State without any key.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every namespace, key and value, for assertions.
    pub fn entries(&self) -> Vec<(Namespace, String, Vec<u8>)> {
        let inner = self.inner.lock();
        let entries = inner.entries.iter();
        entries
            .map(|((namespace, key), entry)| (namespace.clone(), key.clone(), entry.value.clone()))
            .collect()
    }
}

impl Inner {
    fn version(&self, at: &(Namespace, String)) -> u64 {
        self.entries.get(at).map_or(0, |entry| entry.version)
    }

    fn put(
        &mut self,
        at: (Namespace, String),
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> Result<u64, StateError> {
        let found = self.version(&at);
        if found != expected.unwrap_or(0) {
            return Err(StateError::Conflict(found));
        }
        if found == 0 && self.entries.len() >= MAX_KEYS {
            return Err(StateError::Quota(format!("at most {MAX_KEYS} keys")));
        }
        self.writes += 1;
        let version = self.writes;
        self.entries.insert(at, StateEntry { value, version });
        Ok(version)
    }

    fn delete(&mut self, at: &(Namespace, String), expected: u64) -> Result<(), StateError> {
        let found = self.version(at);
        if found != expected || found == 0 {
            return Err(StateError::Conflict(found));
        }
        self.entries.remove(at);
        Ok(())
    }
}

impl StateService for InMemoryState {
    fn get<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StateEntry>, StateError>> {
        let at = (namespace.clone(), key.to_owned());
        Box::pin(ready(Ok(self.inner.lock().entries.get(&at).cloned())))
    }

    fn put<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, StateError>> {
        let at = (namespace.clone(), key.to_owned());
        Box::pin(ready(self.inner.lock().put(at, value, expected)))
    }

    fn delete<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        expected: u64,
    ) -> BoxFuture<'a, Result<(), StateError>> {
        let at = (namespace.clone(), key.to_owned());
        Box::pin(ready(self.inner.lock().delete(&at, expected)))
    }

    fn keys<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StateError>> {
        let inner = self.inner.lock();
        let from = (namespace.clone(), prefix.to_owned());
        let keys = inner
            .entries
            .range(from..)
            .map(|((owner, key), _)| (owner, key));
        let keys = keys
            .take_while(|(owner, key)| *owner == namespace && key.starts_with(prefix))
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .map(|(_, key)| key.clone());
        Box::pin(ready(Ok(keys.collect())))
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

    fn owner(tool: &str) -> Namespace {
        Namespace {
            tool: tool.to_owned(),
            agent: String::new(),
        }
    }

    #[test]
    fn a_write_needs_the_version_that_is_there() {
        let state = InMemoryState::new();
        let mine = owner("a/b");
        let first = block_on(state.put(&mine, "k", b"1".to_vec(), None)).expect("new");
        assert_eq!(
            block_on(state.put(&mine, "k", b"2".to_vec(), None)),
            Err(StateError::Conflict(first))
        );
        let second = block_on(state.put(&mine, "k", b"2".to_vec(), Some(first))).expect("next");
        assert_eq!(
            block_on(state.delete(&mine, "k", first)),
            Err(StateError::Conflict(second))
        );
        assert_eq!(block_on(state.delete(&mine, "k", second)), Ok(()));
        let third = block_on(state.put(&mine, "k", b"3".to_vec(), None)).expect("new again");
        assert!(third > second, "a version never comes back");
    }

    #[test]
    fn keys_come_in_order_and_only_from_the_own_namespace() {
        let state = InMemoryState::new();
        for (tool, key) in [("a", "x/2"), ("a", "x/1"), ("a", "y"), ("b", "x/0")] {
            block_on(state.put(&owner(tool), key, Vec::new(), None)).expect("new");
        }
        let keys = |limit| block_on(state.keys(&owner("a"), "x/", limit)).expect("keys");
        assert_eq!(keys(10), ["x/1", "x/2"]);
        assert_eq!(keys(1), ["x/1"]);
        assert_eq!(block_on(state.get(&owner("b"), "y")), Ok(None));
    }
}
