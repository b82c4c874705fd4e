//! Agents beside their routes.
//!
//! - [`create`]: a new agent. [`body`]: what a client says of it. [`choice`]: of its models.
//!   [`toolset`]: its tools and rules. [`name`], [`checks`]: what it may be.
//! - [`sleeptime`]: the agent that looks after another one's memory.
//! - [`file`]: an agent as a document that goes from server to server.
//! - What the agent loop gets of this server: [`models`], those of all providers; [`tools`], the
//!   sandbox; [`background`], who drives what nobody waits for. `memory`: what tools from source make of memory blocks.

pub(crate) mod background;
pub(crate) mod body;
pub(crate) mod checks;
pub(crate) mod choice;
pub(crate) mod create;
pub(crate) mod file;
mod memory;
pub(crate) mod models;
pub(crate) mod name;
pub(crate) mod sleeptime;
pub(crate) mod tools;
pub(crate) mod toolset;
