use bulkhead_sdk::tool;

/// Greets.
#[tool(read_only, destructive)]
fn greet() {}

fn main() {}
