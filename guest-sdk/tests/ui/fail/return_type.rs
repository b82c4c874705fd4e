use bulkhead_sdk::tool;

struct Sum(i32);

/// Adds.
#[tool]
fn add(left: i32, right: i32) -> Sum {
    Sum(left + right)
}

fn main() {}
