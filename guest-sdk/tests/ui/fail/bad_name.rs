use bulkhead_sdk::tool;

/// Greets.
#[tool(name = "say hello")]
fn greet() {}

/// Greets in German.
#[tool]
fn grüße() {}

fn main() {}
