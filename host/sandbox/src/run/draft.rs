//! A receipt that is being written.

use std::{borrow::Cow, sync::Arc, time::Duration};

use bulkhead_domain::{
    Denial, Digest, FuelByPhase, HostCall, Outcome, Output, Problem, Receipt,
    id::{CallId, ReceiptId},
};
use tokio::time::Instant;

use super::Clock;
use crate::{Authority, Call, Failure, LogLine, Report};

pub(super) struct Draft {
    receipt: Receipt,
    clock: Clock,
    began: Option<Instant>,
    authority: Arc<Authority>,
}

impl Draft {
    pub(super) fn new(digest: Digest, call: &Call) -> Self {
        let clock = Clock::start();
        let call_id = CallId::random();
        let key = call
            .idempotency_key
            .clone()
            .unwrap_or_else(|| call_id.to_string());
        let receipt = Receipt {
            id: ReceiptId::random(),
            call_id,
            idempotency_key: key,
            digest,
            source: None,
            tool: call.tool.clone(),
            agent_id: call.agent_id.clone(),
            input_hash: Digest::of(call.input.as_bytes()),
            grant_hash: call.authority.hash(),
            output_hash: None,
            outcome: Outcome::HostError,
            detail: None,
            fuel: FuelByPhase::default(),
            peak_memory_bytes: 0,
            wall_us: 0,
            queue_us: 0,
            started_at: clock.at,
            host_calls: Vec::new(),
            host_calls_omitted: 0,
            denials: Vec::new(),
        };
        Self {
            receipt,
            clock,
            began: None,
            authority: Arc::clone(&call.authority),
        }
    }

    /// The runtime runs this source.
    pub(super) fn of_source(mut self, text: &str) -> Self {
        self.receipt.source = Some(Digest::of(text.as_bytes()));
        self
    }

    pub(super) fn call_id(&self) -> CallId {
        self.receipt.call_id
    }

    /// The called tool as a lineage names it.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.receipt.digest, self.receipt.tool)
    }

    pub(super) fn idempotency_key(&self) -> Arc<str> {
        Arc::from(self.receipt.idempotency_key.as_str())
    }

    /// The call left the queue.
    pub(super) fn waited(&mut self) {
        self.receipt.queue_us = micros(self.clock.arrived.elapsed());
    }

    /// The call has its slot.
    pub(super) fn running(&mut self) {
        self.began = Some(Instant::now());
    }

    /// When a call that may take `timeout` must end.
    pub(super) fn deadline(&self, timeout: Duration) -> Instant {
        self.began.unwrap_or(self.clock.arrived) + timeout
    }

    pub(super) fn consumed(&mut self, fuel: FuelByPhase, peak_memory_bytes: u64) {
        self.receipt.fuel = fuel;
        self.receipt.peak_memory_bytes = peak_memory_bytes;
    }

    pub(super) fn host(&mut self, calls: Vec<HostCall>, omitted: u64, denials: Vec<Denial>) {
        self.receipt.host_calls = calls;
        self.receipt.host_calls_omitted = omitted;
        self.receipt.denials = denials;
    }

    /// A call of which nothing ran.
    pub(super) fn refuse(self, failure: Failure) -> Report {
        self.finish(Err(failure), Vec::new(), false)
    }

    pub(super) fn finish(
        mut self,
        result: Result<Output, Failure>,
        log: Vec<LogLine>,
        log_truncated: bool,
    ) -> Report {
        let result = result.map_err(|failure| self.scrubbed(self.denied(failure)));
        let receipt = &mut self.receipt;
        match &result {
            Ok(output) => {
                receipt.outcome = Outcome::Ok;
                // Plain data: it always serialises.
                receipt.output_hash = serde_json::to_vec(output)
                    .ok()
                    .map(|json| Digest::of(&json));
            }
            Err(failure) => {
                receipt.outcome = failure.outcome;
                // A guest's own words are in the report, never in the receipt.
                receipt.detail = match failure.outcome {
                    Outcome::ToolError => None,
                    // The places, not what stood there: an input may hold a secret.
                    Outcome::InvalidOutput => Some("its output breaks its own schema".to_owned()),
                    Outcome::InvalidInput => Some(places(&failure.problems)),
                    Outcome::Denied => receipt.denials.first().map(|d| d.message.clone()),
                    _ => Some(failure.message.clone()),
                };
            }
        }
        match self.began {
            Some(began) => receipt.wall_us = micros(began.elapsed()),
            None => receipt.queue_us = micros(self.clock.arrived.elapsed()),
        }
        Report {
            result,
            receipt: self.receipt,
            log,
            log_truncated,
        }
    }

    /// What the host says of a guest's values may quote them. A tool's own failure was scrubbed
    /// before it was cut.
    fn scrubbed(&self, mut failure: Failure) -> Failure {
        if failure.tool_error.is_some() {
            return failure;
        }
        let clean = |text: &mut String| {
            if let Cow::Owned(clean) = self.authority.scrubber.redact_str(text) {
                *text = clean;
            }
        };
        clean(&mut failure.message);
        for problem in &mut failure.problems {
            clean(&mut problem.at);
            clean(&mut problem.message);
        }
        failure
    }

    /// A tool that failed after the host refused it something failed for that.
    fn denied(&self, mut failure: Failure) -> Failure {
        if failure.outcome == Outcome::ToolError
            && let Some(denial) = self.receipt.denials.first()
        {
            failure.outcome = Outcome::Denied;
            // The host's own words; the guest's stay in the tool error.
            failure.message.clone_from(&denial.message);
        }
        failure
    }
}

fn places(problems: &[Problem]) -> String {
    let places = problems.iter().map(|problem| format!("\"{}\"", problem.at));
    format!(
        "the input is wrong at {}",
        places.collect::<Vec<_>>().join(", ")
    )
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
