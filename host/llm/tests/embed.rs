//! Embeddings in OpenAI's wire format, against a server on loopback that speaks it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bulkhead_domain::EmbeddingConfig;
use bulkhead_llm::{Client, ErrorKind, LlmError};
use common::{Answer, KEY, Server, settings};
use serde_json::{Value, json};

fn config(model: &str, batch_size: i64) -> EmbeddingConfig {
    serde_json::from_value(json!({
        "embedding_endpoint_type": "openai",
        "embedding_model": model,
        "embedding_dim": 2,
        "batch_size": batch_size,
    }))
    .unwrap()
}

async fn embed(
    server: &Server,
    config: &EmbeddingConfig,
    texts: &[&str],
) -> Result<Vec<Vec<f32>>, LlmError> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let client = Client::new(settings()).unwrap();
    client
        .embed(config, &server.endpoint("OpenAI"), &texts)
        .await
}

fn vectors(entries: &[(u64, [f64; 2])]) -> Answer {
    let data: Vec<Value> = entries
        .iter()
        .map(|(index, vector)| json!({"index": index, "embedding": vector}))
        .collect();
    Answer::json(200, json!({"object": "list", "data": data}))
}

#[tokio::test]
async fn texts_go_in_batches_and_vectors_come_in_their_order() {
    let answers = vec![
        vectors(&[(1, [2.0, 2.5]), (0, [1.0, 1.5])]),
        vectors(&[(0, [3.0, 3.5])]),
    ];
    let server = Server::with(answers).await;
    let config = config("text-embedding-3-small", 2);
    let vectors = embed(&server, &config, &["a", "b", "c"]).await.unwrap();
    assert_eq!(vectors, [[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]);
    let asked = server.requests();
    assert_eq!(asked[0].uri, "/embeddings");
    assert_eq!(asked[0].headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(
        asked[0].body,
        json!({
            "model": "text-embedding-3-small",
            "input": ["a", "b"],
            "encoding_format": "float",
            "dimensions": 2,
        })
    );
    assert_eq!(asked[1].body["input"], json!(["c"]));
}

#[tokio::test]
async fn models_of_fixed_length_are_not_told_one() {
    let server = Server::with(vec![vectors(&[(0, [1.0, 2.0])])]).await;
    let config = config("nomic-embed-text", 32);
    embed(&server, &config, &["a"]).await.unwrap();
    assert_eq!(server.only_request().body["dimensions"], Value::Null);
}

#[tokio::test]
async fn no_text_needs_no_request() {
    let server = Server::with(vec![]).await;
    let vectors = embed(&server, &config("x", 32), &[]).await.unwrap();
    assert!(vectors.is_empty() && server.requests().is_empty());
}

#[tokio::test]
async fn answers_that_belong_to_no_text_are_refused() {
    let answers = [
        vectors(&[(0, [1.0, 2.0])]),
        vectors(&[(0, [1.0, 2.0]), (0, [1.0, 2.0])]),
        vectors(&[(0, [1.0, 2.0]), (7, [1.0, 2.0])]),
        Answer::json(
            200,
            json!({"data": [{"embedding": []}, {"embedding": ["x"]}]}),
        ),
        Answer::json(200, json!({})),
    ];
    for answer in answers {
        let server = Server::with(vec![answer]).await;
        let error = embed(&server, &config("x", 32), &["a", "b"])
            .await
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidResponse);
    }
}

#[tokio::test]
async fn an_endpoint_without_embeddings_says_so() {
    let server = Server::with(vec![]).await;
    let mut config = config("x", 32);
    "anthropic".clone_into(&mut config.embedding_endpoint_type);
    let error = embed(&server, &config, &["a"]).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest);
}
