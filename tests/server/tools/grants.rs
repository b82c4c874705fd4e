//! What source may reach: nothing but what a grant for the component `source` and the tool's name
//! allows.

use std::net::SocketAddr;

use axum::{Router, routing::get};
use serde_json::{Value, json};

use super::{javascript, on_both_databases, python, saved, schema_of};
use crate::support::{TestServer, has_python};

/// A server that answers every request to `/` with a text.
async fn neighbour() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new().route("/", get(|| async { "let through" }));
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    address
}

/// Runs, of each language, a function of this name that fetches from there.
async fn fetched(server: &TestServer, name: &str, address: SocketAddr) -> Vec<Value> {
    let url = format!("http://{address}/");
    let typescript =
        format!("export async function {name}() {{ return await (await fetch('{url}')).text() }}");
    let mut bodies = vec![json!({ "source_code": typescript, "source_type": "typescript" })];
    if has_python() {
        for body in [
            format!(
                "import urllib.request\n    return urllib.request.urlopen('{url}').read().decode()"
            ),
            format!("import requests\n    return requests.get('{url}').text"),
            format!("import httpx\n    return httpx.get('{url}').text"),
        ] {
            bodies.push(json!({ "source_code": python(&format!("{name}()"), &body) }));
        }
    }
    let mut messages = Vec::new();
    for mut body in bodies {
        body["args"] = json!({});
        body["name"] = json!(name);
        let run = server.post("/v1/tools/run", &body).await;
        assert_eq!(run.status, 200, "{run:?}");
        messages.push(run.body);
    }
    messages
}

fn assert_denied(messages: &[Value], address: SocketAddr) {
    for message in messages {
        let text = message["tool_return"].as_str().unwrap();
        let expected = format!(
            "no grant allows GET http://{address}/; it takes --allow-host http://{address}"
        );
        assert!(
            message["status"] == "error" && text.contains(&expected),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_host_is_reached_with_a_grant_for_this_tool_alone_and_as_long_as_it_holds() {
    for server in on_both_databases().await {
        let address = neighbour().await;
        assert_denied(&fetched(&server, "mine", address).await, address);
        let grant = json!({
            "component": "source", "tool": "mine",
            "capabilities": { "http": [format!("http://{address}")] },
        });
        let grant = server.grant(grant).await;
        for message in fetched(&server, "mine", address).await {
            assert_eq!(
                (&message["status"], &message["tool_return"]),
                (&json!("success"), &json!("let through"))
            );
        }
        assert_denied(&fetched(&server, "other", address).await, address);
        let revoked = server.delete(&format!("/v1/grants/{grant}")).await;
        assert_eq!(revoked.status, 200, "{revoked:?}");
        assert_denied(&fetched(&server, "mine", address).await, address);
    }
}

#[tokio::test]
async fn the_receipt_of_a_saved_tool_says_what_was_denied() {
    let server = TestServer::start().await;
    let address = neighbour().await;
    let mut body = javascript("look");
    body["source_code"] = json!(format!(
        "async function look(a) {{ return await (await fetch('http://{address}/')).text() }}"
    ));
    let tool = saved(&server, &body).await;
    let path = format!("/v1/tools/{}/call", tool["id"].as_str().unwrap());
    let args = json!({ "args": { "a": 1 } });
    let denied = server.post(&path, &args).await;
    assert_eq!(denied.body["status"], "error");
    let call = &denied.body["receipt"]["host_calls"][0];
    assert_eq!(
        (&call["interface"], &call["outcome"]),
        (&json!("http"), &json!("denied")),
        "{denied:?}"
    );
    let grant = json!({
        "component": "source", "tool": "look",
        "capabilities": { "http": [format!("http://{address}")] },
    });
    server.grant(grant).await;
    assert_eq!(
        server.post(&path, &args).await.body["tool_return"],
        "let through"
    );
}

#[tokio::test]
async fn grants_go_with_the_tool_they_were_given_to() {
    for server in on_both_databases().await {
        let tool = saved(&server, &javascript("first")).await;
        let path = format!("/v1/tools/{}", tool["id"].as_str().unwrap());
        let grant = |tool: &str| json!({ "component": "source", "tool": tool, "capabilities": { "http": ["https://example.com"] } });
        let of = |tool: &str| format!("/v1/grants?component=source&tool={tool}");
        server.grant(grant("first")).await;
        server.grant(grant("neighbour")).await;
        // Saved again it is the same tool.
        saved(&server, &javascript("first")).await;
        assert_eq!(
            server
                .get(&of("first"))
                .await
                .body
                .as_array()
                .unwrap()
                .len(),
            1
        );
        // Renamed, it leaves no grant for whoever takes its name next.
        let renamed = server
            .patch(&path, &json!({ "json_schema": schema_of("second") }))
            .await;
        assert_eq!(renamed.status, 200, "{renamed:?}");
        assert_eq!(server.get(&of("first")).await.body, json!([]));
        server.grant(grant("second")).await;
        assert_eq!(server.delete(&path).await.status, 200);
        assert_eq!(server.get(&of("second")).await.body, json!([]));
        assert_eq!(
            server
                .get(&of("neighbour"))
                .await
                .body
                .as_array()
                .unwrap()
                .len(),
            1
        );
    }
}
