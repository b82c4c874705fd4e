use reqwest::Method;
use serde_json::{Value, json};

use super::{
    body,
    fake::{Fake, TOKEN, described},
    path, registered, registered_with, tool,
};
use crate::{
    both::on_both,
    clients::{NOBODY, agent, detail, each, made, patched, read},
    support::{Answer, TestServer},
};

async fn refreshed(server: &TestServer, mcp: &Value) -> Answer {
    let refresh = format!("{}/refresh", path(mcp));
    Answer::read(
        server
            .request(Method::PATCH, &refresh)
            .send()
            .await
            .unwrap(),
    )
    .await
}

on_both! {
    async fn a_server_is_registered_with_its_tools_and_its_token_stays_inside(server) {
        let fake = Fake::start(&["echo", "two"]).await;
        fake.change(|it| it.authorization = Some(format!("Bearer {TOKEN}")));
        let config = json!({ "server_url": fake.url(), "auth_token": TOKEN,
            "custom_headers": { "X-Api-Key": "key-0123456789" } });
        let saved = server.post("/v1/mcp-servers/", &body("mine", config)).await;
        assert_eq!(saved.status, 200, "{saved:?}");
        assert!(!saved.text.contains(TOKEN) && !saved.text.contains("key-0123"), "{}", saved.text);
        let mcp = saved.body;
        for (field, expected) in [
            ("server_name", json!("mine")),
            ("mcp_server_type", json!("streamable_http")),
            ("server_url", json!(fake.url())),
            ("auth_header", Value::Null),
            ("auth_token", Value::Null),
            ("custom_headers", Value::Null),
        ] {
            assert_eq!(mcp[field], expected, "{field}");
        }
        assert_eq!(read(&server, &path(&mcp)).await, mcp);
        assert_eq!(read(&server, "/v1/mcp-servers/").await, json!([mcp]));
        assert_eq!(fake.methods(), ["initialize", "notifications/initialized", "tools/list"]);
        let listing = fake.headers("tools/list");
        assert_eq!(listing["mcp-protocol-version"], "2025-11-25");
        assert_eq!(listing["mcp-session-id"], "session-1");
        assert_eq!(listing["x-api-key"], "key-0123456789");

        let tools = read(&server, &format!("{}/tools", path(&mcp))).await;
        assert_eq!(each(&tools, "name"), ["echo", "two"]);
        let echo = &tools[0];
        assert_eq!(echo["tool_type"], "external_mcp");
        assert_eq!(echo["tags"], json!(["mcp:mine"]));
        let of = json!({ "server_name": "mine", "server_id": mcp["id"] });
        assert_eq!(echo["metadata_"]["mcp"], of);
        assert_eq!(echo["json_schema"]["name"], "echo");
        assert_eq!(echo["json_schema"]["mcp:SCHEMA_STATUS"], "STRICT_COMPLIANT");
        let parameters = &echo["json_schema"]["parameters"];
        assert_eq!(parameters["properties"]["text"], json!({ "type": "string" }));
        assert_eq!(parameters["required"], json!(["request_heartbeat"]));
        let one = format!("{}/tools/{}", path(&mcp), echo["id"].as_str().unwrap());
        assert_eq!(&read(&server, &one).await, echo);
        let listed = read(&server, "/v1/tools/?tool_types=external_mcp").await;
        assert_eq!(listed.as_array().unwrap().len(), 2);
    }

    async fn a_refresh_adds_changes_and_deletes_and_keeps_what_a_person_set(server) {
        let fake = Fake::start(&["kept", "changed", "gone"]).await;
        fake.change(|it| it.page = 2);
        let mcp = registered(&server, "mine", &fake.url()).await;
        let (kept, gone) = (tool(&server, &mcp, "kept").await, tool(&server, &mcp, "gone").await);
        let agent = agent(&server, json!({ "tool_ids": [kept, gone] })).await;
        let limit = json!({ "return_char_limit": 7 });
        patched(&server, &format!("/v1/tools/{kept}"), &limit).await;
        let unchanged = json!({ "deleted": [], "updated": [], "added": [] });
        assert_eq!(refreshed(&server, &mcp).await.body, unchanged);
        fake.change(|it| {
            it.tools.pop();
            it.tools[1]["description"] = json!("Does it otherwise.");
            it.tools.push(described("new"));
        });
        let changes = json!({ "deleted": ["gone"], "updated": ["changed"], "added": ["new"] });
        assert_eq!(refreshed(&server, &mcp).await.body, changes);
        let kept = read(&server, &format!("/v1/tools/{kept}")).await;
        assert_eq!(kept["return_char_limit"], 7);
        let attached = read(&server, &format!("/v1/agents/{agent}/tools?limit=50")).await;
        assert!(!each(&attached, "name").contains(&"gone"), "{attached}");
        assert!(each(&attached, "name").contains(&"kept"), "{attached}");

        fake.change(|it| it.authorization = Some("Bearer other".to_owned()));
        let refused = refreshed(&server, &mcp).await;
        assert_eq!(refused.status, 404);
        let detail = &refused.body["detail"];
        assert_eq!(detail["code"], "MCPServerUnavailable");
        let message = "Could not connect to MCP server mine to resync tools";
        assert_eq!(detail["message"], message);
        let error = detail["error"].as_str().unwrap();
        assert!(error.contains("401: the token is wrong"), "{error}");
        let tools = read(&server, &format!("{}/tools", path(&mcp))).await;
        assert_eq!(each(&tools, "name"), ["changed", "kept", "new"]);
    }

    async fn a_server_that_goes_takes_its_tools_with_it(server) {
        let fake = Fake::start(&["echo"]).await;
        let mcp = registered(&server, "mine", &fake.url()).await;
        let echo = tool(&server, &mcp, "echo").await;
        let agent = agent(&server, json!({ "tool_ids": [echo] })).await;
        let deleted = server.delete(&path(&mcp)).await;
        assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
        fake.wait_for("(closed)").await;
        assert_eq!(detail(&server.get(&path(&mcp)).await).0, 404);
        assert_eq!(server.delete(&path(&mcp)).await.status, 404);
        assert_eq!(server.get(&format!("/v1/tools/{echo}")).await.status, 404);
        let attached = read(&server, &format!("/v1/agents/{agent}/tools?limit=50")).await;
        assert!(!each(&attached, "name").contains(&"echo"), "{attached}");
    }

    async fn a_server_is_renamed_and_its_tools_say_so(server) {
        let fake = Fake::start(&["echo"]).await;
        let mcp = registered(&server, "mine", &fake.url()).await;
        registered(&server, "other", &fake.url()).await;
        let taken = body("other", json!({ "server_url": fake.url() }));
        let refused = server.post("/v1/mcp-servers/", &taken).await;
        assert_eq!(detail(&refused).0, 409);
        let config = json!({ "mcp_server_type": "streamable_http", "server_url": null });
        let change = |name: &str| json!({ "server_name": name, "config": config });
        let refused = server.patch(&path(&mcp), &change("other")).await;
        assert_eq!(detail(&refused).0, 409);
        let changed = patched(&server, &path(&mcp), &change("yours")).await;
        assert_eq!(changed["server_name"], "yours");
        assert_eq!(changed["server_url"], mcp["server_url"]);
        let echo = tool(&server, &mcp, "echo").await;
        let echo = read(&server, &format!("/v1/tools/{echo}")).await;
        assert_eq!(echo["tags"], json!(["mcp:yours"]));
        assert_eq!(echo["metadata_"]["mcp"]["server_name"], "yours");
    }

    async fn names_of_tools_are_those_that_models_take_and_no_two_are_the_same(server) {
        let source = "function echo() { return 1 }";
        let own = json!({ "source_code": source, "source_type": "javascript",
            "json_schema": { "name": "echo", "parameters": { "type": "object", "properties": {} } } });
        made(&server, "/v1/tools/", &own).await;
        let fake = Fake::start(&["echo", "look.up", "look/up"]).await;
        let mcp = registered(&server, "my server", &fake.url()).await;
        let tools = read(&server, &format!("{}/tools", path(&mcp))).await;
        let names = each(&tools, "name");
        assert_eq!(names.len(), 3);
        assert!(names[2].starts_with("my_server__echo_"), "{names:?}");
        assert!(names[..2].iter().all(|name| name.starts_with("look_up_")), "{names:?}");
        for tool in tools.as_array().unwrap() {
            assert_eq!(tool["json_schema"]["name"], tool["name"]);
        }
        let own = server.post("/v1/tools/", &json!({
            "source_code": format!("function {}() {{}}", names[2]), "source_type": "javascript",
            "json_schema": { "name": names[2] },
        })).await;
        assert!(detail(&own).1.contains("belongs to a tool of an MCP server"), "{own:?}");
    }
}

