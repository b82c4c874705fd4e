//! Schemas of tools that were called, compiled and kept: compiling takes a hundred times as long as
//! checking. Both happen on threads that nobody else waits for.

use std::{collections::HashMap, sync::Arc};

use bulkhead_domain::{Problem, Timestamp};
use bulkhead_sandbox::InputCheck;
use bulkhead_store::ToolRecord;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Semaphore;

/// Bytes of all that is kept, as schemas estimate it.
const BYTES_MAX: u64 = 64 << 20;
/// Bytes of one that is kept; a larger one is compiled for each call.
const ONE_MAX: u64 = 8 << 20;
/// Schemas that are kept, so that the oldest is soon found.
const COUNT_MAX: usize = 512;
/// Threads that compile and check at once; calls of all tools but those wait.
const AT_ONCE: usize = 4;

/// Which schema: the tool's id, and when it was changed last.
type Key = (String, Timestamp);

/// Compiled schemas of tools.
pub(crate) struct Checks {
    kept: Mutex<Kept>,
    at_once: Arc<Semaphore>,
}

#[derive(Default)]
struct Kept {
    checks: HashMap<Key, Entry>,
    bytes: u64,
    /// Counts uses, to know which was not used for the longest time.
    uses: u64,
}

struct Entry {
    check: Arc<InputCheck>,
    used: u64,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}

impl Checks {
    /// The value back, where it matches the tool's schema; otherwise its problems. A schema that can't
    /// be compiled any more is the server's to check, as it is where this server stops.
    pub(crate) async fn check(
        self: &Arc<Self>,
        tool: &Arc<ToolRecord>,
        value: Value,
    ) -> Result<Value, Vec<Problem>> {
        let Ok(place) = Arc::clone(&self.at_once).acquire_owned().await else {
            return Ok(value);
        };
        let (checks, tool) = (Arc::clone(self), Arc::clone(tool));
        let checked = tokio::task::spawn_blocking(move || {
            // Held until it ends, even where nobody waits any more.
            let _place = place;
            match checks.compiled(&tool) {
                Some(check) => check.check(&value).map(|()| value),
                None => Ok(value),
            }
        });
        checked.await.unwrap_or_else(|_| {
            Err(vec![Problem {
                at: String::new(),
                message: "the arguments could not be checked".to_owned(),
            }])
        })
    }

    fn compiled(&self, tool: &ToolRecord) -> Option<Arc<InputCheck>> {
        let key = (tool.id.clone(), tool.updated_at);
        if let Some(found) = self.kept.lock().find(&key) {
            return Some(found);
        }
        let schema = tool.args_json_schema.as_ref()?;
        let check = Arc::new(InputCheck::new(schema).ok()?);
        self.kept.lock().keep(key, &check);
        Some(check)
    }
}

impl Kept {
    fn find(&mut self, key: &Key) -> Option<Arc<InputCheck>> {
        self.uses += 1;
        let entry = self.checks.get_mut(key)?;
        entry.used = self.uses;
        Some(Arc::clone(&entry.check))
    }

    fn keep(&mut self, key: Key, check: &Arc<InputCheck>) {
        let weight = check.weight();
        if weight > ONE_MAX {
            return;
        }
        while self.checks.len() >= COUNT_MAX || self.bytes.saturating_add(weight) > BYTES_MAX {
            let oldest = self.checks.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.remove(&oldest);
        }
        self.remove(&key);
        self.bytes += weight;
        let entry = Entry {
            check: Arc::clone(check),
            used: self.uses,
        };
        self.checks.insert(key, entry);
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.checks.remove(key) {
            self.bytes -= entry.check.weight();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(patterns: usize) -> Arc<InputCheck> {
        let all = (0..patterns).map(|at| (format!("^a{at}"), json!({})));
        let all: serde_json::Map<_, _> = all.collect();
        let schema = json!({ "type": "object", "patternProperties": all });
        Arc::new(InputCheck::new(&schema).expect("a schema"))
    }

    fn key(name: &str) -> Key {
        (name.to_owned(), Timestamp::now())
    }

    #[test]
    fn the_oldest_goes_where_there_is_no_room_and_large_ones_are_not_kept() {
        let mut kept = Kept::default();
        let first = key("first");
        kept.keep(first.clone(), &check(10));
        let second = key("second");
        kept.keep(second.clone(), &check(10));
        assert!(kept.find(&first).is_some());
        for at in 0..COUNT_MAX {
            if kept.bytes + check(10).weight() > BYTES_MAX {
                break;
            }
            kept.keep(key(&at.to_string()), &check(10));
        }
        kept.keep(key("last"), &check(10));
        assert!(kept.find(&second).is_none() && kept.find(&first).is_some());
        assert!(kept.bytes <= BYTES_MAX);
        let large = key("large");
        kept.keep(large.clone(), &check(64));
        assert!(kept.find(&large).is_none());
        let bytes: u64 = kept.checks.values().map(|entry| entry.check.weight()).sum();
        assert_eq!(kept.bytes, bytes);
    }
}
