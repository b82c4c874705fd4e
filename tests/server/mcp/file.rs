use reqwest::Method;
use serde_json::{Value, json};

use super::{
    fake::{Fake, TOKEN},
    path, registered_with, tool,
};
use crate::{
    both::on_both,
    clients::{agent, detail, each, read},
    support::{Answer, TestServer},
};

async fn import(server: &TestServer, document: &Value) -> Answer {
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.af\"\r\n\r\n{document}\r\n--x--\r\n"
    );
    let request = server.request(Method::POST, "/v1/agents/import");
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    Answer::read(request.body(body).send().await.unwrap()).await
}

on_both! {
    async fn an_agent_keeps_its_tools_of_a_server_that_is_registered_where_it_goes(server) {
        let fake = Fake::start(&["echo", "look.up"]).await;
        let url = format!("{}?key=in-the-query", fake.url());
        let config = json!({ "server_url": url, "auth_token": TOKEN,
            "custom_headers": { "X-Api-Key": "key-0123456789" } });
        let mcp = registered_with(&server, "mine", config).await;
        let tools = read(&server, &format!("{}/tools", path(&mcp))).await;
        let ids = each(&tools, "id");
        let id = agent(&server, json!({ "tool_ids": ids, "include_base_tools": false })).await;
        let exported = server.get(&format!("/v1/agents/{id}/export")).await;
        for secret in [TOKEN, "key-0123456789", "in-the-query", mcp["id"].as_str().unwrap()] {
            assert!(!exported.text.contains(secret), "{secret} in {}", exported.text);
        }
        let mut document = exported.body;
        assert_eq!(document["mcp_servers"], json!([{
            "id": "mcp_server-0", "server_type": "streamable_http", "server_name": "mine",
            "server_url": fake.url(), "stdio_config": null, "metadata_": null,
        }]));

        let imported = import(&server, &document).await;
        assert_eq!(imported.status, 200, "{imported:?}");
        let copy = imported.body["agent_ids"][0].as_str().unwrap();
        let attached = read(&server, &format!("/v1/agents/{copy}/tools?limit=50")).await;
        let mut found = each(&attached, "id");
        found.sort_unstable();
        let mut expected = ids.clone();
        expected.sort_unstable();
        assert_eq!(found, expected, "the tools of the server, and no others");

        document["mcp_servers"][0]["server_url"] = json!("https://elsewhere.example/mcp");
        let refused = import(&server, &document).await;
        let (status, text) = detail(&refused);
        assert!(status == 400 && text.contains("not registered here at that address: mine"), "{text}");
        document["mcp_servers"][0]["server_url"] = json!(fake.url());
        server.delete(&format!("/v1/tools/{}", tool(&server, &mcp, "echo").await)).await;
        let refused = import(&server, &document).await;
        let (status, text) = detail(&refused);
        assert!(status == 400 && text.contains("does not have here: echo"), "{text}");
        server.delete(&path(&mcp)).await;
        let refused = import(&server, &document).await;
        assert!(detail(&refused).1.contains("not registered here"), "{refused:?}");
        assert_eq!(read(&server, "/v1/mcp-servers/").await, json!([]), "a file registers nothing");
    }
}
