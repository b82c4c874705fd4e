//! One struct is the whole input.

use bulkhead_sdk::{Deserialize, Json, JsonSchema, Serialize, json, mock::call, tool, tools};

#[derive(Deserialize, JsonSchema)]
struct AddInput {
    /// The first.
    left: i32,
    right: i32,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i32,
}

/// Adds.
#[tool(name = "add-up")]
fn add(#[args] AddInput { left, right }: AddInput) -> Json<Sum> {
    Json(Sum { sum: left + right })
}

tools![add];

fn main() {
    assert_eq!(TOOLS[0].name(), "add-up");
    assert_eq!(TOOLS[0].input_schema()["properties"]["left"]["description"], "The first.");
    let output = call(TOOLS, "add-up", json!({ "left": 1, "right": 2 })).unwrap();
    assert_eq!(output.structured, Some(json!({ "sum": 3 })));
    assert_eq!(TOOLS[0].output_schema().unwrap()["required"], json!(["sum"]));
}
