use bulkhead_sdk::tool;

#[tool]
fn greet() {}

fn main() {}
