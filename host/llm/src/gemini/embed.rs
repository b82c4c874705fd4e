//! Vectors of texts.

use bulkhead_domain::EmbeddingConfig;
use serde_json::{Value, json};

use super::{KEY, path, refusal};
use crate::{
    chat::Endpoint,
    embed::numbers,
    error::{ErrorKind, LlmError},
    transport::{Call, Transport, failure},
};

/// Texts in one request that the vendor accepts at most.
const MAX_BATCH: usize = 100;

/// One vector for each text, in their order, of the length that the configuration says where the
/// model can be told one. Each has length 1 in the geometric sense: the vendor's shortened vectors
/// have not.
///
/// # Errors
/// As [`LlmError`] says; `InvalidResponse` when there is not one vector for each text.
pub(crate) async fn embed(
    transport: &Transport,
    config: &EmbeddingConfig,
    endpoint: &Endpoint,
    texts: &[String],
) -> Result<Vec<Vec<f32>>, LlmError> {
    let model = &config.embedding_model;
    let model = model.strip_prefix("models/").unwrap_or(model);
    let path = path(model, "batchEmbedContents");
    let size = usize::try_from(config.batch_size).unwrap_or(1);
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(size.clamp(1, MAX_BATCH)) {
        let requests = batch.iter().map(|text| question(config, model, text));
        let body = json!({"requests": requests.collect::<Vec<_>>()});
        let call = Call {
            endpoint,
            path: &path,
            auth: KEY,
            headers: &[],
            body: Some(&body),
            classify: refusal::classify,
        };
        let answer = transport.post_json(&call).await?;
        let answered = read(&answer, batch.len())
            .map_err(|text| failure(endpoint, ErrorKind::InvalidResponse, text))?;
        vectors.extend(answered.into_iter().map(normalised));
    }
    Ok(vectors)
}

fn question(config: &EmbeddingConfig, model: &str, text: &str) -> Value {
    let mut question = json!({
        "model": format!("models/{model}"),
        "content": {"parts": [{"text": text}]},
    });
    if config.embedding_dim > 0 {
        question["outputDimensionality"] = Value::from(config.embedding_dim);
    }
    question
}

fn read(answer: &Value, expected: usize) -> Result<Vec<Vec<f32>>, &'static str> {
    let embeddings = answer["embeddings"].as_array();
    let embeddings = embeddings.ok_or("the answer has no `embeddings`")?;
    if embeddings.len() != expected {
        return Err("the answer has not one vector for each text");
    }
    let vectors = embeddings.iter().map(|entry| numbers(&entry["values"]));
    vectors.collect()
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        for value in &mut vector {
            *value /= length;
        }
    }
    vector
}
