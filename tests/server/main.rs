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
mod chat_completions;
mod clients;
mod components;
mod conversations;
mod credentials;
mod documents;
mod grants;
mod hostile;
mod lifecycle;
mod messages;
mod models;
mod providers;
mod reaching_out;
mod receipts;
mod sandbox_configs;
mod streaming;
mod support;
mod tools;
mod vendor;
