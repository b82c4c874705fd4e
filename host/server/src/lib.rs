//! The Bulkhead server and its command line.
//!
//! - [`Config`], [`Options`]: settings, each declared once.
//! - [`Server`]: starts, answers, shuts down; usable inside another program.
//! - [`telemetry`]: the log.
//! - [`cli`]: the program `bulkhead`.
//! - `http`: the API, one file a resource. `registry`: what is installed and what it may do.
//! - `mcp`: tools that MCP servers run.
//! - `agents`: what the agent loop gets of this server: models and tools.
//! - `calls`: the one way by which tools run. `listener`, `connection`: connections.
//! - `data_dir`: the folder of a server; `database`: its key and database. `retention`: how long
//!   receipts are kept.
//! - `platform`: people, their tokens, and what models cost.
//! - `file_work`: from uploaded files to texts that can be searched.
//! - `abandoned`: runs whose server died.

mod abandoned;
mod agents;
mod app;
mod calls;
pub mod cli;
mod config;
mod connection;
mod contract;
mod data_dir;
mod database;
mod file_work;
mod heap;
mod http;
mod limits_patch;
mod listener;
mod mcp;
mod metrics;
mod platform;
mod registry;
mod retention;
mod server;
mod source;
pub mod telemetry;

pub use config::{Config, ConfigError, Options};
pub use limits_patch::LimitsPatch;
pub use platform::prices::{Price, Prices};
pub use server::{Handle, ServeError, Server, StartError};
