//! The engine over a real database and the offline model; only what runs tools is the tests' own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approvals;
mod cancellation;
mod compaction;
mod deleted;
mod fallback;
mod interrupted;
mod legacy;
mod memory;
mod rules;
mod standing;
mod steps;
mod world;
