//! Tools that arrive as source, in the real runtimes and the real sandbox.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "tests"
)]

mod agent;
mod arguments;
mod common;
mod describe;
mod failures;
mod host_out_of_reach;
mod hostile;
mod injection;
mod many;
mod network;
mod output;
mod real_tools;
mod results;
mod schema;
mod scripts;
mod site;
mod warm;
