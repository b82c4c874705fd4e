//! Every shape against what serde writes of the type that it stands for.

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
            let is_listed = lists.peek().is_none() || lists.any(|list| list.contains(&json!(text)));
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
        "digest": digest, "source": digest, "tool": "t", "agent_id": "a", "input_hash": digest, "grant_hash": digest,
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
