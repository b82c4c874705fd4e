use bulkhead_sdk::tool;

/// Adds.
#[tool]
fn add((left, right): (i32, i32)) -> String {
    (left + right).to_string()
}

fn main() {}
