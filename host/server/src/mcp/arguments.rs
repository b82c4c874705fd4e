//! The arguments of a call, checked before anything leaves.

use bulkhead_domain::{Outcome, Problem};
use serde_json::{Map, Value};

use super::{
    call::{McpCall, Stopped},
    schema::HEARTBEAT,
};
use crate::app::App;

/// The arguments for the server, where they match the schema that it gave.
pub(super) async fn checked(app: &App, call: &McpCall) -> Result<Map<String, Value>, Stopped> {
    let mut arguments = call.arguments.clone();
    let Some(schema) = &call.tool.args_json_schema else {
        return Ok(arguments);
    };
    if schema["properties"].get(HEARTBEAT).is_none() {
        arguments.remove(HEARTBEAT);
    }
    let value = Value::Object(arguments);
    let checked = call
        .cancel
        .run_until_cancelled(app.mcp_checks.check(&call.tool, value));
    let Some(checked) = checked.await else {
        return Err(Stopped::cancelled());
    };
    match checked.map_err(|problems| wrong(&problems))? {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
    }
}

fn wrong(problems: &[Problem]) -> Stopped {
    let told = problems.iter().map(|Problem { at, message }| {
        let at = if at.is_empty() { "/" } else { at };
        format!("{at}: {message}")
    });
    let places = problems.iter().map(|problem| format!("\"{}\"", problem.at));
    let text = format!(
        "InvalidArguments: the arguments do not match the schema of the tool: {}",
        told.collect::<Vec<_>>().join("; ")
    );
    let places = places.collect::<Vec<_>>().join(", ");
    Stopped {
        detail: Some(format!("the input is wrong at {places}")),
        ..Stopped::new(Outcome::InvalidInput, text)
    }
}
