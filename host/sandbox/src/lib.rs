//! Runs tools as WASI components inside wasmtime: a fresh instance for every call, with fuel,
//! a deadline, memory and byte limits, only the capabilities that a person granted, and a
//! receipt of what happened. Usable as a library, without a server or a database; see
//! `examples/embed.rs`.
//!
//! - [`Sandbox`]: the engine and its slots; [`Sandbox::install`] and [`Sandbox::call`].
//! - [`Component`]: an installed component: its tools, wishes and pinned description.
//! - [`Call`], [`Authority`], [`Services`]: what goes into a call.
//! - [`Report`], [`Failure`], [`Event`]: what comes out, and what is seen on the way.
//! - [`services`]: the traits behind the interfaces that reach beyond the sandbox.
//! - [`adapter`]: components with plain typed exports as tools.
//! - [`InputCheck`]: JSON against a schema that nobody trusts.
//! - [`Settings`]: every size of the sandbox, with its reason.

pub mod adapter;
mod authority;
mod cache;
mod call;
mod capture;
mod component;
mod engine;
mod error;
mod event;
mod install;
mod interfaces;
mod limiter;
mod lineage;
mod recorder;
mod report;
mod run;
mod sandbox;
mod schema;
pub mod services;
mod settings;
mod slots;
mod source;
mod state;

pub use authority::Authority;
pub use bulkhead_egress as egress;
pub use cache::{CacheKey, CacheKeyError};
pub use call::Call;
pub use component::{Component, Import, Kind};
pub use error::{InstallError, SetupError};
pub use event::{Event, EventSink, LogLevel};
pub use lineage::Lineage;
pub use report::{Failure, LogLine, Report};
pub use sandbox::Sandbox;
pub use schema::InputCheck;
pub use services::Services;
pub use settings::{Settings, Usage};
pub use source::{
    Description, Environment, Exception, Fault, Job, Language, MAX_SOURCE_BYTES, Runtime, Source,
    SourceCall, SourceReport,
};
