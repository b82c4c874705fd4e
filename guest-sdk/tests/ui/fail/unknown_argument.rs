use bulkhead_sdk::tool;

/// Greets.
#[tool(readonly)]
fn greet() {}

fn main() {}
