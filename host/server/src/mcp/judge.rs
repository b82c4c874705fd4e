//! Whether the schemas of a server's tools can be used. They are anybody's, and compiling them costs:
//! it happens on a thread that nobody else waits for, one list at a time, within a budget.

use std::time::{Duration, Instant};

use bulkhead_mcp::RemoteTool;
use bulkhead_sandbox::InputCheck;
use serde_json::Value;
use tokio::{sync::Semaphore, task::JoinError};

/// Levels of a schema: far above any tool's, and below what can be stored.
const DEPTH_MAX: usize = 64;
/// Reasons that are told for one schema.
const REASONS_MAX: usize = 20;
/// Bytes of all schemas of one server: a thousand tools with 4 KiB each.
const BYTES_MAX: usize = 4 << 20;
/// How long the schemas of one server are compiled. Honest ones take milliseconds together; what is not
/// compiled by then is left out.
const TIME_MAX: Duration = Duration::from_secs(5);

/// Lets one list be judged at a time.
static TURN: Semaphore = Semaphore::const_new(1);

/// A tool of a server, and how well its schema is suited.
pub(crate) struct Judged {
    pub(crate) tool: RemoteTool,
    pub(crate) status: Status,
    /// Why it is not suited better.
    pub(crate) reasons: Vec<String>,
}

/// Judges the tools of one server.
pub(crate) async fn all(tools: Vec<RemoteTool>) -> Result<Vec<Judged>, JoinError> {
    // Nobody closes it.
    let turn = TURN.acquire().await.ok();
    let judged = tokio::task::spawn_blocking(move || {
        // Held until it ends, even where nobody waits any more.
        let _turn = turn;
        within(tools, TIME_MAX)
    });
    judged.await
}

fn within(tools: Vec<RemoteTool>, time: Duration) -> Vec<Judged> {
    let (began, mut bytes) = (Instant::now(), 0_usize);
    let judged = tools.into_iter().map(|tool| {
        let schema = tool.input_schema.as_ref().ok();
        bytes = bytes.saturating_add(schema.map_or(0, |schema| schema.to_string().len()));
        let (status, reasons) = if bytes > BYTES_MAX {
            invalid(format!(
                "the schemas of this server's tools have more than {BYTES_MAX} bytes together"
            ))
        } else if began.elapsed() >= time {
            invalid("the schemas of this server's tools take too long to compile".to_owned())
        } else {
            health(&tool)
        };
        Judged {
            tool,
            status,
            reasons,
        }
    });
    judged.collect()
}

fn invalid(reason: String) -> (Status, Vec<String>) {
    (Status::Invalid, vec![reason])
}

/// How well a schema is suited for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Every object in it says which fields it has.
    Strict,
    /// Some object may have any fields.
    Loose,
    /// It can't be used.
    Invalid,
}

impl Status {
    /// The contract's word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "STRICT_COMPLIANT",
            Self::Loose => "NON_STRICT_ONLY",
            Self::Invalid => "INVALID",
        }
    }
}

/// How well the schema of a tool is suited, and why not better.
fn health(tool: &RemoteTool) -> (Status, Vec<String>) {
    let schema = match &tool.input_schema {
        Ok(schema) => schema,
        Err(reason) => return invalid(reason.clone()),
    };
    if !nests_within(schema, DEPTH_MAX) {
        return invalid(format!("root: nested deeper than {DEPTH_MAX} levels"));
    }
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return invalid("root: type is not object".to_owned());
    }
    if let Err(reason) = InputCheck::new(schema) {
        return invalid(format!("root: {reason}"));
    }
    let mut reasons = Vec::new();
    loose_objects(schema, "root", true, &mut reasons);
    match reasons.is_empty() {
        true => (Status::Strict, reasons),
        false => (Status::Loose, reasons),
    }
}

fn nests_within(value: &Value, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else {
        return !matches!(value, Value::Array(_) | Value::Object(_));
    };
    match value {
        Value::Array(items) => items.iter().all(|item| nests_within(item, left)),
        Value::Object(fields) => fields.values().all(|field| nests_within(field, left)),
        _ => true,
    }
}

/// Notes every object of a schema that may have fields which it does not name.
fn loose_objects(schema: &Value, place: &str, is_root: bool, reasons: &mut Vec<String>) {
    if reasons.len() == REASONS_MAX {
        return;
    }
    match schema {
        Value::Object(fields) => {
            let is_object = is_root || fields.get("type").is_some_and(|kind| kind == "object");
            match fields.get("additionalProperties") {
                None if is_object => {
                    reasons.push(format!(
                        "{place}: 'additionalProperties' not explicitly set"
                    ));
                }
                Some(value) if is_object && *value != false => reasons.push(format!(
                    "{place}: 'additionalProperties' is not false (free-form object)"
                )),
                _ => {}
            }
            for (name, field) in fields {
                let place = format!("{place}.{}", short(name));
                loose_objects(field, &place, false, reasons);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                loose_objects(item, &format!("{place}[{at}]"), false, reasons);
            }
        }
        _ => {}
    }
}

/// The beginning of a name of the server's, for a reason.
fn short(name: &str) -> &str {
    const LENGTH_MAX: usize = 64;
    &name[..name.floor_char_boundary(LENGTH_MAX)]
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    pub(crate) fn judged(name: &str, schema: Value) -> Judged {
        let mut all = within(vec![tool(name, schema)], TIME_MAX);
        all.pop().expect("one")
    }

    fn tool(name: &str, schema: Value) -> RemoteTool {
        RemoteTool {
            name: name.to_owned(),
            title: None,
            description: Some("Does it.".to_owned()),
            input_schema: Ok(schema),
            output_schema: None,
            annotations: None,
        }
    }

    #[test]
    fn a_schema_is_strict_loose_or_no_use() {
        let strict = json!({ "type": "object", "additionalProperties": false,
            "properties": { "a": { "type": "string" } } });
        assert_eq!(health(&tool("a", strict)).0, Status::Strict);
        let loose = json!({ "type": "object", "additionalProperties": false,
            "properties": { "a": { "type": "object" } } });
        let (status, reasons) = health(&tool("a", loose));
        assert_eq!(status, Status::Loose);
        assert_eq!(
            reasons,
            ["root.properties.a: 'additionalProperties' not explicitly set"]
        );
        let mut deep = json!({});
        for _ in 0..DEPTH_MAX {
            deep = json!({ "properties": deep });
        }
        for invalid in [
            json!({ "type": "string" }),
            json!({ "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1/x" } } }),
            json!({ "type": "object", "properties": 7 }),
            deep,
        ] {
            assert_eq!(
                health(&tool("a", invalid.clone())).0,
                Status::Invalid,
                "{invalid}"
            );
        }
    }

    #[test]
    fn what_is_beyond_the_budget_is_left_out() {
        let large = json!({ "description": "x".repeat(100_000) });
        let tools = (0..50).map(|at| tool(&format!("t{at}"), large.clone()));
        let judged = within(tools.collect(), TIME_MAX);
        let usable = judged.iter().filter(|one| one.status != Status::Invalid);
        assert_eq!(usable.count(), BYTES_MAX / large.to_string().len());
        assert!(judged[49].reasons[0].contains("bytes together"));
        let judged = within(vec![tool("a", json!({}))], Duration::ZERO);
        assert!(judged[0].reasons[0].contains("too long"));
    }
}
