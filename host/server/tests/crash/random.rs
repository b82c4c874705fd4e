//! Random moments that can be had again.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher as _, Hasher as _},
    time::Duration,
};

/// Set to a number, it repeats the moments of an earlier run.
const SEED: &str = "BULKHEAD_CRASH_SEED";

/// A stream of random numbers (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// From the seed that the environment names, or a fresh one; prints which.
    pub(crate) fn from_environment(what: &str) -> Self {
        let given = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        eprintln!("{what}: {SEED}={seed}");
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `most - 1`.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// A time from `least` to `most` milliseconds.
    pub(crate) fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(least + self.below(most - least + 1))
    }

    /// Another stream, for somebody who draws at the same time.
    pub(crate) fn split(&mut self) -> Self {
        Self(self.next())
    }
}
