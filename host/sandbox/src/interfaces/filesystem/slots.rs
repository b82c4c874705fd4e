//! Counted slots for file descriptors and streams.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicU64, Ordering},
};

use super::limits::{CALL_SHARE, FALLBACK_DESCRIPTORS, GUEST_SHARE, MAX_DESCRIPTORS, MAX_STREAMS};

/// A number of slots of which some are taken.
#[derive(Debug)]
struct Counter {
    taken: AtomicU64,
    max: u64,
}

/// A taken slot; dropping it frees it.
#[derive(Debug)]
pub(super) struct Slot(Vec<Arc<Counter>>);

/// The slots of one call.
#[derive(Debug)]
pub(super) struct Slots {
    descriptors: Arc<Counter>,
    streams: Arc<Counter>,
}

/// File descriptors of all guests of this process together.
static PROCESS: LazyLock<Arc<Counter>> = LazyLock::new(|| {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let limit = limit.current.unwrap_or(FALLBACK_DESCRIPTORS);
    Arc::new(Counter::new(limit / GUEST_SHARE))
});

impl Counter {
    fn new(max: u64) -> Self {
        Self {
            taken: AtomicU64::new(0),
            max,
        }
    }

    fn take(&self) -> bool {
        let one_more = |taken| (taken < self.max).then_some(taken + 1);
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .is_ok()
    }
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            descriptors: Arc::new(Counter::new(MAX_DESCRIPTORS.min(PROCESS.max / CALL_SHARE))),
            streams: Arc::new(Counter::new(MAX_STREAMS)),
        }
    }
}

impl Slots {
    /// A slot for a file descriptor, or none if the call or the process has no more.
    pub(super) fn descriptor(&self) -> Option<Slot> {
        Slot::take([&self.descriptors, &PROCESS])
    }

    /// A slot for a stream, or none if the call has no more.
    pub(super) fn stream(&self) -> Option<Slot> {
        Slot::take([&self.streams])
    }
}

impl Slot {
    /// Takes one of each. What was taken before one had no more is freed by the drop.
    fn take<'a>(counters: impl IntoIterator<Item = &'a Arc<Counter>>) -> Option<Self> {
        let mut slot = Self(Vec::with_capacity(2));
        for counter in counters {
            if !counter.take() {
                return None;
            }
            slot.0.push(Arc::clone(counter));
        }
        Some(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        for counter in &self.0 {
            counter.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_free_again_when_it_is_dropped() {
        let slots = Slots::default();
        let taken: Vec<_> = std::iter::from_fn(|| slots.stream()).collect();
        assert_eq!(taken.len() as u64, MAX_STREAMS);
        drop(taken);
        assert!(slots.stream().is_some());
    }

    #[test]
    fn a_slot_that_only_half_exists_takes_nothing() {
        let plenty = Arc::new(Counter::new(10));
        let none = Arc::new(Counter::new(0));
        assert!(Slot::take([&plenty, &none]).is_none());
        assert_eq!(plenty.taken.load(Ordering::Relaxed), 0);
    }
}
