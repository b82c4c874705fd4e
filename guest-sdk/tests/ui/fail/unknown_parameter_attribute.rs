use bulkhead_sdk::tool;

/// Greets.
#[tool]
fn greet(#[optional] name: String) {}

fn main() {}
