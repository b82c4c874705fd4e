//! MCP servers and their tools, with a real server on loopback.
//!
//! - [`servers`]: registered, changed, listed anew, deleted. [`addresses`]: which addresses a server
//!   may have, and who gets its token. [`calls`]: what agents and people get of its tools.
//! - [`sessions`]: whose state of a server is whose. [`secrets`]: what of a token comes back. [`users`]:
//!   people of the platform.
//! - [`hostile`]: servers that hang, lie, and never end. [`legacy`]: the older routes and the older
//!   transport. [`file`]: agents with such tools as files. [`fake`]: the server.

mod addresses;
mod calls;
pub(crate) mod fake;
mod file;
mod hostile;
mod legacy;
mod secrets;
mod servers;
mod sessions;
mod users;

use serde_json::{Value, json};

use crate::{clients::made, support::TestServer};

/// Registers a server at this address.
pub(crate) async fn registered(server: &TestServer, name: &str, url: &str) -> Value {
    registered_with(server, name, json!({ "server_url": url })).await
}

/// The same with more of its configuration.
async fn registered_with(server: &TestServer, name: &str, config: Value) -> Value {
    made(server, "/v1/mcp-servers/", &body(name, config)).await
}

/// The body that registers a server; over streamable HTTP unless it says otherwise.
fn body(name: &str, mut config: Value) -> Value {
    if config["mcp_server_type"].is_null() {
        config["mcp_server_type"] = json!("streamable_http");
    }
    json!({ "server_name": name, "config": config })
}

fn path(mcp: &Value) -> String {
    format!("/v1/mcp-servers/{}", mcp["id"].as_str().unwrap())
}

/// The id of a tool of a server.
async fn tool(server: &TestServer, mcp: &Value, name: &str) -> String {
    let tools = crate::clients::read(server, &format!("{}/tools", path(mcp))).await;
    let tools = tools.as_array().unwrap();
    let found = tools.iter().find(|tool| tool["name"] == name);
    let found = found.unwrap_or_else(|| panic!("{name} in {tools:?}"));
    found["id"].as_str().unwrap().to_owned()
}
