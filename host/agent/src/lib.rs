//! The agent loop: what a request to an agent does, from its input to the last stored message. The
//! models are asked through [`ports::Models`] and tools run through [`ports::Tools`], so that this
//! crate knows neither providers' keys nor wasm.
//!
//! - [`engine`]: begins, drives, cancels runs. `driver`: one run, step by step. [`request`],
//!   [`input`], [`event`], [`error`]: what goes in and what comes out. `active`: one run at a time
//!   for each thread; `turn`, `lease`: of all servers on one database. `abandoned`: runs whose server
//!   was killed.
//! - `closing`: what is ended before a thread is deleted.
//! - `thread`: what a run works on; `recent`: what is kept of it for the next. [`model`]: which model
//!   answers; `fallback`: which others; `asked`: what it used, as a step. `toolset`, `legacy`: what it is
//!   offered. `answer`: its reply as messages; `fit`: results that are too large. `transcript`: stored messages as a model is sent them.
//! - [`prompt`], [`start`], [`defaults`]: what an agent begins with and is told. [`pack`], [`clock`]:
//!   notices and times as models read them.
//! - [`approval`]: requests that wait. [`compact`]: contexts that fill up. [`upkeep`], [`overview`]:
//!   what is done and shown beside runs. `sleeptime`: agents that look after another one's memory.
//!   `services`: memory and recall for a tool's sandbox.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod abandoned;
mod active;
mod answer;
pub mod approval;
mod asked;
mod by_hand;
pub mod clock;
mod closing;
pub mod compact;
pub mod defaults;
mod driver;
pub mod engine;
pub mod error;
pub mod event;
mod fallback;
mod fit;
pub mod input;
mod lease;
mod legacy;
pub mod model;
pub mod overview;
pub mod pack;
pub mod ports;
pub mod prompt;
mod recent;
pub mod request;
mod services;
mod sleeptime;
pub mod start;
#[cfg(test)]
mod testing;
mod thread;
mod toolset;
mod transcript;
mod turn;
pub mod upkeep;

/// Boxes an async function, so that this crate compiles what it does. The body of one that is not
/// boxed is compiled by every crate that awaits it, once more.
pub(crate) use async_recursion::async_recursion as compiled_here;

pub use active::ThreadKey;
pub use closing::Closed;
pub use compact::CompactionReport;
pub use driver::Preview;
pub use engine::{Begun, Engine, Entry, Failure, Outcome};
pub use error::{AgentError, Fault, expect_active};
pub use event::{Delta, Event, Listener, Piece, Shown};
pub use input::{Decision, Incoming, Input};
pub use overview::ContextOverview;
pub use pack::CompactionStats;
pub use ports::{Background, Executed, Invocation, Models, Tools};
pub use request::{ClientSkill, Listening, RunRequest, RunType};
pub use start::first_messages;
pub use turn::TURN_SILENCE;
pub use upkeep::RecompileOptions;
