//! The catalog against servers on loopback that list their models as vendors do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Json, Router, extract::Request, http::StatusCode, response::IntoResponse};
use bulkhead_domain::LlmConfig;
use bulkhead_llm::{
    Client, Settings,
    catalog::{Catalog, HandleError, Provider, can_reason, set_reasoning, settings, view},
    scripted,
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

/// Answers by path; everything else is 404. Counts the requests.
async fn server(answers: Vec<(&'static str, Value)>) -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let app = Router::new().fallback(move |request: Request| {
        count.fetch_add(1, Ordering::SeqCst);
        let answers = answers.clone();
        async move {
            let path = request.uri().path().to_owned();
            let body = axum::body::to_bytes(request.into_body(), 10_000).await;
            let body = String::from_utf8_lossy(&body.unwrap()).into_owned();
            let found = answers.iter().find(|(at, _)| {
                let (at, part) = at.split_once(' ').unwrap_or((at, ""));
                at == path && body.contains(part)
            });
            match found {
                Some((_, answer)) => Json(answer.clone()).into_response(),
                None => StatusCode::NOT_FOUND.into_response(),
            }
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (format!("http://{address}"), asked)
}

fn client() -> Client {
    Client::new(Settings {
        backoff: Duration::from_millis(1),
        ..Settings::default()
    })
    .unwrap()
}

fn catalog(variables: &[(&str, &str)]) -> Catalog {
    let lookup = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Catalog::from_env(lookup, &client()).unwrap()
}

async fn config(catalog: &Catalog, handle: &str) -> LlmConfig {
    catalog.resolve(handle, &[]).await.unwrap().config
}

#[tokio::test]
async fn without_a_provider_there_is_the_offline_model() {
    let catalog = catalog(&[]);
    assert_eq!(catalog.default_handle(&[]), Some("bulkhead/scripted"));
    let config = config(&catalog, "bulkhead/scripted").await;
    assert!(scripted::is_scripted(&config));
    assert_eq!(config.model_endpoint_type, "openai");
    assert_eq!(
        config.model_endpoint.as_deref(),
        Some("bulkhead://scripted")
    );
    assert_eq!(
        (config.context_window, config.max_tokens),
        (128_000, Some(16_384))
    );
    assert!(catalog.endpoint(&config, &[]).is_ok());
    let error = catalog.resolve("openai/gpt-4o", &[]).await.unwrap_err();
    let known = vec!["bulkhead/scripted".to_owned()];
    let handle = "openai/gpt-4o".to_owned();
    assert_eq!(error, HandleError::Unknown { handle, known });
    let error = catalog.resolve("gpt-4o", &[]).await.unwrap_err();
    assert_eq!(error, HandleError::Malformed("gpt-4o".to_owned()));
}

#[tokio::test]
async fn what_a_server_says_of_its_models_wins_over_what_names_say() {
    let (url, asked) = server(vec![(
        "/v1/models",
        json!({"data": [
            {"id": "gpt-4o", "max_model_len": 9_000},
            {"id": "big", "context_length": 500_000, "supported_parameters": ["reasoning"],
             "top_provider": {"max_completion_tokens": 4_000}},
            {"id": "plain"},
            {"id": "whisper-large"},
            {"id": "old", "active": false},
            {"id": "text-embedding-3-small"},
        ]}),
    )])
    .await;
    let catalog = catalog(&[("OPENAI_BASE_URL", &format!("{url}/v1"))]);
    assert_eq!(catalog.default_handle(&[]), None);
    let listing = catalog.models(&catalog.base()[0]).await;
    let seen: Vec<_> = listing
        .models
        .iter()
        .map(|m| (m.name.as_str(), m.context_window, m.reasons))
        .collect();
    let expected = [
        ("big", 500_000, true),
        ("gpt-4o", 9_000, false),
        ("plain", 32_768, false),
    ];
    assert_eq!(seen, expected);
    let big = config(&catalog, "openai/big").await;
    assert_eq!((big.context_window, big.max_tokens), (128_000, Some(4_000)));
    assert!(big.enable_reasoner && big.reasoning_effort.is_none());
    assert_eq!(
        config(&catalog, "openai/gpt-4o").await.max_tokens,
        Some(4_500)
    );
    let embedding = catalog
        .resolve_embedding("openai/text-embedding-3-small", &[])
        .await
        .unwrap();
    assert_eq!(embedding.config.embedding_dim, 1_536);
    for handle in ["openai/zzz", "openai/whisper-large", "openai/old"] {
        let error = catalog.resolve(handle, &[]).await.unwrap_err();
        let HandleError::Unknown { known, .. } = error else {
            panic!("{handle}: {error}");
        };
        assert_eq!(
            known,
            [
                "openai/big",
                "openai/gpt-4o",
                "openai/plain",
                "bulkhead/scripted"
            ]
        );
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "the list is fetched once");
    catalog.forget("openai");
    catalog.models(&catalog.base()[0]).await;
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_provider_that_does_not_list_takes_any_name() {
    let (url, _) = server(Vec::new()).await;
    let catalog = catalog(&[("OPENAI_BASE_URL", &format!("{url}/v1"))]);
    assert_eq!(catalog.models(&catalog.base()[0]).await.models, []);
    let config = config(&catalog, "openai/gpt-5-mini").await;
    assert_eq!(config.handle.as_deref(), Some("openai/gpt-5-mini"));
    assert_eq!(config.reasoning_effort.as_deref(), Some("medium"));
    assert_eq!(
        (config.context_window, config.max_tokens),
        (128_000, Some(16_384))
    );
}

#[tokio::test]
async fn ollama_is_asked_after_each_model() {
    let (url, _) = server(vec![
        (
            "/api/tags",
            json!({"models": [{"name": "qwen3:8b"}, {"name": "embedder:latest"},
                                        {"name": "silent:latest"}]}),
        ),
        (
            "/api/show qwen3:8b",
            json!({"capabilities": ["completion", "tools", "thinking"],
                                      "model_info": {"qwen3.context_length": 40_960}}),
        ),
        (
            "/api/show embedder",
            json!({"capabilities": ["embedding"],
                                      "model_info": {"bert.embedding_length": 321}}),
        ),
    ])
    .await;
    let catalog = catalog(&[("OLLAMA_BASE_URL", &url)]);
    let qwen = config(&catalog, "ollama/qwen3:8b").await;
    assert_eq!(qwen.model_endpoint, Some(format!("{url}/v1")));
    assert_eq!((qwen.context_window, qwen.enable_reasoner), (40_960, true));
    assert_eq!(config(&catalog, "ollama/silent").await.model, "silent");
    let embedder = catalog
        .resolve_embedding("ollama/embedder", &[])
        .await
        .unwrap();
    assert_eq!(embedder.config.embedding_dim, 321);
    assert_eq!(embedder.config.embedding_endpoint_type, "ollama");
}

#[tokio::test]
async fn anthropic_and_gemini_list_in_their_own_forms() {
    let (url, _) = server(vec![
        (
            "/v1/models",
            json!({"data": [{"id": "claude-sonnet-4-5-20250929", "type": "model",
                                        "display_name": "Claude Sonnet 4.5"}]}),
        ),
        (
            "/v1beta/models",
            json!({"models": [
            {"name": "models/gemini-2.5-flash", "inputTokenLimit": 77_777,
             "outputTokenLimit": 5_000, "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/gemini-embedding-001",
             "supportedGenerationMethods": ["embedContent"]},
            {"name": "models/imagen", "supportedGenerationMethods": ["predict"]}]}),
        ),
    ])
    .await;
    let catalog = catalog(&[("ANTHROPIC_BASE_URL", &url), ("GEMINI_BASE_URL", &url)]);
    let claude = config(&catalog, "anthropic/claude-sonnet-4-5").await;
    assert_eq!(claude.display_name.as_deref(), Some("Claude Sonnet 4.5"));
    assert_eq!(claude.model, "claude-sonnet-4-5");
    assert!(claude.enable_reasoner && claude.max_reasoning_tokens == 1_024);
    let gemini = config(&catalog, "google_ai/gemini-2.5-flash").await;
    assert_eq!(
        (gemini.context_window, gemini.max_tokens),
        (77_777, Some(5_000))
    );
    assert!(catalog.resolve("google_ai/imagen", &[]).await.is_err());
    let embedding = catalog
        .resolve_embedding("google_ai/gemini-embedding-001", &[])
        .await;
    assert_eq!(embedding.unwrap().config.embedding_dim, 768);
}

#[tokio::test]
async fn a_key_goes_only_to_the_address_of_its_provider() {
    let catalog = catalog(&[
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
        ("OPENAI_API_KEY", "k"),
    ]);
    let key = Zeroizing::new("mine".to_owned());
    let own = Provider::byok(
        "provider-1",
        "mine",
        "vllm",
        key,
        Some("http://127.0.0.1:2"),
    )
    .unwrap();
    let byok = [own];
    let at = |provider: Option<&str>, kind: &str, address: Option<&str>| {
        let mut config = LlmConfig::new("x", kind, "m", 1_000);
        config.handle = None;
        config.provider_name = provider.map(str::to_owned);
        config.model_endpoint = address.map(str::to_owned);
        let endpoint = catalog.endpoint(&config, &byok);
        endpoint
            .map(|endpoint| endpoint.base_url)
            .map_err(|error| error.to_string())
    };
    let base = Ok("http://127.0.0.1:1/v1".to_owned());
    assert_eq!(at(Some("openai"), "openai", None), base);
    // Where the vendor is for everybody else, the server's own setting counts.
    assert_eq!(at(None, "openai", Some("https://api.openai.com/v1/")), base);
    let refused = at(None, "openai", Some("http://evil.example/v1")).unwrap_err();
    assert_eq!(
        refused,
        "no provider is configured for openai/m at http://evil.example/v1"
    );
    assert!(at(Some("gone"), "openai", None).is_err());
    assert!(at(None, "anthropic", None).is_err());
    assert_eq!(
        at(Some("mine"), "vllm", None),
        Ok("http://127.0.0.1:2/v1".to_owned())
    );
    assert_eq!(
        at(None, "vllm", Some("http://127.0.0.1:2/v1")).as_deref(),
        Ok("http://127.0.0.1:2/v1")
    );
}

#[tokio::test]
async fn the_wire_shows_every_field_of_a_model() {
    let catalog = catalog(&[]);
    let listing = catalog.models(&catalog.base()[0]).await;
    let shown = view::model(&listing.models[0]);
    let expected = "compatibility_type context_window display_name effort enable_reasoner \
        frequency_penalty handle max_context_window max_reasoning_tokens max_tokens model \
        model_endpoint model_endpoint_type model_type model_wrapper name parallel_tool_calls \
        provider_category provider_name provider_type put_inner_thoughts_in_kwargs \
        reasoning_effort response_format return_logprobs return_token_ids strict temperature \
        tier tool_call_parser top_logprobs verbosity";
    let mut fields: Vec<&str> = shown
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    fields.sort_unstable();
    assert_eq!(fields, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(shown["handle"], "bulkhead/scripted");
    assert_eq!(shown["model_type"], "llm");
}

#[tokio::test]
async fn settings_change_what_they_name_and_come_back_in_the_words_of_the_vendor() {
    let (url, _) = server(Vec::new()).await;
    let catalog = catalog(&[
        ("OPENAI_BASE_URL", &format!("{url}/v1")),
        ("ANTHROPIC_BASE_URL", &url),
    ]);
    let mut plain = config(&catalog, "openai/gpt-4o").await;
    assert_eq!(plain.parallel_tool_calls, Some(false));
    let sent = json!({"provider_type": "openai", "max_output_tokens": 99, "temperature": 0.5,
                      "reasoning": {"reasoning_effort": "high"},
                      "response_format": {"type": "json_object"}});
    settings::apply(&mut plain, &sent).unwrap();
    assert_eq!((plain.max_tokens, plain.temperature), (Some(99), 0.5));
    assert_eq!(plain.parallel_tool_calls, Some(true));
    assert_eq!(plain.reasoning_effort, None, "this model takes none");
    assert_eq!(
        settings::render(&plain),
        json!({"provider_type": "openai", "max_output_tokens": 99, "parallel_tool_calls": true,
               "temperature": 0.5, "reasoning": {"reasoning_effort": "minimal"},
               "response_format": {"type": "json_object"}, "strict": false})
    );

    let mut claude = config(&catalog, "anthropic/claude-sonnet-4-5").await;
    let sent = json!({"provider_type": "anthropic", "parallel_tool_calls": false, "effort": "low",
                      "thinking": {"type": "disabled", "budget_tokens": 2_000}});
    settings::apply(&mut claude, &sent).unwrap();
    assert!(!claude.enable_reasoner && claude.parallel_tool_calls == Some(false));
    let shown = settings::render(&claude);
    assert_eq!(
        shown["thinking"],
        json!({"type": "disabled", "budget_tokens": 2_000})
    );
    assert_eq!(
        (&shown["effort"], &shown["max_output_tokens"]),
        (&json!("low"), &json!(16_384))
    );

    let before = claude.clone();
    let wrong = json!({"max_output_tokens": 5, "thinking": {"type": "perhaps"}});
    let error = settings::apply(&mut claude, &wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "thinking.type must be enabled or disabled"
    );
    assert_eq!(claude, before);
}

#[tokio::test]
async fn reasoning_is_switched_where_a_model_has_it() {
    let (url, _) = server(Vec::new()).await;
    let catalog = catalog(&[("OPENAI_BASE_URL", &format!("{url}/v1"))]);
    let mut plain = config(&catalog, "openai/gpt-4o").await;
    let can = can_reason(&plain);
    set_reasoning(&mut plain, true, can);
    assert!(!plain.enable_reasoner && plain.reasoning_effort.is_none());
    let mut gpt = config(&catalog, "openai/gpt-5").await;
    set_reasoning(&mut gpt, false, true);
    assert!(!gpt.enable_reasoner);
    assert_eq!(gpt.reasoning_effort.as_deref(), Some("minimal"));
}
