//! How often somebody may try to sign in.
//!
//! Three limits hold at once, each a bucket of tries that fills up again over a quarter of an hour. A
//! try that succeeds is given back: only wrong ones count, so that an office behind one address signs
//! in as it likes, and nobody locks out who knows the password from where they are known.
//!
//! - One network and one account, [`PER_PAIR`]: who has forgotten a password tries some; who guesses
//!   one gets a thousand a day, where the weakest accepted password takes a million.
//! - One network, [`PER_NETWORK`]: who tries one password on many accounts; and what one network can
//!   make this machine compute.
//! - One account from wherever, [`PER_ACCOUNT`]: who guesses with many machines. A network from which
//!   this account has signed in lately is not counted and not held up here, since otherwise anybody
//!   could lock out anybody.
//!
//! Kept in memory: two servers on one database allow twice as many, a restart begins anew.

mod bucket;

use std::{
    hash::{BuildHasher as _, RandomState},
    net::{IpAddr, Ipv6Addr},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use self::bucket::{Buckets, Rate};

/// The time in which an empty bucket is full again.
pub const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Wrong tries of one network for one account in a [`WINDOW`].
pub const PER_PAIR: u32 = 10;
/// Wrong tries of one network in a [`WINDOW`], and its registrations. More than as many people as sign
/// in at once, since each takes one until it has succeeded; fewer than may wait for a hash, so that one
/// network keeps no other out.
pub const PER_NETWORK: u32 = 200;
/// Wrong tries for one account in a [`WINDOW`], of all networks that it does not sign in from.
pub const PER_ACCOUNT: u32 = 100;
/// Entries of each kind; the one that was used longest ago goes first. All of them are some
/// megabytes; to push one's own out takes all tries of some seventy networks.
pub const ENTRIES_MAX: usize = 20_000;
/// An IPv6 customer has at least so much of an address alone.
const V6_NETWORK_BITS: u32 = 64;

/// Too many tries; the next one counts after a while. Nothing is computed until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many tries; try again in {} s", self.seconds())]
pub struct Refused {
    /// How long until the next try is taken.
    pub retry_after: Duration,
}

impl Refused {
    /// Whole seconds until the next try is taken, at least one: as `Retry-After` says it.
    pub fn seconds(&self) -> u64 {
        let rounded_up =
            self.retry_after.as_secs() + u64::from(self.retry_after.subsec_nanos() > 0);
        rounded_up.max(1)
    }
}

/// A try that was taken. Dropped, it counts as a wrong one.
#[derive(Debug)]
#[must_use = "a try counts as a wrong one unless the throttle is told how it ended"]
pub struct Attempt {
    account: u64,
    network: IpAddr,
    /// Whether it took one of the account's tries.
    counts_for_account: bool,
}

/// Counts tries to sign in. One for a server.
pub struct Throttle {
    state: Mutex<State>,
    /// Accounts are known by a hash under this key: their addresses are not kept.
    hasher: RandomState,
}

struct State {
    pairs: Buckets<(u64, IpAddr)>,
    networks: Buckets<IpAddr>,
    accounts: Buckets<u64>,
}

impl Throttle {
    /// Nobody has tried yet.
    pub fn new() -> Self {
        Self::with_entries(ENTRIES_MAX)
    }

    fn with_entries(entries: usize) -> Self {
        let rate = |tries| Rate::new(tries, WINDOW);
        Self {
            state: Mutex::new(State {
                pairs: Buckets::new(rate(PER_PAIR), entries),
                networks: Buckets::new(rate(PER_NETWORK), entries),
                accounts: Buckets::new(rate(PER_ACCOUNT), entries),
            }),
            hasher: RandomState::new(),
        }
    }

    /// Takes a try of this address of a person, normalised, from this address of the network. Ask
    /// before anything is looked up or computed, for sign-ins and wherever else a password is asked
    /// for.
    ///
    /// # Errors
    ///
    /// [`Refused`] where a bucket is empty; then none is touched.
    pub fn attempt(&self, account: &str, from: IpAddr, now: Instant) -> Result<Attempt, Refused> {
        let account = self.hasher.hash_one(account);
        let network = network(from);
        let mut state = self.state.lock();
        let pair = (account, network);
        let counts_for_account = !state.pairs.is_trusted(&pair);
        // Networks first: one that is refused leaves no entries behind.
        state.networks.check(&network, now)?;
        state.pairs.check(&pair, now)?;
        if counts_for_account {
            state.accounts.check(&account, now)?;
            state.accounts.take(account, now);
        }
        state.networks.take(network, now);
        state.pairs.take(pair, now);
        Ok(Attempt {
            account,
            network,
            counts_for_account,
        })
    }

    /// The password was right: the try is given back, and the account's network is known from now
    /// on.
    pub fn succeeded(&self, attempt: Attempt) {
        let pair = (attempt.account, attempt.network);
        self.withdrawn(attempt);
        self.state.lock().pairs.trust(&pair);
    }

    /// Nobody learnt whether the password was right: the try is given back.
    pub fn withdrawn(&self, attempt: Attempt) {
        let mut state = self.state.lock();
        state.pairs.give_back(&(attempt.account, attempt.network));
        state.networks.give_back(&attempt.network);
        if attempt.counts_for_account {
            state.accounts.give_back(&attempt.account);
        }
    }
}

impl Default for Throttle {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Throttle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Throttle").finish_non_exhaustive()
    }
}

/// What one customer of a provider has: an IPv4 address, or the network of an IPv6 one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let host_bits = u128::BITS - V6_NETWORK_BITS;
            Ipv6Addr::from_bits(address.to_bits() >> host_bits << host_bits).into()
        }
    }
}

#[cfg(test)]
mod tests;
