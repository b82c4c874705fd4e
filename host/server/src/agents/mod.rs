//! Agents beside their routes.
//!
//! - [`create`]: a new agent. [`body`]: what a client says of it. [`choice`]: of its models.
//!   [`toolset`]: its tools and rules. [`name`], [`checks`]: what it may be.
//! - What the agent loop gets of this server: [`models`], those of all providers; [`tools`], the
//!   sandbox.

pub(crate) mod body;
pub(crate) mod checks;
pub(crate) mod choice;
pub(crate) mod create;
pub(crate) mod models;
pub(crate) mod name;
pub(crate) mod tools;
pub(crate) mod toolset;
