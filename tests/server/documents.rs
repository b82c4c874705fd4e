//! What describes the server: health, OpenAPI, its page, metrics.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::json;

use crate::{
    clients::text,
    support::{Answer, TestServer},
};

#[tokio::test]
async fn health_says_version_and_ok() {
    let server = TestServer::start().await;
    for path in ["/v1/health", "/v1/health/"] {
        let health = server.get(path).await;
        assert_eq!(
            health.body,
            json!({ "version": env!("CARGO_PKG_VERSION"), "status": "ok" })
        );
    }
}

#[tokio::test]
async fn the_document_describes_every_route_of_the_api() {
    let server = TestServer::start().await;
    let document = server.get("/openapi.json").await;
    assert_eq!(
        document.headers["content-type"],
        "application/json; charset=utf-8"
    );
    let paths = document.body["paths"].as_object().unwrap();
    for (path, methods) in [
        ("/v1/health/", &["get"][..]),
        ("/v1/components", &["get", "post"]),
        ("/v1/components/{ref}", &["get", "delete"]),
        ("/v1/components/{ref}/activate", &["post"]),
        ("/v1/components/{ref}/diff", &["get"]),
        ("/v1/components/{ref}/tools/{tool}/call", &["post"]),
        ("/v1/grants", &["get", "post"]),
        ("/v1/grants/{id}", &["get", "delete"]),
        ("/v1/credentials", &["get", "post"]),
        ("/v1/credentials/{name}", &["delete"]),
        ("/v1/receipts", &["get"]),
        ("/v1/receipts/{id}", &["get"]),
        ("/metrics", &["get"]),
    ] {
        for method in methods {
            assert!(paths[path].get(method).is_some(), "{method} {path}");
        }
    }
    // Programs that are generated name their functions after these.
    let operations = paths
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    let ids: Vec<_> = operations
        .filter_map(|operation| operation["operationId"].as_str())
        .collect();
    let unique: BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    // Every reference leads somewhere.
    let text = &document.text;
    let schemas = &document.body["components"]["schemas"];
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schemas.get(name).is_some(), "{name}");
    }
}

/// Every parameter that any route has is sent to each, with a value that suits none that is checked.
#[tokio::test]
async fn what_a_route_checks_of_its_query_is_in_the_document() {
    let server = TestServer::start().await;
    let document = server.get("/openapi.json").await.body;
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let names = parameters.filter(|parameter| parameter["in"] == "query");
            let names: BTreeSet<_> = names
                .map(|parameter| text(&parameter["name"]).to_owned())
                .collect();
            routes.push((method.to_uppercase(), path.clone(), names));
        }
    }
    let all: BTreeSet<_> = routes
        .iter()
        .flat_map(|(.., names)| names.clone())
        .collect();
    let query = all.iter().map(|name| format!("{name}=%3F"));
    let query = query.collect::<Vec<_>>().join("&");
    let mut checked = 0;
    for (method, path, documented) in routes {
        if path.ends_with("/ws") {
            continue;
        }
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let target = format!("{}?{query}", path.replace(['{', '}'], ""));
        let answer = server.request(method.clone(), &target).send().await;
        let answer = Answer::read(answer.unwrap()).await;
        for fault in answer.text.split("('query', '").skip(1) {
            let name = fault.split('\'').next().unwrap();
            assert!(documented.contains(name), "{method} {path}: {name}");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let server = TestServer::start().await;
    for (path, media_type) in [
        ("/docs", "text/html"),
        ("/docs/docs.js", "text/javascript"),
        ("/docs/docs.css", "text/css"),
    ] {
        let file = server.get(path).await;
        assert_eq!(file.status, 200);
        assert!(
            file.headers["content-type"]
                .to_str()
                .unwrap()
                .starts_with(media_type)
        );
        let policy = file.headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert!(
            !file.text.contains("https://") && !file.text.contains("http://"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn metrics_count_calls_requests_and_installs_without_names_of_tools() {
    let server = TestServer::start().await.with_friendly().await;
    for _ in 0..3 {
        server
            .call("friendly/add", json!({ "left": 1, "right": 1 }))
            .await;
    }
    server.call("friendly/counter", json!({})).await;
    server.push("bad", b"nonsense".to_vec()).await;
    server.get("/nowhere/at/all").await;
    let text = server.get("/metrics").await.text;
    for line in [
        r#"bulkhead_calls_total{outcome="ok"} 3"#,
        r#"bulkhead_calls_total{outcome="denied"} 1"#,
        r#"bulkhead_installs_total{result="ok"} 1"#,
        r#"bulkhead_installs_total{result="not_a_component"} 1"#,
        r#"bulkhead_http_requests_total{method="GET",route="unmatched",status="404"} 1"#,
        r#"bulkhead_http_requests_total{method="POST",route="/v1/components/{ref}/tools/{tool}/call",status="200"} 4"#,
        "bulkhead_call_wall_seconds_count 4",
        "bulkhead_call_queue_seconds_count 4",
        "bulkhead_slots 8",
        "bulkhead_slots_in_use 0",
        "bulkhead_calls_waiting 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("bulkhead_call_fuel_total "));
    assert!(
        !text.contains("friendly") && !text.contains("nowhere"),
        "{text}"
    );
}
