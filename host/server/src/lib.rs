//! The Bulkhead server and its command line.
//!
//! - [`Config`], [`Options`]: settings, each declared once.
//! - [`Server`]: starts, answers, shuts down; usable inside another program.
//! - [`telemetry`]: the log.
//! - [`cli`]: the program `bulkhead`.
//! - `http`: the API, one file a resource. `registry`: what is installed and what it may do.
//! - `calls`: the one way by which tools run. `listener`: connections.

mod app;
mod calls;
pub mod cli;
mod config;
mod http;
mod limits_patch;
mod listener;
mod metrics;
mod registry;
mod server;
pub mod telemetry;

pub use config::{Config, ConfigError, Options};
pub use limits_patch::LimitsPatch;
pub use server::{Handle, ServeError, Server, StartError};
