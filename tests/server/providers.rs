//! Providers of models that people bring.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    clients::{NOBODY, agent, detail, each, made, on_both_databases, patched, read, said, told},
    support::{Answer, TestServer},
    vendor::{ANSWER, KEY, MODEL, Vendor},
};

/// A provider at this vendor.
fn body(name: &str, vendor: &Vendor, key: &str) -> Value {
    json!({
        "name": name, "provider_type": "openai", "api_key": key, "base_url": vendor.base_url,
    })
}

fn path(provider: &Value) -> String {
    format!("/v1/providers/{}", provider["id"].as_str().unwrap())
}

/// Asks without a body.
async fn asked(server: &TestServer, method: Method, path: &str) -> Answer {
    Answer::read(server.request(method, path).send().await.unwrap()).await
}

#[tokio::test]
async fn providers_are_made_read_changed_and_deleted_and_keys_stay_inside() {
    let vendor = Vendor::start().await;
    for server in on_both_databases().await {
        let saved = server
            .post("/v1/providers/", &body("mine", &vendor, KEY))
            .await;
        assert_eq!(saved.status, 200, "{saved:?}");
        assert!(!saved.text.contains(KEY), "{}", saved.text);
        let mine = saved.body;
        for (field, expected) in [
            ("name", json!("mine")),
            ("provider_type", json!("openai")),
            ("provider_category", json!("byok")),
            ("base_url", json!(vendor.base_url)),
            ("api_key", Value::Null),
            ("api_key_enc", Value::Null),
            ("access_key", Value::Null),
            ("access_key_enc", Value::Null),
            ("region", Value::Null),
            ("last_synced", Value::Null),
        ] {
            assert_eq!(mine[field], expected, "{field}");
        }
        assert_eq!(read(&server, &path(&mine)).await, mine);
        let other = made(&server, "/v1/providers/", &body("other", &vendor, "sk-bad")).await;
        for (query, expected) in [
            ("", &["other", "mine"][..]),
            ("?order=asc", &["mine", "other"]),
            ("?name=mine", &["mine"]),
            ("?provider_type=anthropic", &[]),
            ("?limit=1", &["other"]),
        ] {
            let list = read(&server, &format!("/v1/providers/{query}")).await;
            assert_eq!(each(&list, "name"), expected, "{query}");
        }
        let after = format!("/v1/providers/?after={}", other["id"].as_str().unwrap());
        assert_eq!(each(&read(&server, &after).await, "name"), ["mine"]);

        let change = json!({ "api_key": KEY, "region": "eu" });
        let changed = patched(&server, &path(&other), &change).await;
        assert_eq!(
            (&changed["region"], &changed["base_url"]),
            (&json!("eu"), &json!(vendor.base_url))
        );
        let deleted = server.delete(&path(&other)).await;
        let id = other["id"].as_str().unwrap();
        let expected = format!("Provider id={id} successfully deleted");
        assert_eq!(deleted.body, json!({ "message": expected }));
        assert_eq!(detail(&server.get(&path(&other)).await).0, 404);
        assert_eq!(detail(&server.delete(&path(&other)).await).0, 404);
    }
}

#[tokio::test]
async fn a_check_asks_the_provider() {
    let vendor = Vendor::start().await;
    let server = TestServer::start().await;
    let check = |key: &str| json!({ "provider_type": "openai", "api_key": key, "base_url": vendor.base_url });
    let good = made(&server, "/v1/providers/check", &check(KEY)).await;
    let expected = json!({ "message": "Valid api key for provider_type=openai" });
    assert_eq!(good, expected);
    let bad = server.post("/v1/providers/check", &check("sk-bad")).await;
    let (status, text) = detail(&bad);
    assert!(
        status == 401 && text.contains("Incorrect API key"),
        "{bad:?}"
    );
    assert!(!text.contains("sk-bad"), "{text}");
    let gone = Vendor::start().await.base_url.clone();
    let nobody = json!({ "provider_type": "openai", "api_key": KEY, "base_url": gone });
    let refused = server.post("/v1/providers/check", &nobody).await;
    assert_eq!(detail(&refused).0, 401, "{refused:?}");

    let stored = made(&server, "/v1/providers/", &body("mine", &vendor, "sk-bad")).await;
    let stored_check = format!("{}/check", path(&stored));
    assert_eq!(
        asked(&server, Method::POST, &stored_check).await.status,
        401
    );
    patched(&server, &path(&stored), &json!({ "api_key": KEY })).await;
    assert_eq!(
        asked(&server, Method::POST, &stored_check).await.body,
        expected
    );
}

#[tokio::test]
async fn a_refresh_asks_for_the_models_anew() {
    let vendor = Vendor::start().await;
    let server = TestServer::start().await;
    let stored = made(&server, "/v1/providers/", &body("mine", &vendor, KEY)).await;
    let refreshed = asked(
        &server,
        Method::PATCH,
        &format!("{}/refresh", path(&stored)),
    )
    .await;
    assert_eq!(refreshed.status, 200, "{refreshed:?}");
    assert!(refreshed.body["last_synced"].is_string(), "{refreshed:?}");
}

