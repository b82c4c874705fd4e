//! What clients set up for all tools from source.
//!
//! - [`configs`]: the one configuration. [`variables`]: its variables. [`paths`]: spellings of paths.
//! - [`seen`]: what tools see of them.

mod configs;
mod paths;
mod seen;
mod variables;

use bulkhead_store::testing::Kind;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

const CONFIGS: &str = "/v1/sandbox-config/";
const DEFAULT_USER: &str = "user-00000000-0000-4000-8000-000000000000";
const ORGANIZATION: &str = "org-00000000-0000-4000-8000-000000000000";
/// Well-formed, and of nothing.
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// A server for each database that is there.
async fn servers() -> Vec<TestServer> {
    let mut servers = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        servers.extend(TestServer::start_kind(kind).await);
    }
    servers
}

/// The answer's object.
fn ok(answer: Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// The status and the text of a refusal.
fn refused(answer: &Answer) -> (u16, &str) {
    let detail = answer.body["detail"].as_str().unwrap_or_default();
    assert!(!detail.is_empty(), "{answer:?}");
    (answer.status.as_u16(), detail)
}

/// The answer says that there is no such thing.
fn assert_missing(answer: &Answer, what: &str) {
    let (status, detail) = refused(answer);
    assert_eq!(status, 404, "{answer:?}");
    assert!(
        detail.starts_with(&format!("{what} not found with id='['sandbox-")),
        "{detail}"
    );
}

/// The ids of a list.
fn ids(answer: Answer) -> Vec<String> {
    let list = ok(answer);
    let ids = list.as_array().unwrap().iter().map(|entry| &entry["id"]);
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Saves the configuration and gives its id.
async fn saved_id(server: &TestServer) -> String {
    let saved = ok(server.post("/v1/sandbox-config/local", &json!({})).await);
    saved["id"].as_str().unwrap().to_owned()
}

/// Makes the configuration and gives the path of its variables.
async fn variables_of(server: &TestServer) -> String {
    let config = ok(server
        .post("/v1/sandbox-config/local/default", &json!({}))
        .await);
    format!(
        "{CONFIGS}{}/environment-variable",
        config["id"].as_str().unwrap()
    )
}

fn path_of(variable: &Value) -> String {
    format!(
        "{CONFIGS}environment-variable/{}",
        variable["id"].as_str().unwrap()
    )
}
