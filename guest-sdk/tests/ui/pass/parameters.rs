//! Parameters become properties; optional and defaulted ones may be left out.

#![forbid(unsafe_code)]

use bulkhead_sdk::{Error, json, mock::call, tool, tools};

/// Greets someone.
///
/// In more than one line.
#[tool(title = "Greet", read_only, idempotent)]
pub fn greet(
    /// Who to greet.
    mut name: String,
    /// How loud.
    volume: Option<u8>,
    #[default(2 + 1)]
    #[schemars(range(max = 9))]
    times: u32,
    r#type: String,
) -> Result<String, Error> {
    name.push_str(&r#type);
    Ok(format!("{name} {volume:?} {times}"))
}

tools![greet];

fn main() {
    let schema = TOOLS[0].input_schema();
    assert_eq!(schema["required"], json!(["name", "type"]));
    assert_eq!(schema["properties"]["name"]["description"], "Who to greet.");
    assert_eq!(schema["properties"]["times"]["default"], json!(3));
    assert_eq!(schema["properties"]["times"]["maximum"], json!(9));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert!(schema.get("title").is_none());
    assert_eq!(TOOLS[0].description(), "Greets someone.\n\nIn more than one line.");

    let output = call(TOOLS, "greet", json!({ "name": "Ann", "type": "!" })).unwrap();
    assert_eq!(output.text(), "Ann! None 3");
    let error = call(TOOLS, "greet", json!({ "name": "Ann", "type": "!", "volume": 300 })).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(problems) if problems[0].at == "/volume"));
    let error = call(TOOLS, "greet", json!({ "name": "Ann", "type": "!", "other": 1 })).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(_)));
    assert!(matches!(call(TOOLS, "great", json!({})), Err(Error::NotFound(_))));
}
