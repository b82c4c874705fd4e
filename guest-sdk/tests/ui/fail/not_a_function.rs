use bulkhead_sdk::tool;

/// Greets.
#[tool]
struct Greet;

fn main() {}
