//! A client of MCP servers (Model Context Protocol): lists their tools and calls them. Everything
//! that a server says is untrusted: answers are bounded in bytes, parts and time, and read without
//! building more of them than is used.
//!
//! Requests leave through [`bulkhead_egress`] alone, under a rule that allows exactly the origin of
//! the server's address, with the server's token added on the way out. A redirect is followed
//! within that origin and nowhere else.
//!
//! - [`Client`]: the one entry point. [`Endpoint`]: where a server is and how it is spoken to.
//!   [`address`]: which addresses a server may have; [`PrivateRange`]: those that somebody opened. [`Settings`]: how long things may take.
//! - [`tools`]: what a server says of its tools; [`result`]: what a call gave. [`McpError`]: why it
//!   gave nothing. [`Trail`]: what left and what came, for the receipt.
//! - `connection`: a server that was greeted, over `streamable` or `sse`; `sessions`: those that are
//!   kept; `places`: how much goes on at once. `wire`: one exchange. `rpc`: messages of JSON-RPC.
//!   `headers`: what is sent to a server alone; `plain`: how that is found in what it says.
//!   `limited`: lists of bounded length.

pub mod address;
mod client;
mod connection;
mod endpoint;
mod error;
mod headers;
mod limited;
mod places;
mod plain;
mod private;
pub mod result;
mod rpc;
mod sessions;
mod settings;
mod sse;
mod streamable;
pub mod tools;
mod trail;
mod wire;

pub use client::{Call, Client};
pub use endpoint::{Endpoint, EndpointError, Given, Transport};
pub use error::McpError;
pub use private::{ParsePrivateRangeError, PrivateRange};
pub use result::{Content, ToolResult};
pub use settings::Settings;
pub use tools::RemoteTool;
pub use trail::Trail;
