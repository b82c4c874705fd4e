use bulkhead_sdk::tool;

/// Greets.
#[tool]
fn greet<T: Into<String>>(name: T) {
    let _ = name.into();
}

fn main() {}
