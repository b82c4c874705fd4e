//! The models that agents can ask, as lists.

use serde_json::{Value, json};

use crate::{
    clients::{detail, each, made, read},
    support::TestServer,
    vendor::{KEY, MODEL, Vendor},
};

#[tokio::test]
async fn the_offline_model_is_there_and_asked_where_nothing_else_is() {
    let server = TestServer::start().await;
    let models = read(&server, "/v1/models/").await;
    assert_eq!(each(&models, "handle"), ["bulkhead/scripted"]);
    let model = &models[0];
    for (field, expected) in [
        ("name", json!("scripted")),
        ("model_type", json!("llm")),
        ("provider_name", json!("bulkhead")),
        ("provider_category", json!("base")),
        ("context_window", json!(128_000)),
        ("max_context_window", json!(128_000)),
        ("model_endpoint_type", json!("openai")),
        ("parallel_tool_calls", json!(false)),
    ] {
        assert_eq!(model[field], expected, "{field}");
    }
    assert_eq!(read(&server, "/v1/models").await, models);
    assert_eq!(read(&server, "/v1/models/embedding").await, json!([]));
    let agent = made(&server, "/v1/agents/", &json!({})).await;
    assert_eq!(agent["model"], "bulkhead/scripted");
}

#[tokio::test]
async fn models_are_listed_by_who_brought_them_and_whose_they_are() {
    let vendor = Vendor::start().await;
    let server = TestServer::start_with(|config| {
        let env = &mut config.provider_env;
        env.insert("OPENAI_API_KEY".to_owned(), KEY.to_owned());
        env.insert("OPENAI_BASE_URL".to_owned(), vendor.base_url.clone());
    })
    .await;
    let body = json!({
        "name": "mine", "provider_type": "vllm", "api_key": KEY, "base_url": vendor.base_url,
    });
    made(&server, "/v1/providers/", &body).await;
    let (base, mine) = (format!("openai/{MODEL}"), format!("mine/{MODEL}"));
    for (query, expected) in [
        ("", &[base.as_str(), "bulkhead/scripted", &mine][..]),
        ("?provider_category=byok", &[&mine]),
        (
            "?provider_category=base&provider_category=byok",
            &[&base, "bulkhead/scripted", &mine],
        ),
        ("?provider_category=base", &[&base, "bulkhead/scripted"]),
        ("?provider_name=openai", &[&base]),
        ("?provider_type=vllm", &[&mine]),
        ("?provider_type=anthropic", &[]),
    ] {
        let models = read(&server, &format!("/v1/models/{query}")).await;
        assert_eq!(each(&models, "handle"), expected, "{query}");
    }
    let embeddings = read(&server, "/v1/models/embedding").await;
    let handles = [
        "openai/text-embedding-3-small",
        "mine/text-embedding-3-small",
    ];
    assert_eq!(each(&embeddings, "handle"), handles);
    assert_eq!(embeddings[0]["embedding_dim"], 1536);
    assert_eq!(embeddings[0]["model_type"], "embedding");

    // There is a provider, so that nobody gets the offline model unasked.
    let refused = server.post("/v1/agents/", &json!({})).await;
    let expected = "INVALID_ARGUMENT: Must specify either model or llm_config in request";
    assert_eq!(detail(&refused), (400, expected));
    let refused = server.get("/v1/models/?provider_category=lent").await;
    let (status, text) = detail(&refused);
    assert!(status == 422 && text.contains("'base' or 'byok'"), "{text}");
}

#[tokio::test]
async fn a_provider_that_does_not_answer_keeps_no_list_back() {
    let gone = Vendor::start().await.base_url.clone();
    let server = TestServer::start().await;
    let body = json!({
        "name": "gone", "provider_type": "openai", "api_key": KEY, "base_url": gone,
    });
    made(&server, "/v1/providers/", &body).await;
    let models: Value = read(&server, "/v1/models/").await;
    assert_eq!(each(&models, "handle"), ["bulkhead/scripted"]);
}
