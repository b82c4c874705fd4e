//! Who somebody is, and what they may do: no SQL, no HTTP, no I/O.
//!
//! - [`password`]: passwords, how strong they must be, and their hashes, made on threads of their own.
//! - [`token`]: the signed tokens of a sign-in.
//! - [`throttle`]: how often somebody may try to sign in.
//! - [`rules`]: who may do what, in one table.

pub mod password;
pub mod rules;
pub mod throttle;
pub mod token;

pub use password::{Password, PasswordError, Passwords, Verdict, Weakness};
pub use rules::{Action, Decision, Principal, Relation, decide};
pub use throttle::{Attempt, Refused, Throttle};
pub use token::{Access, Refresh, TokenError, TokenKey};
