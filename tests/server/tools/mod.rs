//! Tools that arrive as source text, as clients of the V1 API send them: `/v1/tools`.
//!
//! - [`save`], [`list`], [`update`]: what is stored, on both databases.
//! - [`schema`]: what a model would be offered. [`bad_input`]: what is refused, in which words.
//! - [`core`]: the tools that come with the server. [`code`]: scripts. [`run`]: calls without saving. [`grants`]: what they may reach. [`packages`]: what they import.

mod bad_input;
mod code;
mod core;
mod grants;
mod list;
mod packages;
mod run;
mod save;
mod schema;
mod update;

use bulkhead_store::testing::Kind;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

/// An id that no tool has.
const NOBODY: &str = "tool-00000000-0000-4000-8000-000000000000";

/// Python with the docstring that a schema needs, in which every parameter is described:
/// `python("f(a: int)", "return a")`.
fn python(signature: &str, body: &str) -> String {
    let (_, parameters) = signature.split_once('(').unwrap();
    let names = parameters
        .trim_end_matches(')')
        .split(", ")
        .filter_map(|parameter| Some(parameter.split_once(':')?.0));
    let described: String = names
        .map(|name| format!("        {name}: The {name}.\n"))
        .collect();
    let arguments = if described.is_empty() {
        String::new()
    } else {
        format!("\n    Args:\n{described}")
    };
    format!("def {signature}:\n    \"\"\"Does {signature}.\n{arguments}    \"\"\"\n    {body}\n",)
}

/// A tool that needs no Python: `name` gives its argument `a` back.
fn javascript(name: &str) -> Value {
    json!({
        "source_type": "javascript",
        "source_code": format!("function {name}(a) {{ return a }}"),
        "json_schema": schema_of(name),
    })
}

/// The function that [`javascript`] offers to a model.
fn schema_of(name: &str) -> Value {
    let a = json!({ "type": "integer", "description": "The a." });
    json!({
        "name": name, "description": format!("Gives back, as {name}."),
        "parameters": { "type": "object", "properties": { "a": a }, "required": ["a"] },
    })
}

/// Saves a tool that must be taken.
async fn saved(server: &TestServer, body: &Value) -> Value {
    let saved = server.post("/v1/tools/", body).await;
    assert_eq!(saved.status, 200, "{saved:?}");
    saved.body
}

/// Saves tools made by [`javascript`], one after the other, and gives their ids.
async fn saved_all(server: &TestServer, names: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    for name in names {
        let tool = saved(server, &javascript(name)).await;
        ids.push(tool["id"].as_str().unwrap().to_owned());
    }
    ids
}

/// The text of a refusal of the contract, which has nothing else unless a body or a query is
/// malformed.
fn detail(answer: &Answer) -> (u16, &str) {
    let text = answer.body["detail"].as_str();
    let text = text.unwrap_or_else(|| panic!("{answer:?}"));
    (answer.status.as_u16(), text)
}

/// A server on each database that there is.
async fn on_both_databases() -> Vec<TestServer> {
    let mut servers = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        servers.extend(TestServer::start_kind(kind).await);
    }
    servers
}
