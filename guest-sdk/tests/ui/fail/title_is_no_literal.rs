use bulkhead_sdk::tool;

const TITLE: &str = "Greet";

/// Greets.
#[tool(title = TITLE)]
fn greet() {}

fn main() {}
