//! Everything that a tool may return.

use bulkhead_sdk::{Content, Error, Json, Output, tool, tools};

/// Nothing.
#[tool]
fn nothing() {}

/// Text.
#[tool]
fn text() -> &'static str {
    "text"
}

/// Parts.
#[tool]
fn parts() -> Vec<Content> {
    vec![Content::blob("image/png", [1, 2]), Content::link("https://example.com")]
}

/// An output.
#[tool]
fn output() -> Result<Output, std::io::Error> {
    Ok(Output::from_text("text"))
}

/// A list.
#[tool]
fn list() -> Result<Json<Vec<u8>>, Error> {
    let number: u8 = "7".parse()?;
    Ok(Json(vec![number]))
}

tools![nothing, text, parts, output, list];

fn main() {
    for tool in TOOLS {
        tool.call("{}").unwrap();
    }
}
