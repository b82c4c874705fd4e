use bulkhead_sdk::tool;

/// Fetches.
#[tool(wishes(http))]
fn fetch() {}

/// Counts.
#[tool(wishes(peers()))]
fn count() {}

fn main() {}
