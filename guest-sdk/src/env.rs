//! Environment variables that the tool's owner set.

use crate::host;

/// The value of a variable; none if it is not set or not granted. In a component the same as
/// `std::env::var`; in tests what the mock holds, not the machine's environment.
pub fn var(name: &str) -> Option<String> {
    host::env::var(name)
}
