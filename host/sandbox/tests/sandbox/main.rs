//! The sandbox from outside, as one program: linking the engine takes longer than most tests.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod asking;
mod calls;
mod common;
mod hostile;
mod install;
mod isolation;
mod network;
mod peers;
