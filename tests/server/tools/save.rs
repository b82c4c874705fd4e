//! Create, upsert, read and delete.

use serde_json::{Value, json};

use super::{NOBODY, detail, javascript, on_both_databases, python, saved};
use crate::support::{TestServer, has_python};

#[tokio::test]
async fn a_tool_has_every_field_of_the_contract_and_reads_back() {
    for server in on_both_databases().await {
        let tool = saved(&server, &javascript("plain")).await;
        let user = "user-00000000-0000-4000-8000-000000000000";
        let hash = tool["metadata_"]["tool_hash"].as_str().unwrap();
        assert_eq!(hash.len(), 12);
        assert!(hash.chars().all(|c| c.is_ascii_hexdigit()), "{hash}");
        let id = tool["id"].as_str().unwrap();
        assert!(id.starts_with("tool-") && id.len() == NOBODY.len(), "{id}");
        let sent = javascript("plain");
        let expected = json!({
            "id": id, "tool_type": "custom", "description": "Gives back, as plain.",
            "source_type": "javascript", "name": "plain", "tags": [],
            "source_code": sent["source_code"], "json_schema": sent["json_schema"],
            "args_json_schema": null, "return_char_limit": 50_000,
            "pip_requirements": null, "npm_requirements": null,
            "default_requires_approval": null, "enable_parallel_execution": false,
            "created_by_id": user, "last_updated_by_id": user,
            "metadata_": { "tool_hash": hash }, "project_id": null,
        });
        assert_eq!(tool, expected);
        assert_eq!(server.get(&format!("/v1/tools/{id}")).await.body, expected);
    }
}

#[tokio::test]
async fn every_field_that_is_sent_is_stored() {
    let server = TestServer::start().await;
    let mut body = javascript("full");
    let sent = json!({
        "description": "Outer.", "tags": ["a", "b"], "return_char_limit": 7,
        "pip_requirements": [], "npm_requirements": [],
        "default_requires_approval": true, "enable_parallel_execution": true,
    });
    body.as_object_mut()
        .unwrap()
        .extend(sent.as_object().unwrap().clone());
    let tool = saved(&server, &body).await;
    for (field, value) in sent.as_object().unwrap() {
        assert_eq!(tool[field], *value, "{field}");
    }
    assert_eq!(
        tool["json_schema"]["description"], "Gives back, as full.",
        "a description of its own changes only that of the tool"
    );
}

#[tokio::test]
async fn post_and_put_replace_the_tool_of_the_name_and_keep_its_id() {
    for server in on_both_databases().await {
        let mut first = javascript("same");
        first["tags"] = json!(["old"]);
        first["return_char_limit"] = json!(5);
        let first = saved(&server, &first).await;
        for path in ["/v1/tools/", "/v1/tools"] {
            for method in ["POST", "PUT"] {
                let method: reqwest::Method = method.parse().unwrap();
                let again = server.request(method, path).json(&javascript("same"));
                let again: Value = again.send().await.unwrap().json().await.unwrap();
                assert_eq!(again["id"], first["id"]);
                assert_eq!(
                    (&again["tags"], &again["return_char_limit"]),
                    (&json!([]), &json!(50_000))
                );
            }
        }
        assert_eq!(server.get("/v1/tools/count").await.body, 1);
    }
}

#[tokio::test]
async fn python_says_what_it_is_and_a_schema_names_the_tool_otherwise() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let source = python("add(left: int, right: int)", "return left + right");
    let tool = saved(&server, &json!({ "source_code": source })).await;
    assert_eq!(
        (&tool["name"], &tool["source_type"], &tool["source_code"]),
        (&json!("add"), &json!("python"), &json!(source))
    );
    assert_eq!(tool["description"], "Does add(left: int, right: int).");
    let schema = json!({
        "name": "total", "description": "Inner.",
        "parameters": tool["json_schema"]["parameters"],
    });
    let body = json!({ "source_code": source, "json_schema": schema, "description": "Outer." });
    let other = saved(&server, &body).await;
    assert_ne!(other["id"], tool["id"]);
    assert_eq!(
        (&other["name"], &other["description"], &other["json_schema"]),
        (&json!("total"), &json!("Outer."), &schema)
    );
    // Older clients send this word, or none.
    let json = saved(
        &server,
        &json!({ "source_code": source, "source_type": "json" }),
    )
    .await;
    assert_eq!(json["id"], tool["id"]);
}

#[tokio::test]
async fn typescript_comes_with_its_schema() {
    let server = TestServer::start().await;
    let source = "export async function greet(name: string, loud?: boolean): Promise<string> {\n  return loud ? name.toUpperCase() : name;\n}";
    let mut body = json!({ "source_code": source, "source_type": "typescript" });
    let refused = server.post("/v1/tools/", &body).await;
    let expected = "TypeScript tools require an explicit json_schema parameter. Unlike Python tools, schema cannot be auto-generated from TypeScript source code.";
    assert_eq!(detail(&refused), (422, expected));
    assert_eq!(refused.body, json!({ "detail": expected }));
    let parameters = json!({ "type": "object", "properties": { "name": { "type": "string" }, "loud": { "type": "boolean" } }, "required": ["name"] });
    body["json_schema"] =
        json!({ "name": "greet", "description": "Greets.", "parameters": parameters });
    let tool = saved(&server, &body).await;
    assert_eq!(
        (&tool["name"], &tool["source_type"]),
        (&json!("greet"), &json!("typescript"))
    );
}

#[tokio::test]
async fn a_deleted_tool_is_gone_and_its_name_is_free() {
    for server in on_both_databases().await {
        let tool = saved(&server, &javascript("short")).await;
        let path = format!("/v1/tools/{}", tool["id"].as_str().unwrap());
        let deleted = server.delete(&path).await;
        assert_eq!(
            (deleted.status.as_u16(), deleted.text.as_str()),
            (200, "null")
        );
        let id = tool["id"].as_str().unwrap();
        let again = server.delete(&path).await;
        assert_eq!(
            detail(&again),
            (400, format!("Tool with id {id} not found.").as_str())
        );
        let gone = format!(
            "Tool not found with id='['{id}']', access level in ['read'] for actor='user-00000000-0000-4000-8000-000000000000'"
        );
        assert_eq!(detail(&server.get(&path).await), (404, gone.as_str()));
        let patched = server.patch(&path, &json!({ "description": "x" })).await;
        assert_eq!(detail(&patched), (404, gone.as_str()));
        let next = saved(&server, &javascript("short")).await;
        assert_ne!(next["id"], tool["id"]);
    }
}

#[tokio::test]
async fn tools_survive_a_restart() {
    let mut server = TestServer::start().await;
    let tool = saved(&server, &javascript("kept")).await;
    server.restart().await;
    let read = server
        .get(&format!("/v1/tools/{}", tool["id"].as_str().unwrap()))
        .await;
    assert_eq!(read.body, tool);
}

#[tokio::test]
async fn upserts_of_one_name_at_once_make_one_tool() {
    for server in on_both_databases().await {
        let body = javascript("raced");
        let saved = futures::future::join_all((0..8).map(|_| saved(&server, &body))).await;
        assert!(
            saved.iter().all(|tool| tool["id"] == saved[0]["id"]),
            "{saved:?}"
        );
        assert_eq!(server.get("/v1/tools/count").await.body, 1);
    }
}
