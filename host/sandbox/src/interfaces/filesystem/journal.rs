//! What goes through streams and listings.
//!
//! The guest reads and writes streams through `wasi:io`, which knows nothing of receipts. Each
//! stream therefore keeps one record of its own, which joins the receipt when the stream is
//! gone or the call ends.

use std::{sync::Arc, time::Instant};

use bulkhead_domain::{HostCall, HostCallOutcome};
use parking_lot::Mutex;

use super::{
    CAPABILITY, INTERFACE,
    error::{FsError, FsResult},
};
use crate::recorder::{Recorder, micros};

/// The records of all streams and listings that are not in the receipt yet. Bounded by the
/// slots for them: every host call that makes one settles those that are gone.
#[derive(Default)]
pub(super) struct Journal(Vec<Arc<Traffic>>);

/// What went through one stream or listing.
pub(super) struct Traffic {
    function: &'static str,
    target: String,
    totals: Mutex<Totals>,
}

struct Totals {
    bytes_in: u64,
    bytes_out: u64,
    wall_us: u64,
    outcome: HostCallOutcome,
    denial: Option<String>,
}

/// Which way the bytes of an operation went.
#[derive(Clone, Copy)]
pub(super) enum Way {
    FromGuest(u64),
    ToGuest(u64),
}

impl Journal {
    /// Begins the record of a stream or listing.
    pub(super) fn begin(&mut self, function: &'static str, target: &str) -> Arc<Traffic> {
        let totals = Totals {
            bytes_in: 0,
            bytes_out: 0,
            wall_us: 0,
            outcome: HostCallOutcome::Ok,
            denial: None,
        };
        let traffic = Traffic {
            function,
            target: target.to_owned(),
            totals: Mutex::new(totals),
        };
        let traffic = Arc::new(traffic);
        self.0.push(Arc::clone(&traffic));
        traffic
    }

    /// Records those that are gone, or all.
    pub(super) fn settle(&mut self, recorder: &mut Recorder, all: bool) {
        self.0.retain(|traffic| {
            let done = all || Arc::strong_count(traffic) == 1;
            if done {
                traffic.record(recorder);
            }
            !done
        });
    }
}

impl Traffic {
    /// Counts one operation that began at `since`.
    pub(super) fn count<T>(&self, since: Instant, way: Way, result: &FsResult<T>) {
        let mut totals = self.totals.lock();
        totals.wall_us = totals.wall_us.saturating_add(micros(since));
        match (result, way) {
            (Ok(_), Way::FromGuest(bytes)) => {
                totals.bytes_in = totals.bytes_in.saturating_add(bytes)
            }
            (Ok(_), Way::ToGuest(bytes)) => {
                totals.bytes_out = totals.bytes_out.saturating_add(bytes)
            }
            (Err(FsError::Denied(_, text)), _) => {
                totals.outcome = HostCallOutcome::Denied;
                totals.denial = Some(text.clone());
            }
            (Err(_), _) => totals.outcome = HostCallOutcome::Failed,
        }
    }

    fn record(&self, recorder: &mut Recorder) {
        let mut totals = self.totals.lock();
        if let Some(text) = totals.denial.take() {
            recorder.deny(CAPABILITY, text);
        }
        recorder.record(HostCall {
            interface: INTERFACE.to_owned(),
            function: self.function.to_owned(),
            target: Some(self.target.clone()),
            bytes_in: totals.bytes_in,
            bytes_out: totals.bytes_out,
            outcome: totals.outcome,
            wall_us: totals.wall_us,
        });
    }
}
