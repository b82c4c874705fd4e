use bulkhead_sdk::tool;

const HOST: &str = "example.com";

/// Fetches.
#[tool(wishes(http(HOST)))]
fn fetch() {}

fn main() {}
