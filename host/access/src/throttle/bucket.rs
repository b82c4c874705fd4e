//! Buckets of tries by key, of which the least used go first.
//!
//! A bucket is one point in time: when it will be full again. Taking a try moves that on, and a bucket
//! that is full already is like none.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    time::{Duration, Instant},
};

use super::Refused;

/// How many tries a bucket holds, and how fast they come back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    /// The time in which an empty bucket is full.
    window: Duration,
    /// The time in which one try comes back.
    each: Duration,
}

impl Rate {
    /// So many tries, which come back evenly over the window.
    pub(super) fn new(tries: u32, window: Duration) -> Self {
        let each = window / tries.max(1);
        Self {
            // No part of a try is lost in the rounding.
            window: each * tries.max(1),
            each,
        }
    }
}

#[derive(Debug)]
struct Bucket {
    full_at: Instant,
    /// Its place in the order of use.
    used: u64,
    /// Whether a try with this key has succeeded.
    is_trusted: bool,
}

/// The buckets of all keys.
#[derive(Debug)]
pub(super) struct Buckets<K> {
    rate: Rate,
    entries_max: usize,
    buckets: HashMap<K, Bucket>,
    /// Keys by their last use, the oldest first.
    order: BTreeMap<u64, K>,
    uses: u64,
}

impl<K: Copy + Eq + Hash> Buckets<K> {
    pub(super) fn new(rate: Rate, entries_max: usize) -> Self {
        Self {
            rate,
            entries_max,
            buckets: HashMap::new(),
            order: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Whether there is a try left.
    pub(super) fn check(&self, key: &K, now: Instant) -> Result<(), Refused> {
        let Some(bucket) = self.buckets.get(key) else {
            return Ok(());
        };
        let missing = bucket.full_at.saturating_duration_since(now) + self.rate.each;
        match missing.checked_sub(self.rate.window) {
            None | Some(Duration::ZERO) => Ok(()),
            Some(retry_after) => Err(Refused { retry_after }),
        }
    }

    /// Takes a try, which [`Buckets::check`] has found.
    pub(super) fn take(&mut self, key: K, now: Instant) {
        self.uses += 1;
        let (full_at, is_trusted) = match self.buckets.get(&key) {
            Some(bucket) => {
                self.order.remove(&bucket.used);
                (bucket.full_at.max(now), bucket.is_trusted)
            }
            None => {
                if self.buckets.len() >= self.entries_max
                    && let Some((_, oldest)) = self.order.pop_first()
                {
                    self.buckets.remove(&oldest);
                }
                (now, false)
            }
        };
        self.order.insert(self.uses, key);
        let bucket = Bucket {
            full_at: full_at + self.rate.each,
            used: self.uses,
            is_trusted,
        };
        self.buckets.insert(key, bucket);
    }

    /// Puts a try back.
    pub(super) fn give_back(&mut self, key: &K) {
        if let Some(bucket) = self.buckets.get_mut(key)
            && let Some(full_at) = bucket.full_at.checked_sub(self.rate.each)
        {
            bucket.full_at = full_at;
        }
    }

    /// Notes that a try with this key has succeeded, until the entry goes.
    pub(super) fn trust(&mut self, key: &K) {
        if let Some(bucket) = self.buckets.get_mut(key) {
            bucket.is_trusted = true;
        }
    }

    /// Whether a try with this key has succeeded.
    pub(super) fn is_trusted(&self, key: &K) -> bool {
        self.buckets
            .get(key)
            .is_some_and(|bucket| bucket.is_trusted)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.buckets.len(), self.order.len());
        self.buckets.len()
    }
}
