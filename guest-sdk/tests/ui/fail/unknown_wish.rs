use bulkhead_sdk::tool;

/// Fetches.
#[tool(wishes(network("example.com")))]
fn fetch() {}

fn main() {}
