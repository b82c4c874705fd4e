//! Room for calls: slots in which they run, and places for those that ask agents.
//!
//! A tool that asks an agent waits for a run, which may wait for its turn behind others, whose tools
//! need slots. If the tool kept its own slot meanwhile, calls that hold all slots could wait for calls
//! that get none. So it leaves its slot for a place among those that ask. When it has its answer it takes
//! a slot where one is free, and else keeps its place.
//! Nobody waits for such a place: a tool that finds none does not ask. Whoever has a slot therefore waits
//! for nobody who needs one, whoever asks whom and in which order threads are worked on.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bulkhead_domain::Outcome;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{Failure, Settings};

/// Calls that ask agents, for each slot. Of five agents that wait for each other in a row, which is as
/// many as may, four ask: even one slot is enough for the tools of all.
const ASKING_PER_SLOT: usize = 4;
/// Such calls at most, as many as go with the slots that a server has by default. For each the pool
/// reserves some 32 GiB of address space, of which there are 128 TiB.
const ASKING_MOST: usize = 256;

/// How many calls there is room for, and who has it.
pub(crate) struct Slots {
    room: usize,
    queue: usize,
    queue_timeout: Duration,
    free: Arc<Semaphore>,
    asking: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Room for a call and those that it makes by way of `peers`.
#[derive(Debug)]
pub(crate) struct Slot {
    free: Arc<Semaphore>,
    asking: Arc<Semaphore>,
    place: Mutex<Place>,
}

/// Where a call has its room, which is given back when this is dropped.
#[derive(Debug)]
struct Place {
    asks: bool,
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            room: Self::room(settings),
            queue: settings.queue,
            queue_timeout: settings.queue_timeout,
            free: Arc::new(Semaphore::new(settings.slots)),
            asking: Arc::new(Semaphore::new(asking(settings))),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Calls that there is room for at once.
    pub(crate) fn room(settings: &Settings) -> usize {
        settings.slots.saturating_add(asking(settings))
    }

    /// Calls that run, those that ask included.
    pub(crate) fn running(&self) -> usize {
        let left = self.free.available_permits() + self.asking.available_permits();
        self.room.saturating_sub(left)
    }

    /// Calls that wait for a slot.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// A slot, if one is free.
    pub(crate) fn try_take(&self) -> Option<Slot> {
        let permit = Arc::clone(&self.free).try_acquire_owned();
        permit.ok().map(|permit| self.slot(permit))
    }

    /// A slot, as soon as one is free.
    pub(crate) async fn take(&self, cancel: &CancellationToken) -> Result<Slot, Failure> {
        let overloaded = |message: String| Failure::new(Outcome::Overloaded, message);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.queue {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(overloaded(
                "all slots are taken and the queue is full; try again later".to_owned(),
            ));
        }
        // Counts down when this future is dropped, too.
        let _waiting = Waiting(&self.waiting);
        let free = Arc::clone(&self.free).acquire_owned();
        let permit = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Failure::new(
                Outcome::Cancelled,
                "the call was cancelled while it waited for a slot; nothing ran",
            )),
            permit = tokio::time::timeout(self.queue_timeout, free) => {
                permit.map_err(|_| overloaded(format!(
                    "no slot became free within {} ms; try again later",
                    self.queue_timeout.as_millis()
                )))?
            }
        };
        let permit = permit.map_err(|_| overloaded("the sandbox is shutting down".to_owned()))?;
        Ok(self.slot(permit))
    }

    fn slot(&self, permit: OwnedSemaphorePermit) -> Slot {
        Slot {
            free: Arc::clone(&self.free),
            asking: Arc::clone(&self.asking),
            place: Mutex::new(Place {
                asks: false,
                _permit: permit,
            }),
        }
    }
}

impl Slot {
    /// Leaves the slot for a place among the calls that ask; false where there is none.
    pub(crate) fn ask(&self) -> bool {
        let mut place = self.place.lock();
        if place.asks {
            return true;
        }
        let Ok(permit) = Arc::clone(&self.asking).try_acquire_owned() else {
            return false;
        };
        *place = Place {
            asks: true,
            _permit: permit,
        };
        true
    }

    /// Leaves the place among the calls that ask, if a slot is free for which nobody waits.
    pub(crate) fn answered(&self) {
        let mut place = self.place.lock();
        if !place.asks {
            return;
        }
        if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            *place = Place {
                asks: false,
                _permit: permit,
            };
        }
    }
}

/// Places for calls that ask.
fn asking(settings: &Settings) -> usize {
    let places = settings.slots.saturating_mul(ASKING_PER_SLOT);
    places.min(ASKING_MOST)
}

struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
