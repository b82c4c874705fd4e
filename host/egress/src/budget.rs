//! What is left of a call's allowance.

use std::sync::atomic::{AtomicU64, Ordering};

use bulkhead_policy::HttpRule;

use crate::Access;

/// An amount that can only become less. Shared by the requests of a call that run at once.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    left: AtomicU64,
}

impl Budget {
    fn new(limit: u64) -> Self {
        Self {
            limit,
            left: AtomicU64::new(limit),
        }
    }

    /// What there was at first.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// What is left.
    pub(crate) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Takes `amount`, or nothing if less is left.
    pub(crate) fn take(&self, amount: u64) -> bool {
        let less = |left: u64| left.checked_sub(amount);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// The allowances of one call.
#[derive(Debug)]
pub(crate) struct Budgets {
    pub(crate) requests: Budget,
    sent: Budget,
    received: Budget,
    /// What each rule allows in both directions, in the order of the rules.
    rules: Vec<(Budget, Budget)>,
}

impl Budgets {
    pub(crate) fn new(access: &Access) -> Self {
        let of = |rule: &HttpRule| {
            let sent = rule.max_request_bytes.unwrap_or(u64::MAX);
            (
                Budget::new(sent),
                Budget::new(rule.max_response_bytes.unwrap_or(u64::MAX)),
            )
        };
        Self {
            requests: Budget::new(access.requests),
            sent: Budget::new(access.request_bytes),
            received: Budget::new(access.response_bytes),
            rules: access.rules.iter().map(of).collect(),
        }
    }

    /// Bytes that may still be sent under a rule.
    pub(crate) fn left_to_send(&self, rule: usize) -> u64 {
        self.sent.left().min(self.rules[rule].0.left())
    }

    /// Bytes that may still be received under a rule.
    pub(crate) fn left_to_receive(&self, rule: usize) -> u64 {
        self.received.left().min(self.rules[rule].1.left())
    }

    /// Takes bytes that are about to be sent under a rule.
    pub(crate) fn send(&self, rule: usize, bytes: usize) -> bool {
        self.sent.take(bytes as u64) && self.rules[rule].0.take(bytes as u64)
    }

    /// Takes bytes that were received under a rule.
    pub(crate) fn receive(&self, rule: usize, bytes: usize) -> bool {
        self.received.take(bytes as u64) && self.rules[rule].1.take(bytes as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_gives_all_or_nothing() {
        let budget = Budget::new(10);
        assert!(budget.take(6));
        assert!(!budget.take(5));
        assert!(budget.take(4));
        assert_eq!((budget.left(), budget.limit()), (0, 10));
    }
}
