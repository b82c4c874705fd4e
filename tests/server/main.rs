//! The real server, on a free port of loopback, spoken to over HTTP: a file a resource, as in
//! the server's own `http/`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "in a test the panic is the report, and a test that is skipped says so"
)]

mod access;
mod agents;
mod approvals;
mod asking;
mod bad_input;
mod both;
mod calls;
mod cancellation;
mod chat_completions;
mod clients;
mod components;
mod consistency;
mod conversations;
mod credentials;
mod deleted;
mod documents;
mod failures;
mod folders;
mod grants;
mod groups;
mod hostile;
mod internal;
mod jobs;
mod lifecycle;
mod live;
mod mcp;
mod messages;
mod models;
mod platform;
mod providers;
mod reaching_out;
mod receipts;
mod sandbox_configs;
mod streaming;
mod support;
mod tools;
mod two_servers;
mod vendor;
mod websocket;
