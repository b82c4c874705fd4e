//! The shapes of the lower rooms' types in the OpenAPI document. Those rooms know nothing of
//! OpenAPI; a test compares every shape here with what serde writes.

#![expect(dead_code, reason = "only their schemas are used")]

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What kind of component it is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Native,
    Plain,
}

/// An interface that a component imports.
#[derive(ToSchema)]
pub(crate) struct Import {
    /// For example `bulkhead:tool/http@0.1.0`.
    name: String,
    /// Whether it can reach, learn or change anything beyond the call's own input and output.
    effect: bool,
}

/// What a tool says of itself.
#[derive(ToSchema)]
pub(crate) struct ToolInfo {
    /// Unique within its component.
    name: String,
    /// What it does, for the model.
    description: String,
    /// JSON Schema 2020-12 of the input.
    input_schema: Value,
    /// JSON Schema 2020-12 of the structured output.
    output_schema: Option<Value>,
    annotations: Annotations,
}

/// Hints for clients and approval policies; never a grant.
#[derive(ToSchema)]
pub(crate) struct Annotations {
    /// A name for people.
    title: Option<String>,
    /// Changes nothing outside of itself.
    read_only: bool,
    /// May delete or overwrite.
    destructive: bool,
    /// Repeating the call with the same input has no further effect.
    idempotent: bool,
    /// Reaches an open set of outside systems.
    open_world: bool,
}

/// What is wished for, granted or passed on. What is left out is not allowed.
#[derive(ToSchema)]
pub(crate) struct Capabilities {
    /// Requests that may leave, by any one of these rules.
    #[schema(required = false)]
    http: Vec<HttpRule>,
    /// Names of credentials that the host may add to requests.
    #[schema(required = false)]
    credentials: Vec<String>,
    /// Names of credentials that the guest may read.
    #[schema(required = false)]
    reveal: Vec<String>,
    /// Small durable state of its own.
    #[schema(required = false)]
    state: bool,
    /// The agent's memory blocks.
    memory: Option<MemoryRule>,
    /// The agent's archive and conversation.
    #[schema(required = false)]
    recall: bool,
    /// Files attached to the agent.
    #[schema(required = false)]
    files: bool,
    /// Ids of agents that it may write to; `*` for any.
    #[schema(required = false)]
    agents: Vec<String>,
    /// Names of other tools that it may call; `*` for any.
    #[schema(required = false)]
    peers: Vec<String>,
    /// Names of environment variables that it may see; `*` for any.
    #[schema(required = false)]
    env: Vec<String>,
    /// Folders of the host that it may see.
    #[schema(required = false)]
    folders: Vec<FolderRule>,
}

/// Which requests may leave: `[scheme://]host[:port][/path]`, or an object.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum HttpRule {
    /// For example `https://api.example.com/v1`.
    Shorthand(String),
    Rule(HttpRuleObject),
}

/// Allows the requests that match all of its parts.
#[derive(Serialize, ToSchema)]
pub(crate) struct HttpRuleObject {
    /// Exact, `*.example.com` for one leading label, `*` for any.
    host: String,
    /// `http` or `https`; both where left out.
    scheme: Option<String>,
    /// The scheme's default where left out.
    port: Option<u16>,
    /// Methods in upper case; any where left out.
    methods: Option<Vec<String>>,
    /// What the path begins with.
    #[schema(required = false)]
    path: String,
    /// Ranges of non-public addresses that this rule opens.
    #[schema(required = false)]
    private: Vec<String>,
    /// Bytes that one call may send under this rule.
    max_request_bytes: Option<u64>,
    /// Bytes that one call may receive under this rule.
    max_response_bytes: Option<u64>,
}

/// Where in a request a secret goes.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Placement {
    /// `authorization: Bearer SECRET`.
    Bearer,
    /// A header of its own.
    Header {
        name: String,
        /// What stands before the secret.
        #[schema(required = false)]
        prefix: String,
    },
    /// A parameter of the query.
    Query { name: String },
    /// The password of `authorization: Basic …`.
    Basic { user: String },
}

/// Which memory blocks, and whether they may be changed.
#[derive(ToSchema)]
pub(crate) struct MemoryRule {
    /// Labels of blocks; `*` for any.
    labels: Vec<String>,
    write: bool,
}

/// A folder of the host that a guest sees.
#[derive(ToSchema)]
pub(crate) struct FolderRule {
    /// Absolute path on the host; empty in a wish.
    #[schema(required = false)]
    host: String,
    /// Absolute path in the guest.
    guest: String,
    #[schema(required = false)]
    write: bool,
    /// Bytes that one call may write.
    quota_bytes: Option<u64>,
}

/// How two sets of capabilities differ.
#[derive(ToSchema)]
pub(crate) struct Diff {
    added: Vec<Change>,
    removed: Vec<Change>,
}

/// One capability that one set has and the other does not cover.
#[derive(ToSchema)]
pub(crate) struct Change {
    /// For example `http`.
    capability: String,
    /// What of it, for people.
    value: String,
}

/// One thing that is wrong.
#[derive(ToSchema)]
pub(crate) struct Problem {
    /// JSON Pointer (RFC 6901); empty for the whole.
    at: String,
    message: String,
}

