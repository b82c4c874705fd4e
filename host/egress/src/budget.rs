//! What is left of a call's allowance.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

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

/// What one call may still send and receive, under all rules together. A call that another made
/// spends that one's allowance too. Cheap to clone; clones share it.
#[derive(Debug, Clone)]
pub struct Allowance(Arc<Totals>);

#[derive(Debug)]
struct Totals {
    requests: Budget,
    sent: Budget,
    received: Budget,
    /// Of the call that made this one.
    outer: Option<Allowance>,
}

impl Allowance {
    fn new(access: &Access) -> Self {
        Self(Arc::new(Totals {
            requests: Budget::new(access.requests),
            sent: Budget::new(access.request_bytes),
            received: Budget::new(access.response_bytes),
            outer: access.within.clone(),
        }))
    }

    /// This allowance and those that it stands within, the innermost first.
    fn all(&self) -> impl Iterator<Item = &Totals> {
        std::iter::successors(Some(&*self.0), |totals| {
            totals.outer.as_ref().map(|outer| &*outer.0)
        })
    }
}

/// The allowances of one call.
#[derive(Debug)]
pub(crate) struct Budgets {
    pub(crate) totals: Allowance,
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
            totals: Allowance::new(access),
            rules: access.rules.iter().map(of).collect(),
        }
    }

    /// Takes one request, or says how many there were where none is left.
    pub(crate) fn take_request(&self) -> Result<(), u64> {
        for totals in self.totals.all() {
            if !totals.requests.take(1) {
                return Err(totals.requests.limit());
            }
        }
        Ok(())
    }

    /// Bytes that may still be sent under a rule.
    pub(crate) fn left_to_send(&self, rule: usize) -> u64 {
        let left = self.totals.all().map(|totals| totals.sent.left());
        left.fold(self.rules[rule].0.left(), u64::min)
    }

    /// Bytes that may still be received under a rule.
    pub(crate) fn left_to_receive(&self, rule: usize) -> u64 {
        let left = self.totals.all().map(|totals| totals.received.left());
        left.fold(self.rules[rule].1.left(), u64::min)
    }

    /// Takes bytes that are about to be sent under a rule.
    pub(crate) fn send(&self, rule: usize, bytes: usize) -> bool {
        let bytes = bytes as u64;
        self.totals.all().all(|totals| totals.sent.take(bytes)) && self.rules[rule].0.take(bytes)
    }

    /// Takes bytes that were received under a rule.
    pub(crate) fn receive(&self, rule: usize, bytes: usize) -> bool {
        let bytes = bytes as u64;
        self.totals.all().all(|totals| totals.received.take(bytes))
            && self.rules[rule].1.take(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_spends_the_allowance_of_the_one_that_made_it() {
        let rule: HttpRule = "https://a.example".parse().expect("a valid rule");
        let access = |requests, bytes, within| Access {
            rules: Arc::new([rule.clone()]),
            requests,
            request_bytes: bytes,
            response_bytes: bytes,
            within,
            ..Access::none()
        };
        let outer = Budgets::new(&access(3, 100, None));
        let inner = Budgets::new(&access(2, 1_000, Some(outer.totals.clone())));
        let second = Budgets::new(&access(9, 1_000, Some(outer.totals.clone())));
        assert_eq!(
            (inner.take_request(), inner.take_request()),
            (Ok(()), Ok(()))
        );
        assert_eq!(inner.take_request(), Err(2), "its own are spent");
        assert_eq!(second.take_request(), Ok(()));
        assert_eq!(second.take_request(), Err(3), "the outer ones are spent");
        assert!(inner.send(0, 60) && !second.send(0, 60));
        assert_eq!(second.left_to_send(0), 40);
        assert!(second.receive(0, 100));
        assert_eq!((inner.left_to_receive(0), outer.left_to_receive(0)), (0, 0));
    }
}
