use serde_json::{Value, json};

use super::{
    fake::{Fake, TOKEN, described},
    path, registered_with, tool,
};
use crate::{
    clients::{made, read},
    support::TestServer,
};

/// `me:` and the token, as `Basic` has it.
const PAIR: &str = "bWU6bWNwLXNlY3JldC10b2tlbi0wMTIzNDU2Nzg5";

/// A JSON text in which every character is an escape.
fn spelt(text: &str) -> String {
    text.chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect()
}

#[tokio::test]
async fn a_token_is_masked_without_its_scheme_in_results() {
    for (header, value) in [
        ("Authorization", format!("Basic {PAIR}")),
        ("Authorization", format!("bearer {TOKEN}")),
        ("X-Api-Key", format!("Token {TOKEN}")),
    ] {
        let server = TestServer::start().await;
        let fake = Fake::start(&["echo", "leak"]).await;
        let config = json!({ "server_url": fake.url(), "custom_headers": { header: value } });
        let mcp = registered_with(&server, "mine", config).await;
        let run = async |name: &str, text: &str| {
            let run = format!(
                "{}/tools/{}/run",
                path(&mcp),
                tool(&server, &mcp, name).await
            );
            let result = made(&server, &run, &json!({ "args": { "text": text } })).await;
            result["func_return"].as_str().unwrap().to_owned()
        };
        let leaked = run("leak", "").await;
        assert!(
            !leaked.contains(TOKEN) && !leaked.contains(PAIR),
            "{header}: {leaked}"
        );
        assert_eq!(
            fake.headers("tools/call")[header.to_ascii_lowercase()],
            value
        );
        let said = run("echo", &format!("it is {TOKEN}.")).await;
        assert!(
            said.starts_with("echo: it is ***") && !said.contains(TOKEN),
            "{header}: {said}"
        );
    }
}

#[tokio::test]
async fn a_token_is_masked_in_lists_and_errors_however_it_is_spelt() {
    let server = TestServer::start().await;
    let fake = Fake::start(&["echo"]).await;
    let mut tool_of = described("told");
    tool_of["description"] = json!(format!("Uses {TOKEN}."));
    tool_of["title"] = json!(TOKEN);
    tool_of["annotations"] = json!({ "title": TOKEN });
    tool_of["inputSchema"]["properties"] = json!({ TOKEN: { "type": "string", "default": TOKEN } });
    fake.change(|it| {
        it.tools.push(tool_of);
        it.respell = true;
    });
    let config = json!({ "server_url": fake.url(), "auth_token": TOKEN });
    let mcp = registered_with(&server, "mine", config).await;
    for path in [
        format!("{}/tools", path(&mcp)),
        "/v1/tools/mcp/servers/mine/tools".to_owned(),
    ] {
        let listed = read(&server, &path).await;
        let told = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "told");
        let told = told.unwrap_or_else(|| panic!("{listed}"));
        let text = told.to_string();
        assert!(
            text.contains("Uses ***") && !text.contains(TOKEN),
            "{path}: {text}"
        );
    }
    let echo = tool(&server, &mcp, "echo").await;
    let message = format!("no {}", spelt(TOKEN));
    let code = format!(
        "{{\"id\": (id), \"error\": {{\"code\": \"{}\"}}}}",
        spelt(TOKEN)
    );
    let refused = format!("{{\"id\": (id), \"error\": {{\"message\": \"{message}\"}}}}");
    for (status, body) in [
        (400, refused.clone()),
        (500, code),
        (500, message),
        (403, refused),
    ] {
        fake.change(|it| it.refuses = Some((status, body.clone())));
        let run = format!("{}/tools/{echo}/run", path(&mcp));
        let result: Value = made(&server, &run, &json!({ "args": {} })).await;
        let text = result.to_string();
        assert_eq!(result["status"], "error", "{text}");
        assert!(
            !text.contains(TOKEN) && !text.contains(&spelt(TOKEN)[..30]),
            "{body}: {text}"
        );
    }
}
