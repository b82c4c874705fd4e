//! Chat and embedding models behind their providers' own wire formats: requests, streams, usage and
//! typed errors. Knows no database and no tools; whoever calls it says what to send.
//!
//! - [`chat`]: what is asked and answered, whatever the provider. [`error`]: why a provider gave no
//!   answer. [`client`]: the one entry point.
//! - [`openai`], [`responses`], [`anthropic`], [`gemini`]: wire formats. [`embed`]: vectors.
//!   [`turns`]: conversations as strict vendors want them. [`transport`]: HTTP, repeats, streams.
//!   [`sse`]: their events.
//! - [`scripted`]: the offline model. [`catalog`]: which models there are, and what texts weigh.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod anthropic;
mod call_ids;
pub mod catalog;
pub mod chat;
pub mod client;
mod embed;
pub mod error;
mod gemini;
mod openai;
mod responses;
pub mod scripted;
pub mod sse;
mod transport;
mod turns;

pub use chat::{
    ChatMessage, ChatReply, ChatRequest, Delta, Deltas, Endpoint, Finish, ToolChoice, ToolSpec,
};
pub use client::Client;
pub use error::{ErrorKind, LlmError};
pub use transport::{SetupError, settings::Settings};
