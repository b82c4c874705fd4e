//! What a server says of its tools.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{McpError, connection::Connection, error::excerpt, limited::Limited};

/// Tools of one server.
pub const TOOLS_MAX: usize = 1000;
/// Pages of the list.
const PAGES_MAX: usize = 100;
/// Bytes of a cursor, which is sent back.
const CURSOR_MAX: usize = 16 << 10;
/// Bytes of one tool with its schemas: a model reads it with every request.
pub const TOOL_BYTES_MAX: usize = 128 << 10;
/// Bytes of a tool's name.
pub const NAME_MAX: usize = 256;
/// Characters of a description that are kept; models read it with every request.
const DESCRIPTION_MAX: usize = 16_000;

/// A tool, as its server describes it. What can't be used of it is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTool {
    /// What the server calls it.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The schema of its arguments, or why there is none that can be used.
    pub input_schema: Result<Value, String>,
    /// The schema of its structured results, which nothing here reads.
    pub output_schema: Option<Value>,
    /// Its hints, as the server wrote them.
    pub annotations: Option<Value>,
}

impl RemoteTool {
    /// Whether its server says that it changes nothing. A hint, and no promise.
    pub fn is_read_only(&self) -> bool {
        let hints = self.annotations.as_ref();
        hints.is_some_and(|hints| hints["readOnlyHint"] == true)
    }
}

#[derive(Deserialize)]
struct Page {
    tools: Limited<Box<RawValue>, TOOLS_MAX>,
    #[serde(rename = "nextCursor")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Described {
    name: String,
    title: Option<String>,
    description: Option<String>,
    #[serde(rename = "inputSchema")]
    input_schema: Option<Value>,
    #[serde(rename = "outputSchema")]
    output_schema: Option<Value>,
    annotations: Option<Value>,
}

/// All tools of a server.
pub(crate) async fn list(connection: &mut Connection<'_>) -> Result<Vec<RemoteTool>, McpError> {
    let mut tools: Vec<RemoteTool> = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let params = match &cursor {
            None => json!({}),
            Some(cursor) => json!({ "cursor": cursor }),
        };
        let result = connection.request("tools/list", &params).await?;
        let page: Page = serde_json::from_str(result.get()).map_err(|error| {
            let text = excerpt(&error.to_string());
            McpError::protocol(format!("no list of tools ({text})"))
        })?;
        if tools.len() + page.tools.0.len() > TOOLS_MAX {
            return Err(McpError::protocol(format!("more than {TOOLS_MAX} tools")));
        }
        for tool in page.tools.0 {
            let tool = read(&tool)?;
            // Of two with one name, a call could mean either.
            if tools.iter().any(|other| other.name == tool.name) {
                return Err(McpError::protocol(format!(
                    "two tools named {}",
                    excerpt(&tool.name)
                )));
            }
            tools.push(tool);
        }
        match page.next.filter(|next| !next.is_empty()) {
            None => return Ok(tools),
            Some(next) if next.len() > CURSOR_MAX => break,
            next => cursor = next,
        }
    }
    Err(McpError::protocol("its list of tools has no end"))
}

fn read(tool: &RawValue) -> Result<RemoteTool, McpError> {
    let nameless = || McpError::protocol("a tool without a name that can be used");
    if tool.get().len() > TOOL_BYTES_MAX {
        let reason = format!("it has more than {TOOL_BYTES_MAX} bytes with its schemas");
        return unusable(tool, reason).ok_or_else(nameless);
    }
    let described: Described = match serde_json::from_str(tool.get()) {
        Ok(described) => described,
        // What nests deeper than a value may can be skipped, and read no more.
        Err(error) => {
            let reason = excerpt(&format!("it can't be read: {error}"));
            return unusable(tool, reason).ok_or_else(nameless);
        }
    };
    let object = |value: Option<Value>| value.filter(Value::is_object);
    Ok(RemoteTool {
        name: checked(described.name).ok_or_else(nameless)?,
        title: described.title.map(|title| excerpt(&title)),
        description: described.description.map(shortened),
        input_schema: match object(described.input_schema) {
            Some(schema) => Ok(schema),
            None => Err("its inputSchema is no object".to_owned()),
        },
        output_schema: object(described.output_schema),
        annotations: object(described.annotations),
    })
}

/// A tool of which nothing is known but its name.
fn unusable(tool: &RawValue, reason: String) -> Option<RemoteTool> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let named: Named = serde_json::from_str(tool.get()).ok()?;
    Some(RemoteTool {
        name: checked(named.name)?,
        title: None,
        description: None,
        input_schema: Err(reason),
        output_schema: None,
        annotations: None,
    })
}

fn checked(name: String) -> Option<String> {
    let fits = !name.is_empty() && name.len() <= NAME_MAX && !name.contains(char::is_control);
    fits.then_some(name)
}

/// A description without NUL, which not every database stores, and cut where it is endless.
fn shortened(mut text: String) -> String {
    text.retain(|c| c != '\0');
    if let Some((end, _)) = text.char_indices().nth(DESCRIPTION_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_used_of_a_tool_is_left_out_or_told() {
        let read = |value: Value| {
            let raw = RawValue::from_string(value.to_string()).expect("JSON");
            read(&raw)
        };
        let odd = json!({ "name": "a", "inputSchema": [], "annotations": 7, "outputSchema": null,
            "description": format!("x\u{0}{}", "y".repeat(20_000)), "more": {} });
        let tool = read(odd).expect("a tool");
        assert!(tool.input_schema.is_err() && tool.annotations.is_none());
        let description = tool.description.expect("one");
        assert_eq!(description.chars().count(), DESCRIPTION_MAX + 1);
        let large = json!({ "name": "b", "inputSchema": { "x": "y".repeat(TOOL_BYTES_MAX) } });
        let refused = read(large).expect("a tool").input_schema;
        assert!(refused.is_err_and(|why| why.contains("bytes")));
        for name in ["", "a\nb", &"n".repeat(NAME_MAX + 1)] {
            assert!(read(json!({ "name": name, "inputSchema": {} })).is_err());
        }
        assert!(read(json!({ "inputSchema": {} })).is_err());
    }
}