#[tokio::test]
async fn an_agent_asks_a_model_that_a_person_brought_until_it_is_taken_away() {
    let vendor = Vendor::start().await;
    let mut server = TestServer::start().await;
    let mine = made(&server, "/v1/providers/", &body("mine", &vendor, KEY)).await;
    let model = format!("mine/{MODEL}");
    let agent = agent(
        &server,
        json!({ "model": model, "include_base_tools": false }),
    )
    .await;
    let messages = format!("/v1/agents/{agent}/messages");
    let answer = told(&server, &messages, "Who is there?").await;
    assert_eq!(said(&answer), [ANSWER]);
    assert_eq!(answer["usage"]["total_tokens"], 9);
    let question = vendor.asked().pop().unwrap();
    assert_eq!(question["model"], MODEL);
    let roles = each(&question["messages"], "role");
    assert_eq!(roles, ["system", "user"], "{question}");
    assert_eq!(question["messages"][1]["content"], "Who is there?");
    let step = format!(
        "/v1/steps/{}",
        answer["messages"][0]["step_id"].as_str().unwrap()
    );
    let metrics = read(&server, &format!("{step}/metrics")).await;
    assert_eq!(metrics["provider_id"], mine["id"]);
    let step = read(&server, &step).await;
    for (field, expected) in [
        ("provider_id", &mine["id"]),
        ("provider_name", &json!("mine")),
        ("provider_category", &json!("byok")),
        ("model", &json!(MODEL)),
        ("model_handle", &json!(model)),
        ("model_endpoint", &json!(vendor.base_url)),
        ("context_window_limit", &json!(32_768)),
    ] {
        assert_eq!(&step[field], expected, "{field}");
    }

    server.restart().await;
    assert_eq!(
        said(&told(&server, &messages, "Still there?").await),
        [ANSWER]
    );

    patched(&server, &path(&mine), &json!({ "api_key": "sk-bad" })).await;
    let question = json!({ "input": "And now?" });
    let refused = server.post(&messages, &question).await;
    assert_eq!(refused.status, 401, "{refused:?}");
    assert_eq!(refused.body["error"]["type"], "llm_authentication");
    assert!(!refused.text.contains("sk-bad"), "{}", refused.text);

    server.delete(&path(&mine)).await;
    assert_eq!(detail(&server.post(&messages, &question).await).0, 404);
    let list = read(&server, &messages).await;
    let users = list.as_array().unwrap().iter();
    let users = users.filter(|message| message["message_type"] == "user_message");
    assert_eq!(users.count(), 2, "of what failed, nothing is stored");
}

#[tokio::test]
async fn a_provider_that_can_not_be_is_refused() {
    let vendor = Vendor::start().await;
    let server = TestServer::start().await;
    made(&server, "/v1/providers/", &body("mine", &vendor, KEY)).await;
    for (change, status, expected) in [
        (
            json!({ "name": "mine" }),
            409,
            "already a provider named 'mine'",
        ),
        (json!({ "name": "bulkhead" }), 409, "bulkhead"),
        (
            json!({ "name": "a/b" }),
            400,
            "INVALID_ARGUMENT: a provider's name",
        ),
        (
            json!({ "name": "" }),
            400,
            "INVALID_ARGUMENT: a provider's name",
        ),
        (json!({ "name": 1 }), 422, "'loc': ('body', 'name')"),
        (
            json!({ "provider_type": "gnome" }),
            422,
            "'type': 'enum', 'loc': ('body', 'provider_type')",
        ),
        (
            json!({ "provider_type": "bedrock" }),
            400,
            "providers of type 'bedrock' are not supported",
        ),
        (
            json!({ "provider_type": "ollama", "base_url": null }),
            400,
            "needs a base_url",
        ),
        (
            json!({ "base_url": "ftp://example.com" }),
            400,
            "is no address of a provider",
        ),
        (
            json!({ "more": 1 }),
            422,
            "'type': 'extra_forbidden', 'loc': ('body', 'more')",
        ),
    ] {
        let mut body = body("yours", &vendor, KEY);
        body.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let refused = server.post("/v1/providers/", &body).await;
        let (found, text) = detail(&refused);
        assert!(
            found == status && text.contains(expected),
            "{change}: {refused:?}"
        );
        assert!(!text.contains(KEY), "{text}");
    }
    let none = json!({ "name": "yours", "provider_type": "openai" });
    let refused = server.post("/v1/providers/", &none).await;
    let (status, text) = detail(&refused);
    assert!(
        status == 422 && text.contains("('body', 'api_key'), 'msg': 'Field required'"),
        "{text}"
    );
    assert_eq!(
        each(&read(&server, "/v1/providers/").await, "name"),
        ["mine"]
    );
    for (path, status) in [
        ("/v1/providers/provider-1".to_owned(), 422),
        (format!("/v1/providers/provider-{NOBODY}"), 404),
        (format!("/v1/providers/?after=provider-{NOBODY}"), 404),
    ] {
        assert_eq!(detail(&server.get(&path).await).0, status, "{path}");
    }
}
