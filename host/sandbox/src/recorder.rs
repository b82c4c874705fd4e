//! Records what a call asks of the host, for its receipt.

use std::{sync::Arc, time::Instant};

use bulkhead_domain::{Denial, HostCall, HostCallOutcome};

use crate::Authority;

/// Host calls that a receipt lists one by one; further ones are counted. A receipt is stored
/// with every call, so it must stay small.
const MAX_HOST_CALLS: usize = 128;
/// Different denials that a receipt lists.
const MAX_DENIALS: usize = 32;
/// Characters of a target or message.
const MAX_TEXT: usize = 512;
/// Bytes of the longest secret in its longest encoding.
const MAX_SECRET_MARGIN: usize = 16 * 1024;

/// Collects the host calls and denials of one call. What a guest chose (targets, names) loses
/// the call's secrets and is cut before it is kept.
pub(crate) struct Recorder {
    authority: Arc<Authority>,
    host_calls: Vec<HostCall>,
    omitted: u64,
    denials: Vec<Denial>,
    /// The host call that is under way. A guest waits for each, so there is one at most; a call
    /// that ends in the middle of it leaves it here.
    open: Option<(HostCall, Instant)>,
}

/// A host call that has begun.
#[must_use = "the host call has to end"]
pub(crate) struct Begun(Option<(HostCall, Instant)>);

impl Recorder {
    pub(crate) fn new(authority: Arc<Authority>) -> Self {
        Self {
            authority,
            host_calls: Vec::new(),
            omitted: 0,
            denials: Vec::new(),
            open: None,
        }
    }

    /// Marks the beginning of a host call.
    pub(crate) fn begin(
        &mut self,
        interface: &'static str,
        function: &'static str,
        target: Option<&str>,
        bytes_in: usize,
    ) -> Begun {
        let call = HostCall {
            interface: interface.to_owned(),
            function: function.to_owned(),
            target: target.map(|target| self.clean(target)),
            bytes_in: bytes_in as u64,
            bytes_out: 0,
            // What a call leaves unfinished did not succeed; it may have had an effect.
            outcome: HostCallOutcome::Failed,
            wall_us: 0,
        };
        self.open = Some((call, Instant::now()));
        Begun(None)
    }

    /// As [`Recorder::begin`] where the recorder is not at hand; what never ends is not recorded.
    pub(crate) fn begin_apart(
        interface: &'static str,
        function: &'static str,
        target: String,
        bytes_in: usize,
    ) -> Begun {
        let call = HostCall {
            interface: interface.to_owned(),
            function: function.to_owned(),
            target: Some(target),
            bytes_in: bytes_in as u64,
            bytes_out: 0,
            outcome: HostCallOutcome::Failed,
            wall_us: 0,
        };
        Begun(Some((call, Instant::now())))
    }

    /// Records the end of a host call.
    pub(crate) fn end(&mut self, begun: Begun, bytes_out: usize, outcome: HostCallOutcome) {
        let apart = begun.0.map(|(mut call, at)| {
            call.target = call.target.as_deref().map(|target| self.clean(target));
            (call, at)
        });
        if let Some((call, at)) = apart.or_else(|| self.open.take()) {
            self.keep(HostCall {
                bytes_out: bytes_out as u64,
                outcome,
                wall_us: micros(at),
                ..call
            });
        }
    }

    /// Records a host call.
    pub(crate) fn record(&mut self, mut call: HostCall) {
        call.target = call.target.as_deref().map(|target| self.clean(target));
        self.keep(call);
    }

    fn keep(&mut self, call: HostCall) {
        if self.host_calls.len() < MAX_HOST_CALLS {
            self.host_calls.push(call);
        } else {
            self.omitted += 1;
        }
    }

    /// Counts host calls of which nothing else is known.
    pub(crate) fn omit(&mut self, count: u64) {
        self.omitted += count;
    }

    /// Records that the host refused something; the same refusal is kept once.
    pub(crate) fn deny(&mut self, capability: &str, message: String) {
        let denial = Denial {
            capability: capability.to_owned(),
            message: self.clean(&message),
        };
        if self.denials.len() < MAX_DENIALS && !self.denials.contains(&denial) {
            self.denials.push(denial);
        }
    }

    /// A guest's text as a receipt may keep it. Cut first: scrubbing megabytes costs time. The
    /// margin keeps a secret whole that stands across the cut.
    fn clean(&self, text: &str) -> String {
        let margin = text.floor_char_boundary(MAX_TEXT + MAX_SECRET_MARGIN);
        let clean = self.authority.scrubber.redact_str(&text[..margin]);
        if clean.len() <= MAX_TEXT {
            return clean.into_owned();
        }
        format!("{}…", &clean[..clean.floor_char_boundary(MAX_TEXT)])
    }

    /// Everything, for the receipt: host calls, how many were omitted, denials.
    pub(crate) fn finish(&mut self) -> (Vec<HostCall>, u64, Vec<Denial>) {
        if let Some((call, at)) = self.open.take() {
            self.keep(HostCall {
                wall_us: micros(at),
                ..call
            });
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_host_calls_is_counted_and_not_kept() {
        let mut recorder = Recorder::new(Authority::none());
        for _ in 0..MAX_HOST_CALLS + 7 {
            let begun = recorder.begin("state", "get", None, 0);
            recorder.end(begun, 0, HostCallOutcome::Ok);
        }
        let (calls, omitted, _) = recorder.finish();
        assert_eq!((calls.len(), omitted), (MAX_HOST_CALLS, 7));
    }

    #[test]
    fn a_host_call_that_never_ended_is_on_the_receipt() {
        let mut recorder = Recorder::new(Authority::none());
        let _ = recorder.begin("http", "fetch", Some("POST https://example.com/"), 7);
        let (calls, _, _) = recorder.finish();
        assert_eq!(
            (calls[0].bytes_in, calls[0].outcome),
            (7, HostCallOutcome::Failed)
        );
    }

    #[test]
    fn a_target_of_any_length_is_kept_short() {
        let mut recorder = Recorder::new(Authority::none());
        let begun = recorder.begin("state", "get", Some(&"ä".repeat(1 << 20)), 0);
        recorder.end(begun, 0, HostCallOutcome::Ok);
        let target = recorder.finish().0[0].target.clone().expect("kept");
        assert!(target.capacity() < 2 * MAX_TEXT && target.ends_with('…'));
    }

    #[test]
    fn the_same_denial_is_kept_once() {
        let mut recorder = Recorder::new(Authority::none());
        recorder.deny("http", "no grant".to_owned());
        recorder.deny("http", "no grant".to_owned());
        assert_eq!(recorder.finish().2.len(), 1);
    }
}
