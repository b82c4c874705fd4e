use bulkhead_sdk::tool;

/// Greets.
#[tool]
async fn greet() {}

fn main() {}
