use bulkhead_sdk::tool;

/// Fetches.
#[tool(wishes(http("ftp://example.com")))]
fn fetch() {}

fn main() {}
