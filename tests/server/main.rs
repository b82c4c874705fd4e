//! The real server, on a free port of loopback, spoken to over HTTP: a file a resource, as in
//! the server's own `http/`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "in a test the panic is the report, and a test that is skipped says so"
)]

mod access;
mod agents;
mod bad_input;
mod calls;
mod components;
mod credentials;
mod documents;
mod grants;
mod hostile;
mod lifecycle;
mod reaching_out;
mod messages;
mod receipts;
mod sandbox_configs;
mod streaming;
mod support;
mod tools;
