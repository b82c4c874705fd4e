//! Interface `secrets`.

use super::with;

pub(crate) fn reveal(name: &str) -> Option<String> {
    with(|host| host.secrets.get(name).cloned())
}
