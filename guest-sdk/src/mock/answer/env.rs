//! Environment variables.

use super::with;

pub(crate) fn var(name: &str) -> Option<String> {
    with(|host| host.env.get(name).cloned())
}
