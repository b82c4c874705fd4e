//! The only way by which a tool's request leaves.
//!
//! For every request, and again for every redirect: parse, normalise, ask the rules, resolve once,
//! check every address, connect to the checked addresses and to nothing else. Credentials are
//! added after that, on a copy that the guest never sees; what the guest sends is searched for
//! them before it leaves, and what comes back is searched before the guest gets it; an answer that
//! flows, for those that its server can have (`search`).
//!
//! Each request has a connection of its own (hyper's HTTP/1.1 client on a socket that this crate
//! opened). A pool would save a handshake and would have to prove that a connection opened under
//! one grant is never used under another; on loopback a request with a fresh connection costs
//! about 0.1 ms. There is no proxy, no cookie jar, no decoding and no redirect but what stands
//! here.
//!
//! - [`settings`]: what one process has once; [`Egress`] is made from it.
//! - [`access`]: what one call may do: rules, credentials, budgets.
//! - [`session`]: one call's way out; [`fetch`] is the buffered form, [`send`] the streaming one.
//! - `exchange`: one request and its answer, where everything above happens in order.
//! - [`credential`], [`secret`]: what is added on the way out.
//! - `search`: which secrets a request carries, and which it may not.
//! - [`scrub`]: finds secrets in what leaves and what comes back.
//! - [`resolver`], `reach`, `connect`: names to checked addresses to a connection.
//! - [`error`]: what a guest is told.
//!
//! What this does not promise: a server that is entitled to a credential can hand it back in a
//! form that no search knows (reversed, in pieces over several answers). A grant to such a server
//! is trust in it.

pub mod access;
mod body_in;
mod body_out;
mod budget;
mod connect;
pub mod credential;
pub mod error;
mod exchange;
pub mod fetch;
pub mod headers;
mod reach;
pub mod resolver;
pub mod scrub;
mod search;
pub mod secret;
pub mod send;
pub mod session;
pub mod settings;

pub use access::Access;
pub use budget::Allowance;
pub use credential::{Credential, Placement};
pub use error::{EgressError, SetupError};
pub use fetch::{Request, Response};
pub use resolver::{Resolver, SystemResolver};
pub use scrub::{Scrubber, StreamScrubber};
pub use secret::{Secret, SecretError};
pub use send::StreamLimits;
pub use session::{Egress, Session};
pub use settings::Settings;

/// A body in flight, as `wasi:http` hosts use it.
pub type BoxBody = http_body_util::combinators::UnsyncBoxBody<bytes::Bytes, EgressError>;