/// How a call ended, as the host saw it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Ok,
    ToolError,
    Denied,
    InvalidInput,
    UnknownTool,
    OutOfFuel,
    DeadlineExceeded,
    OutOfMemory,
    LimitExceeded,
    Trap,
    Exited,
    InvalidOutput,
    Cancelled,
    Overloaded,
    HostError,
}

/// What a call that succeeded gives back.
#[derive(ToSchema)]
pub(crate) struct Output {
    /// What the model reads.
    content: Vec<Content>,
    /// JSON that matches the tool's output schema.
    structured: Option<Value>,
    /// Whether the host cut the content to its limit.
    truncated: bool,
}

/// One part of a result.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Content {
    Text {
        text: String,
    },
    Blob {
        /// For example `image/png`.
        media_type: String,
        /// Base64.
        data: String,
    },
    Link {
        uri: String,
        title: Option<String>,
    },
}

/// A tool's own failure.
#[derive(ToSchema)]
pub(crate) struct ToolError {
    /// `invalid_input`, `unauthorized`, `denied`, `not_found`, `conflict`, `upstream` or
    /// `failed`.
    kind: String,
    /// A text; for `invalid_input` a list of problems, for `upstream` an object.
    detail: Value,
}

/// What one call did and consumed.
#[derive(ToSchema)]
pub(crate) struct Receipt {
    /// `receipt-<uuid>`.
    id: String,
    /// `call-<uuid>`.
    call_id: String,
    /// Equal across retries of one logical call.
    idempotency_key: String,
    /// The component that ran.
    digest: String,
    /// The tool that was called.
    tool: String,
    /// The agent on whose behalf.
    agent_id: Option<String>,
    /// SHA-256 of the input text as the guest got it.
    input_hash: String,
    /// SHA-256 of the effective grant in canonical JSON.
    grant_hash: String,
    /// SHA-256 of the output as JSON.
    output_hash: Option<String>,
    outcome: Outcome,
    /// What the host says of an outcome other than ok.
    detail: Option<String>,
    fuel: FuelByPhase,
    /// The largest sum of all memories and tables.
    peak_memory_bytes: u64,
    /// From the slot's acquisition to the end, in microseconds.
    wall_us: u64,
    /// Waiting for a slot, in microseconds.
    queue_us: u64,
    /// When the call arrived (RFC 3339).
    started_at: String,
    /// Calls from the guest to the host, in order.
    host_calls: Vec<HostCall>,
    /// How many further host calls were not recorded one by one.
    host_calls_omitted: u64,
    /// What the host refused, each once.
    denials: Vec<Denial>,
}

/// Fuel by phase.
#[derive(ToSchema)]
pub(crate) struct FuelByPhase {
    instantiate: u64,
    call: u64,
}

/// One call from the guest to the host.
#[derive(ToSchema)]
pub(crate) struct HostCall {
    /// For example `http`.
    interface: String,
    /// For example `fetch`.
    function: String,
    /// What it was about; no query, no secret.
    target: Option<String>,
    bytes_in: u64,
    bytes_out: u64,
    /// `ok`, `failed` or `denied`.
    outcome: String,
    wall_us: u64,
}

/// Something that the host refused for want of a grant.
#[derive(ToSchema)]
pub(crate) struct Denial {
    capability: String,
    /// What was refused and which grant would allow it.
    message: String,
}

/// A line of a call's log.
#[derive(ToSchema)]
pub(crate) struct LogLine {
    /// `debug`, `info`, `stdout`, `stderr`, `warn` or `error`.
    level: String,
    message: String,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bulkhead_domain::{self as domain, Digest};
    use bulkhead_policy as policy;
    use bulkhead_sandbox as sandbox;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;

    /// What serde writes of a `T` that has everything.
    fn written<T: DeserializeOwned + Serialize>(value: Value) -> Value {
        serde_json::to_value(serde_json::from_value::<T>(value).unwrap()).unwrap()
    }

    fn document() -> Value {
        let (_, document) = crate::http::documented().split_for_parts();
        serde_json::to_value(document).unwrap()
    }

