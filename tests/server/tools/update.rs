//! PATCH: only what is given changes.

use serde_json::{Value, json};

use super::{detail, javascript, on_both_databases, python, saved, saved_all, schema_of};
use crate::support::{TestServer, has_python};

fn path(tool: &Value) -> String {
    format!("/v1/tools/{}", tool["id"].as_str().unwrap())
}

#[tokio::test]
async fn only_the_given_fields_change() {
    for server in on_both_databases().await {
        let tool = saved(&server, &javascript("one")).await;
        for (field, value) in [
            ("description", json!("Other.")),
            ("tags", json!(["x", "y"])),
            ("return_char_limit", json!(12)),
            ("default_requires_approval", json!(true)),
            ("enable_parallel_execution", json!(true)),
            ("metadata_", json!({ "mine": [1, null] })),
            ("npm_requirements", json!([])),
        ] {
            let before = server.get(&path(&tool)).await.body;
            let changed = server.patch(&path(&tool), &json!({ field: value })).await;
            let mut expected = before;
            expected[field] = value;
            assert_eq!(changed.body, expected, "{field}");
            assert_eq!(server.get(&path(&tool)).await.body, expected, "{field}");
        }
        // Nothing given, and nothing that is none: clients of the API send both.
        let before = server.get(&path(&tool)).await.body;
        for nothing in [
            json!({}),
            json!({ "tags": null, "source_code": null }),
            json!({ "metadata": { "x": 1 } }),
        ] {
            assert_eq!(
                server.patch(&path(&tool), &nothing).await.body,
                before,
                "{nothing}"
            );
        }
    }
}

#[tokio::test]
async fn new_source_of_the_same_function_leaves_schema_and_description() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let tool = saved(
        &server,
        &json!({ "source_code": python("f(a: int)", "return a") }),
    )
    .await;
    let source = python("f(a: int)", "return a + 1").replace("Does", "Now does");
    let changed = server
        .patch(&path(&tool), &json!({ "source_code": source }))
        .await;
    assert_eq!(changed.body["source_code"], source);
    for field in ["id", "json_schema", "description", "name"] {
        assert_eq!(changed.body[field], tool[field], "{field}");
    }
    assert_ne!(
        changed.body["metadata_"]["tool_hash"],
        tool["metadata_"]["tool_hash"]
    );
}

#[tokio::test]
async fn source_of_another_function_is_refused_and_changes_nothing() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let tool = saved(
        &server,
        &json!({ "source_code": python("f(a: int)", "return a") }),
    )
    .await;
    let source = python("longf(a: int)", "return a");
    let refused = server
        .patch(&path(&tool), &json!({ "source_code": source }))
        .await;
    let expected = format!(
        "Tool name 'longf' does not match the name in the JSON schema 'f' or in the source code `{source}`"
    );
    assert_eq!(detail(&refused), (400, expected.as_str()));
    let refused = server
        .patch(&path(&tool), &json!({ "source_code": "def (" }))
        .await;
    assert_eq!(
        detail(&refused),
        (
            400,
            "Failed to derive json schema: Schema generation failed: Failed to parse source code: invalid syntax (<unknown>, line 1)"
        )
    );
    assert_eq!(server.get(&path(&tool)).await.body, tool);
}

#[tokio::test]
async fn a_schema_of_another_name_renames_the_tool_unless_that_is_taken() {
    for server in on_both_databases().await {
        let tool = saved(&server, &javascript("old")).await;
        saved_all(&server, &["taken"]).await;
        let refused = server
            .patch(&path(&tool), &json!({ "json_schema": schema_of("taken") }))
            .await;
        assert_eq!(
            detail(&refused),
            (409, "Tool with name taken already exists")
        );
        // A client that tries again by itself would only be refused again.
        assert_eq!(refused.headers["x-should-retry"], "false");
        let renamed = server
            .patch(&path(&tool), &json!({ "json_schema": schema_of("new") }))
            .await;
        assert_eq!(
            (&renamed.body["name"], &renamed.body["id"]),
            (&json!("new"), &tool["id"])
        );
        assert_eq!(renamed.body["description"], tool["description"]);
        assert_eq!(server.get("/v1/tools/count?name=old").await.body, 0);
        let again = saved(&server, &javascript("old")).await;
        assert_ne!(again["id"], tool["id"]);
    }
}

#[tokio::test]
async fn a_schema_of_the_arguments_makes_the_schema_anew() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let tool = saved(
        &server,
        &json!({ "source_code": python("f(a: int)", "return a") }),
    )
    .await;
    let args = json!({
        "title": "Args", "type": "object", "required": ["a"],
        "properties": { "a": { "$ref": "#/$defs/Amount", "description": "Mine." } },
        "$defs": { "Amount": { "title": "Amount", "type": "integer", "minimum": 1 } },
    });
    let changed = server
        .patch(&path(&tool), &json!({ "args_json_schema": args }))
        .await;
    let a = json!({ "type": "integer", "minimum": 1, "description": "Mine." });
    let parameters = json!({ "type": "object", "properties": { "a": a }, "required": ["a"] });
    assert_eq!(
        changed.body["json_schema"]["parameters"], parameters,
        "{changed:?}"
    );
    assert_eq!(changed.body["args_json_schema"], args);
    let both = json!({ "args_json_schema": args, "json_schema": schema_of("f") });
    let refused = server.patch(&path(&tool), &both).await;
    let expected = "INVALID_ARGUMENT: give json_schema or args_json_schema, not both";
    assert_eq!(detail(&refused), (400, expected));
}

#[tokio::test]
async fn what_create_refuses_an_update_refuses_too() {
    let server = TestServer::start().await;
    let tool = saved(&server, &javascript("one")).await;
    for (body, status, words) in [
        (json!({ "return_char_limit": 0 }), 422, "greater_than_equal"),
        (
            json!({ "return_char_limit": 1_000_001 }),
            422,
            "less_than_equal",
        ),
        (json!({ "tags": "x" }), 422, "('body', 'tags')"),
        (
            json!({ "json_schema": { "name": "a b" } }),
            400,
            "json_schema needs a name",
        ),
        (
            json!({ "json_schema": { "name": "one", "parameters": { "properties": { "z": {} } } } }),
            400,
            "'z'",
        ),
        (
            json!({ "source_type": "ruby" }),
            400,
            "Unsupported source type: ruby",
        ),
        (
            json!({ "source_code": "x".repeat(5_000_000) }),
            400,
            "5000000 bytes",
        ),
        (
            json!({ "source_code": "function one(a {" }),
            400,
            "Syntax error in line 1",
        ),
        (
            json!({ "npm_requirements": [{ "name": "lodash" }] }),
            400,
            "lodash can't be imported",
        ),
        (
            json!({ "pip_requirements": [{ "name": "a @ https://example.com/a.whl" }] }),
            400,
            "is no name and version",
        ),
    ] {
        let refused = server.patch(&path(&tool), &body).await;
        let (found, text) = detail(&refused);
        assert!(
            found == status && text.contains(words),
            "{words}: {refused:?}"
        );
    }
    assert_eq!(server.get(&path(&tool)).await.body, tool);
}
