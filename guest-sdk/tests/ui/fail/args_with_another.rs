use bulkhead_sdk::tool;

/// Greets.
#[tool]
fn greet(#[args] input: Vec<u8>, name: String) {}

fn main() {}
