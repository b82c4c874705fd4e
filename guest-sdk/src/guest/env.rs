//! Environment variables, which come through `wasi:cli/environment`.

pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
