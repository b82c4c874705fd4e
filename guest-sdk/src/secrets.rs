//! The escape hatch for credentials: reading one, for protocols that the host can't speak.
//!
//! Prefer [`http::Request::credential`](crate::http::Request::credential), by which a tool uses
//! a credential that it never holds.

use crate::host;

/// The value of a credential; none if it is unknown or not granted.
pub fn reveal(name: &str) -> Option<String> {
    host::secrets::reveal(name)
}
