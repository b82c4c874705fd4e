//! The engine over a real database and the offline model; only what runs tools is the tests' own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alone;
mod approvals;
mod asking;
mod cancellation;
mod compaction;
mod costs;
mod deleted;
mod fallback;
mod given_up;
mod interrupted;
mod large;
mod legacy;
mod memory;
mod rules;
mod standing;
mod steps;
mod turns;
mod unshown;
mod world;
