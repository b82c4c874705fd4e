use bulkhead_sdk::tool;

/// Greets.
#[tool]
fn greet(&self) {}

fn main() {}
