use serde_json::{Value, json};

use super::{
    body,
    fake::{Fake, TOKEN},
    path, tool,
};
use crate::{
    both::on_both,
    clients::{detail, each, made, patched, read},
    support::{Answer, TestServer},
};

const SERVERS: &str = "/v1/tools/mcp/servers";

async fn put(server: &TestServer, body: &Value) -> Answer {
    let request = server.request(reqwest::Method::PUT, SERVERS).json(body);
    Answer::read(request.send().await.unwrap()).await
}

on_both! {
    async fn the_older_transport_lists_and_calls(server) {
        let fake = Fake::start(&["echo", "fail"]).await;
        fake.change(|it| it.authorization = Some(format!("Bearer {TOKEN}")));
        let config = json!({ "mcp_server_type": "sse", "auth_token": TOKEN,
            "server_url": format!("{}/sse", fake.origin) });
        let mcp = made(&server, "/v1/mcp-servers/", &body("mine", config)).await;
        assert_eq!(mcp["mcp_server_type"], "sse");
        let echo = tool(&server, &mcp, "echo").await;
        let run = format!("{}/tools/{echo}/run", path(&mcp));
        let result = made(&server, &run, &json!({ "args": { "text": "hi" } })).await;
        assert_eq!(result["func_return"], "echo: hi");
        let functions: Vec<_> = result["receipt"]["host_calls"].as_array().unwrap().iter()
            .map(|call| call["function"].as_str().unwrap()).collect();
        let expected = ["open", "initialize", "notifications/initialized", "tools/call"];
        assert_eq!(functions, expected);
        assert_eq!(fake.headers("tools/call")["authorization"], format!("Bearer {TOKEN}"));
    }

    async fn servers_are_put_listed_changed_and_deleted_by_name(server) {
        let fake = Fake::start(&["echo", "new"]).await;
        fake.change(|it| drop(it.tools.pop()));
        let config = json!({ "server_name": "mine", "type": "streamable_http",
            "server_url": fake.url(), "auth_token": TOKEN });
        let answer = put(&server, &config).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(!answer.text.contains(TOKEN), "{}", answer.text);
        let mine = json!({ "server_name": "mine", "type": "streamable_http", "server_url": fake.url(),
            "auth_header": null, "auth_token": null, "custom_headers": null });
        assert_eq!(answer.body, json!([mine]));
        assert_eq!(read(&server, SERVERS).await, json!({ "mine": mine }));
        assert_eq!(put(&server, &config).await.body.as_array().unwrap().len(), 1, "it is there");

        let tools = read(&server, &format!("{SERVERS}/mine/tools")).await;
        assert_eq!(tools[0]["name"], "echo");
        assert!(tools[0]["inputSchema"]["properties"]["text"].is_object(), "{tools}");
        assert_eq!(tools[0]["health"], json!({ "status": "STRICT_COMPLIANT", "reasons": [] }));
        let nothing = json!({});
        let added = made(&server, &format!("{SERVERS}/mine/echo"), &nothing).await;
        assert_eq!(added["tool_type"], "external_mcp");
        fake.change(|it| it.tools.push(super::fake::described("new")));
        let added = made(&server, &format!("{SERVERS}/mine/new"), &nothing).await;
        assert_eq!(added["name"], "new");
        let changes = made(&server, &format!("{SERVERS}/mine/resync"), &nothing).await;
        assert_eq!(changes, json!({ "deleted": [], "updated": [], "added": [] }));
        let args = json!({ "args": { "text": "hi" } });
        let result = made(&server, &format!("{SERVERS}/mine/tools/echo/execute"), &args).await;
        assert_eq!(result["func_return"], "echo: hi");

        let moved = json!({ "server_name": "mine", "server_url": format!("{}?v=2", fake.url()) });
        let answer = put(&server, &moved).await;
        assert_eq!(answer.body[0]["type"], "streamable_http", "what is not said stays: {answer:?}");
        let renamed = json!({ "server_name": "yours" });
        let changed = patched(&server, &format!("{SERVERS}/mine"), &renamed).await;
        assert_eq!(changed["server_name"], "yours");
        assert_eq!(detail(&server.get(&format!("{SERVERS}/mine/tools")).await).0, 404);
        let deleted = server.delete(&format!("{SERVERS}/yours")).await;
        assert_eq!((deleted.status.as_u16(), deleted.body), (200, json!([])));
        assert_eq!(each(&read(&server, "/v1/tools/?tool_types=external_mcp").await, "id"), [""; 0]);
    }
}

#[tokio::test]
async fn a_server_is_tried_without_being_registered() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["echo"]).await;
    let config =
        json!({ "server_name": "mine", "type": "streamable_http", "server_url": fake.url() });
    let tried = made(&server, &format!("{SERVERS}/test"), &config).await;
    assert_eq!(tried["tools"][0]["name"], "echo");
    assert_eq!(read(&server, SERVERS).await, json!({}));
    let named =
        json!({ "server_name": "test", "type": "streamable_http", "server_url": fake.url() });
    assert_eq!(put(&server, &named).await.status, 200);
    let refused = server.post(&format!("{SERVERS}/other"), &config).await;
    assert_eq!(refused.status, 404);
    let deleted = server.delete(&format!("{SERVERS}/test")).await;
    assert_eq!((deleted.status.as_u16(), deleted.body), (200, json!([])));
    let stdio = json!({ "server_name": "mine", "type": "stdio", "command": "sh", "args": [] });
    for path in [SERVERS.to_owned(), format!("{SERVERS}/test")] {
        let refused = match path.as_str() {
            SERVERS => put(&server, &stdio).await,
            path => server.post(path, &stdio).await,
        };
        let (status, text) = detail(&refused);
        assert!(
            status == 400 && text.starts_with("MCP stdio servers are disabled."),
            "{text}"
        );
    }
    let elsewhere = json!({ "server_name": "mine", "type": "sse",
        "server_url": format!("{}/elsewhere", fake.origin) });
    let refused = server.post(&format!("{SERVERS}/test"), &elsewhere).await;
    let (status, text) = detail(&refused);
    assert!(
        status == 400 && text.contains("it redirects to http://10.0.0.1"),
        "{text}"
    );
}