    /// The objects that a schema may stand for.
    fn objects<'a>(document: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = document
                .pointer(reference.strip_prefix('#').unwrap())
                .unwrap();
            return objects(document, target);
        }
        for variants in ["oneOf", "anyOf"] {
            if let Some(variants) = schema[variants].as_array() {
                return variants
                    .iter()
                    .flat_map(|variant| objects(document, variant))
                    .collect();
            }
        }
        vec![schema]
    }

    /// Every object has exactly the properties of its schema, every text of an enumeration is
    /// in it.
    fn compare(document: &Value, schema: &Value, value: &Value, at: &str) {
        let candidates = objects(document, schema);
        match value {
            Value::Object(fields) => {
                let names: BTreeSet<_> = fields.keys().collect();
                let fits = candidates.iter().find(|candidate| {
                    let properties = candidate["properties"].as_object();
                    properties.is_some_and(|properties| names == properties.keys().collect())
                });
                // A schema without properties is any JSON.
                let is_any = candidates
                    .iter()
                    .any(|candidate| candidate.get("properties").is_none());
                let Some(fits) = fits else {
                    assert!(is_any, "{at}: {names:?} in {candidates:?}");
                    return;
                };
                for (name, value) in fields {
                    compare(
                        document,
                        &fits["properties"][name],
                        value,
                        &format!("{at}/{name}"),
                    );
                }
            }
            Value::Array(items) => {
                let list = candidates
                    .iter()
                    .find(|candidate| candidate.get("items").is_some());
                let list = list.unwrap_or_else(|| panic!("{at} is no list in {candidates:?}"));
                items
                    .iter()
                    .for_each(|item| compare(document, &list["items"], item, at));
            }
            Value::String(text) => {
                let lists = candidates
                    .iter()
                    .filter_map(|candidate| candidate["enum"].as_array());
                let mut lists = lists.peekable();
                let is_listed =
                    lists.peek().is_none() || lists.any(|list| list.contains(&json!(text)));
                assert!(is_listed, "{at}: {text} in {candidates:?}");
            }
            _ => {}
        }
    }

    #[test]
    fn every_shape_is_what_serde_writes() {
        let id = "00000000-0000-4000-8000-000000000000";
        let digest = Digest::of(b"");
        let host_call = json!({
            "interface": "http", "function": "fetch", "target": "GET https://a.com", "bytes_in": 1,
            "bytes_out": 2, "outcome": "ok", "wall_us": 3,
        });
        let receipt = json!({
            "id": format!("receipt-{id}"), "call_id": format!("call-{id}"), "idempotency_key": "k",
            "digest": digest, "tool": "t", "agent_id": "a", "input_hash": digest, "grant_hash": digest,
            "output_hash": digest, "outcome": "ok", "detail": "d", "fuel": { "instantiate": 1, "call": 2 },
            "peak_memory_bytes": 1, "wall_us": 1, "queue_us": 1, "started_at": "2026-01-31T12:00:00Z",
            "host_calls": [host_call], "host_calls_omitted": 0,
            "denials": [{ "capability": "http", "message": "m" }],
        });
        let rule = json!({
            "host": "a.com", "scheme": "https", "port": 8443, "methods": ["GET"], "path": "/v1",
            "private": ["10.0.0.0/8"], "max_request_bytes": 1, "max_response_bytes": 1,
        });
        let capabilities = json!({
            "http": [rule], "credentials": ["c"], "reveal": ["c"], "state": true,
            "memory": { "labels": ["human"], "write": true }, "recall": true, "files": true,
            "agents": ["*"], "peers": ["*"], "env": ["TZ"],
            "folders": [{ "host": "/srv", "guest": "/data", "write": true, "quota_bytes": 1 }],
        });
        let content = json!([
            { "type": "text", "text": "t" },
            { "type": "blob", "media_type": "image/png", "data": "" },
            { "type": "link", "uri": "https://a.com", "title": "t" },
        ]);
        let tool = json!({
            "name": "t", "description": "d", "input_schema": {}, "output_schema": {},
            "annotations": { "title": "t", "read_only": true, "destructive": false, "idempotent": true, "open_world": false },
        });
        let old = policy::Capabilities::default();
        let new: policy::Capabilities = serde_json::from_value(capabilities.clone()).unwrap();
        let document = document();
        for (name, value) in [
            ("Receipt", written::<domain::Receipt>(receipt)),
            (
                "Capabilities",
                written::<policy::Capabilities>(capabilities),
            ),
            (
                "Output",
                written::<domain::Output>(
                    json!({ "content": content, "structured": {}, "truncated": true }),
                ),
            ),
            ("ToolInfo", written::<domain::ToolInfo>(tool)),
            (
                "Problem",
                written::<domain::Problem>(json!({ "at": "", "message": "m" })),
            ),
            (
                "Import",
                written::<sandbox::Import>(json!({ "name": "n", "effect": true })),
            ),
            (
                "LogLine",
                written::<sandbox::LogLine>(json!({ "level": "info", "message": "m" })),
            ),
            (
                "Diff",
                serde_json::to_value(policy::Diff::between(&old, &new)).unwrap(),
            ),
            (
                "ToolError",
                serde_json::to_value(domain::ToolError::Failed("f".to_owned())).unwrap(),
            ),
            ("Kind", written::<sandbox::Kind>(json!("plain"))),
            (
                "Placement",
                written::<sandbox::egress::Placement>(
                    json!({ "type": "header", "name": "n", "prefix": "p" }),
                ),
            ),
            (
                "Placement",
                written::<sandbox::egress::Placement>(json!({ "type": "bearer" })),
            ),
        ] {
            let schema = &document["components"]["schemas"][name];
            assert!(schema.is_object(), "{name} is not in the document");
            compare(&document, schema, &value, name);
        }
        let outcomes = document["components"]["schemas"]["Outcome"]["enum"]
            .as_array()
            .unwrap();
        for outcome in outcomes {
            let known: domain::Outcome = serde_json::from_value(outcome.clone()).unwrap();
            assert_eq!(*outcome, known.as_str());
        }
    }
}
