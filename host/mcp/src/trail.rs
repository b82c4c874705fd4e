//! What left for a server and what came back, for the receipt of a call. It outlives an operation
//! that is given up in the middle.

use std::{sync::Arc, time::Instant};

use bulkhead_domain::{HostCall, HostCallOutcome};
use parking_lot::Mutex;

/// Exchanges that are listed one by one, as receipts have it; further ones are counted.
const EXCHANGES_MAX: usize = 128;

/// The exchanges of one operation, in order. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Trail(Arc<Mutex<Exchanges>>);

#[derive(Debug, Default)]
struct Exchanges {
    calls: Vec<(HostCall, Option<Instant>)>,
    omitted: u64,
}

impl Trail {
    /// Those so far, and how many there were beyond those that are listed. One that has not ended
    /// counts as failed: it may have had an effect.
    pub fn host_calls(&self) -> (Vec<HostCall>, u64) {
        let exchanges = self.0.lock();
        let calls = exchanges.calls.iter().map(|(call, began)| HostCall {
            wall_us: began.map_or(call.wall_us, micros),
            ..call.clone()
        });
        (calls.collect(), exchanges.omitted)
    }

    /// Notes that a message leaves.
    pub(crate) fn begin(&self, function: &str, target: String, bytes: usize) -> Exchange {
        let mut exchanges = self.0.lock();
        if exchanges.calls.len() == EXCHANGES_MAX {
            exchanges.omitted += 1;
            return Exchange {
                trail: self.clone(),
                at: None,
            };
        }
        let call = HostCall {
            interface: "mcp".to_owned(),
            function: function.to_owned(),
            target: Some(target),
            bytes_in: bytes as u64,
            bytes_out: 0,
            outcome: HostCallOutcome::Failed,
            wall_us: 0,
        };
        exchanges.calls.push((call, Some(Instant::now())));
        Exchange {
            trail: self.clone(),
            at: Some(exchanges.calls.len() - 1),
        }
    }
}

/// An exchange that goes on. Dropped before it was said to have succeeded, it has failed.
pub(crate) struct Exchange {
    trail: Trail,
    /// Its place, where it is listed.
    at: Option<usize>,
}

impl Exchange {
    fn change(&self, change: impl FnOnce(&mut HostCall)) {
        let mut exchanges = self.trail.0.lock();
        if let Some((call, _)) = self.at.and_then(|at| exchanges.calls.get_mut(at)) {
            change(call);
        }
    }

    /// Notes bytes of the answer.
    pub(crate) fn received(&self, bytes: usize) {
        self.change(|call| call.bytes_out += bytes as u64);
    }

    /// Notes how it went so far.
    pub(crate) fn went(&self, outcome: HostCallOutcome) {
        self.change(|call| call.outcome = outcome);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut exchanges = self.trail.0.lock();
        if let Some((call, began)) = self.at.and_then(|at| exchanges.calls.get_mut(at))
            && let Some(began) = began.take()
        {
            call.wall_us = micros(began);
        }
    }
}

fn micros(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX)
}
