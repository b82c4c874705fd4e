use serde_json::json;

use super::{
    body,
    fake::{Fake, TOKEN},
    path, registered, registered_with, tool,
};
use crate::{
    clients::{detail, made, patched},
    support::{Answer, TestServer},
};

async fn refused(server: &TestServer, url: &str) -> (u16, String) {
    let config = json!({ "server_url": url });
    let refused = server.post("/v1/mcp-servers/", &body("mine", config)).await;
    let (status, text) = detail(&refused);
    (status, text.to_owned())
}

#[tokio::test]
async fn private_addresses_are_for_whoever_runs_the_server_to_open() {
    let server = TestServer::start().await;
    for (url, expected) in [
        (
            "http://169.254.169.254/latest/meta-data",
            "Non-public IP not allowed: 169.254.169.254",
        ),
        ("http://10.1.2.3/mcp", "Non-public IP not allowed: 10.1.2.3"),
        ("http://[fd00::1]/mcp", "Non-public IP not allowed: fd00::1"),
    ] {
        let (status, text) = refused(&server, url).await;
        assert!(status == 422 && text.contains(expected), "{url}: {text}");
    }
    let server = TestServer::start_with(|config| {
        config.mcp_private = Some(Vec::new());
    })
    .await;
    for (url, expected) in [
        (
            "http://127.0.0.1:1/mcp",
            "Non-public IP not allowed: 127.0.0.1",
        ),
        (
            "http://localhost/mcp",
            "Blocked internal hostname: localhost",
        ),
        (
            "http://db.internal/mcp",
            "Blocked internal hostname: db.internal",
        ),
    ] {
        let (status, text) = refused(&server, url).await;
        assert!(status == 422 && text.contains(expected), "{url}: {text}");
    }
}

#[tokio::test]
async fn a_range_is_open_for_addresses_and_for_names_that_are_given_with_it() {
    let fake = Fake::start(&["echo"]).await;
    let port = fake.origin.rsplit(':').next().unwrap().to_owned();
    let ranges = ["10.0.0.0/8", "named.internal=10.0.0.0/8", "127.0.0.0/8"];
    let server = TestServer::start_with(|config| {
        config.mcp_private = Some(ranges.map(|range| range.parse().unwrap()).into());
    })
    .await;
    for url in [
        "http://other.internal/mcp",
        "http://sub.named.internal/mcp",
        "http://router/",
    ] {
        let (status, text) = refused(&server, url).await;
        assert!(
            status == 422 && text.contains("Blocked internal hostname"),
            "{url}: {text}"
        );
    }
    // The range of loopback is that of its own name too.
    let mcp = registered(&server, "mine", &format!("http://localhost:{port}/mcp")).await;
    tool(&server, &mcp, "echo").await;
    let named = body(
        "named",
        json!({ "server_url": "https://named.internal:1/mcp" }),
    );
    let saved = server.post("/v1/mcp-servers/", &named).await;
    assert_eq!(saved.status, 200, "{saved:?}");
}

#[tokio::test]
async fn with_a_token_loopback_is_closed_unless_it_is_opened() {
    let fake = Fake::start(&["echo"]).await;
    let config = body("mine", json!({ "server_url": fake.url() }));
    let register = async |server: &TestServer| {
        let request = server.request(reqwest::Method::POST, "/v1/mcp-servers/");
        let request = request.bearer_auth("the-token").json(&config);
        Answer::read(request.send().await.unwrap()).await.status
    };
    let mut server =
        TestServer::start_with(|config| config.token = Some("the-token".to_owned())).await;
    assert_eq!(register(&server).await, 422);
    server.change(|config| config.mcp_private = Some(vec!["127.0.0.0/8".parse().unwrap()]));
    server.restart().await;
    assert_eq!(register(&server).await, 200);
}

#[tokio::test]
async fn an_address_that_is_closed_later_is_not_asked_any_more() {
    let fake = Fake::start(&["echo"]).await;
    let mut server = TestServer::start().await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    let run = format!(
        "{}/tools/{}/run",
        path(&mcp),
        tool(&server, &mcp, "echo").await
    );
    server.change(|config| config.mcp_private = Some(Vec::new()));
    server.restart().await;
    let before = fake.methods().len();
    let refused = server.post(&run, &json!({ "args": {} })).await;
    assert_eq!(refused.status, 502, "{refused:?}");
    let error = &refused.body["error"];
    assert_eq!(error["type"], "mcp_connection_error");
    assert_eq!(error["message"], "Failed to connect to MCP server.");
    let detail = error["detail"].as_str().unwrap();
    assert!(
        detail.contains("Non-public IP not allowed: 127.0.0.1"),
        "{detail}"
    );
    assert_eq!(fake.methods().len(), before, "nothing left");
}

#[tokio::test]
async fn a_token_goes_to_the_origin_that_it_was_given_for_and_back_to_nobody() {
    let (fake, other) = (Fake::start(&["leak"]).await, Fake::start(&["leak"]).await);
    let server = TestServer::start().await;
    let config = json!({ "server_url": fake.url(), "auth_token": format!("Bearer {TOKEN}"),
        "custom_headers": { "X-Api-Key": "key-0123456789", "X-Tenant": "acme" } });
    let mcp = registered_with(&server, "mine", config).await;
    let run = format!(
        "{}/tools/{}/run",
        path(&mcp),
        tool(&server, &mcp, "leak").await
    );
    let result = made(&server, &run, &json!({ "args": {} })).await;
    let said = result["func_return"].as_str().unwrap();
    assert!(
        said.starts_with("Some(\"Bearer ***") && !said.contains("key-0123"),
        "{said}"
    );
    let sent = fake.headers("tools/call");
    assert_eq!(sent["authorization"], format!("Bearer {TOKEN}"));
    assert_eq!(sent["x-tenant"], "acme");

    let renamed = json!({ "config": { "mcp_server_type": "streamable_http",
        "server_url": format!("{}/mcp?v=2", fake.origin) } });
    patched(&server, &path(&mcp), &renamed).await;
    made(&server, &run, &json!({ "args": {} })).await;
    assert!(
        fake.headers("tools/call").contains_key("authorization"),
        "the origin is the same"
    );
    let moved =
        json!({ "config": { "mcp_server_type": "streamable_http", "server_url": other.url() } });
    patched(&server, &path(&mcp), &moved).await;
    made(&server, &run, &json!({ "args": {} })).await;
    let sent = other.headers("tools/call");
    assert!(
        !sent.contains_key("authorization") && !sent.contains_key("x-api-key"),
        "{sent:?}"
    );
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_alone() {
    let fake = Fake::start(&["echo"]).await;
    let server = TestServer::start().await;
    let mcp = registered(&server, "near", &format!("{}/slash", fake.origin)).await;
    tool(&server, &mcp, "echo").await;
    for (place, expected) in [
        ("away", "it redirects to http://169.254.169.254;"),
        ("other", "it redirects to https://mcp.example.com;"),
    ] {
        let mcp = registered(&server, place, &format!("{}/{place}", fake.origin)).await;
        let refresh = format!("{}/refresh", path(&mcp));
        let refused = server.patch(&refresh, &json!({})).await;
        let error = refused.body["detail"]["error"].as_str().unwrap();
        assert!(error.contains(expected), "{error}");
    }
}
