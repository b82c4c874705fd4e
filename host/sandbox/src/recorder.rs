//! Records what a call asks of the host, for its receipt.

use std::time::Instant;

use bulkhead_domain::{Denial, HostCall, HostCallOutcome};

/// Host calls that a receipt lists one by one; further ones are counted. A receipt is stored
/// with every call, so it must stay small.
const MAX_HOST_CALLS: usize = 128;
/// Different denials that a receipt lists.
const MAX_DENIALS: usize = 32;
/// Characters of a target or message.
const MAX_TEXT: usize = 512;

/// Collects the host calls and denials of one call.
#[derive(Default)]
pub(crate) struct Recorder {
    host_calls: Vec<HostCall>,
    omitted: u64,
    denials: Vec<Denial>,
}

/// A host call that has begun.
pub(crate) struct Begun {
    interface: &'static str,
    function: &'static str,
    target: Option<String>,
    bytes_in: u64,
    at: Instant,
}

impl Recorder {
    /// Marks the beginning of a host call.
    pub(crate) fn begin(
        interface: &'static str,
        function: &'static str,
        target: Option<String>,
        bytes_in: usize,
    ) -> Begun {
        Begun {
            interface,
            function,
            target,
            bytes_in: bytes_in as u64,
            at: Instant::now(),
        }
    }

    /// Records the end of a host call.
    pub(crate) fn end(&mut self, begun: Begun, bytes_out: usize, outcome: HostCallOutcome) {
        let Begun {
            interface,
            function,
            target,
            bytes_in,
            at,
        } = begun;
        self.record(HostCall {
            interface: interface.to_owned(),
            function: function.to_owned(),
            target,
            bytes_in,
            bytes_out: bytes_out as u64,
            outcome,
            wall_us: micros(at),
        });
    }

    /// Records a host call.
    pub(crate) fn record(&mut self, mut call: HostCall) {
        if self.host_calls.len() >= MAX_HOST_CALLS {
            self.omitted += 1;
            return;
        }
        if let Some(target) = &mut call.target {
            cut(target);
        }
        self.host_calls.push(call);
    }

    /// Records that the host refused something; the same refusal is kept once.
    pub(crate) fn deny(&mut self, capability: &str, mut message: String) {
        cut(&mut message);
        let denial = Denial {
            capability: capability.to_owned(),
            message,
        };
        if self.denials.len() < MAX_DENIALS && !self.denials.contains(&denial) {
            self.denials.push(denial);
        }
    }

    /// Everything, for the receipt: host calls, how many were omitted, denials.
    pub(crate) fn finish(&mut self) -> (Vec<HostCall>, u64, Vec<Denial>) {
        (
            std::mem::take(&mut self.host_calls),
            std::mem::take(&mut self.omitted),
            std::mem::take(&mut self.denials),
        )
    }
}

/// Microseconds since `at`.
pub(crate) fn micros(at: Instant) -> u64 {
    u64::try_from(at.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn cut(text: &mut String) {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_host_calls_is_counted_and_not_kept() {
        let mut recorder = Recorder::default();
        for _ in 0..MAX_HOST_CALLS + 7 {
            let begun = Recorder::begin("state", "get", None, 0);
            recorder.end(begun, 0, HostCallOutcome::Ok);
        }
        let (calls, omitted, _) = recorder.finish();
        assert_eq!((calls.len(), omitted), (MAX_HOST_CALLS, 7));
    }

    #[test]
    fn the_same_denial_is_kept_once() {
        let mut recorder = Recorder::default();
        recorder.deny("http", "no grant".to_owned());
        recorder.deny("http", "no grant".to_owned());
        assert_eq!(recorder.finish().2.len(), 1);
    }
}