#[tokio::test]
async fn a_server_that_can_not_be_reached_is_registered_without_tools() {
    let server = TestServer::start().await;
    let gone = Fake::start(&[]).await.url();
    let mcp = registered(&server, "mine", &gone).await;
    assert_eq!(
        read(&server, &format!("{}/tools", path(&mcp))).await,
        json!([])
    );
    let refused = refreshed(&server, &mcp).await;
    assert_eq!(refused.status, 404);
    let error = refused.body["detail"]["error"].as_str().unwrap();
    assert!(
        error.contains("no connection to http://127.0.0.1:"),
        "{error}"
    );
}

#[tokio::test]
async fn a_session_survives_calls_and_is_opened_again_where_the_server_forgot_it() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["echo"]).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    let run = format!(
        "{}/tools/{}/run",
        path(&mcp),
        tool(&server, &mcp, "echo").await
    );
    let args = json!({ "args": { "text": "hi" } });
    assert_eq!(made(&server, &run, &args).await["func_return"], "echo: hi");
    let initialized = |fake: &Fake| {
        let methods = fake.methods();
        methods
            .iter()
            .filter(|method| *method == "initialize")
            .count()
    };
    assert_eq!(initialized(&fake), 1, "the session of the listing");
    fake.forget();
    assert_eq!(made(&server, &run, &args).await["func_return"], "echo: hi");
    assert_eq!(initialized(&fake), 2);
    assert_eq!(fake.headers("tools/call")["mcp-session-id"], "session-2");
}

