//! What one call may still write to one folder.

use std::sync::atomic::{AtomicU64, Ordering};

use super::limits::MAX_CREATED;

/// Bytes and entries that one call may still add to one folder, shared by all descriptors and
/// streams of the folder. Nothing that was used comes back by deleting it: the quota bounds
/// what a call writes, not what it leaves.
#[derive(Debug)]
pub(super) struct Budget {
    quota: u64,
    bytes: AtomicU64,
    entries: AtomicU64,
}

impl Budget {
    pub(super) fn new(quota: u64) -> Self {
        Self {
            quota,
            bytes: AtomicU64::new(quota),
            entries: AtomicU64::new(MAX_CREATED),
        }
    }

    /// The bytes that the call could write at its beginning.
    pub(super) fn quota(&self) -> u64 {
        self.quota
    }

    /// Takes all of `bytes`, or nothing if fewer are left.
    pub(super) fn take_bytes(&self, bytes: u64) -> bool {
        take(&self.bytes, bytes)
    }

    /// Gives bytes back that were taken and not written.
    pub(super) fn return_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes one entry, if one is left.
    pub(super) fn take_entry(&self) -> bool {
        take(&self.entries, 1)
    }

    /// Gives an entry back that was taken and not made.
    pub(super) fn return_entry(&self) {
        self.entries.fetch_add(1, Ordering::Relaxed);
    }
}

fn take(left: &AtomicU64, amount: u64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(amount)
    })
    .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_over_the_quota_take_nothing() {
        let budget = Budget::new(10);
        assert!(budget.take_bytes(8));
        assert!(!budget.take_bytes(3));
        assert!(budget.take_bytes(2));
        assert!(!budget.take_bytes(1));
        assert!(budget.take_bytes(0));
        budget.return_bytes(1);
        assert!(budget.take_bytes(1));
    }
}