#[tokio::test]
async fn what_is_no_server_is_refused() {
    let server = TestServer::start().await;
    let fake = Fake::start(&[]).await;
    for (name, config, status, expected) in [
        (
            "a",
            json!({ "mcp_server_type": "stdio", "command": "sh", "args": [] }),
            400,
            "MCP stdio servers are disabled. This server starts no processes",
        ),
        (
            "a",
            json!({ "mcp_server_type": "carrier_pigeon" }),
            422,
            "'type': 'union_tag_invalid'",
        ),
        (
            "a",
            json!({ "more": 1, "server_url": fake.url() }),
            422,
            "extra_forbidden",
        ),
        (
            "a",
            json!({}),
            422,
            "'server_url'), 'msg': 'Field required'",
        ),
        (
            "",
            json!({ "server_url": fake.url() }),
            400,
            "an MCP server's name",
        ),
        (
            "a/b",
            json!({ "server_url": fake.url() }),
            400,
            "an MCP server's name",
        ),
        (
            "a",
            json!({ "server_url": "ftp://example.com" }),
            422,
            "the scheme must be http or https",
        ),
        (
            "a",
            json!({ "server_url": "https://me:pw@example.com" }),
            422,
            "user name or a password",
        ),
        (
            "a",
            json!({ "server_url": fake.url(), "custom_headers": { "Host": "x" } }),
            400,
            "`Host` can't be set",
        ),
        (
            "a",
            json!({ "server_url": fake.url(), "auth_token": "0123456789\r\nx: y" }),
            400,
            "the value of the header `authorization`",
        ),
        (
            "a",
            json!({ "server_url": fake.url(), "custom_headers": { "x": 7 } }),
            422,
            "string_type",
        ),
    ] {
        let shown = config.to_string();
        let refused = server.post("/v1/mcp-servers/", &body(name, config)).await;
        let (found, text) = detail(&refused);
        assert!(
            found == status && text.contains(expected),
            "{shown}: {refused:?}"
        );
    }
    let secret = json!({ "server_url": fake.url(), "auth_token": TOKEN, "more": 1,
        "custom_headers": { "X-Key": "key-0123456789" } });
    let refused = server.post("/v1/mcp-servers/", &body("a", secret)).await;
    assert_eq!(refused.status, 422);
    assert!(
        !refused.text.contains(TOKEN) && !refused.text.contains("key-0123"),
        "{refused:?}"
    );
    assert_eq!(read(&server, "/v1/mcp-servers/").await, json!([]));
    for (path, status) in [
        ("/v1/mcp-servers/mcp_server-1".to_owned(), 422),
        (format!("/v1/mcp-servers/mcp_server-{NOBODY}"), 404),
        (format!("/v1/mcp-servers/mcp_server-{NOBODY}/tools"), 404),
    ] {
        assert_eq!(detail(&server.get(&path).await).0, status, "{path}");
    }
    let mcp = registered_with(&server, "mine", json!({ "server_url": fake.url() })).await;
    let missing = format!("{}/tools/tool-{NOBODY}", path(&mcp));
    assert_eq!(detail(&server.get(&missing).await).0, 404);
    let changed =
        json!({ "config": { "mcp_server_type": "stdio", "command": null, "args": null } });
    assert_eq!(detail(&server.patch(&path(&mcp), &changed).await).0, 400);
}
