//! Texts as vectors, in OpenAI's wire format; Gemini's is in `gemini`.

use bulkhead_domain::EmbeddingConfig;
use serde_json::{Value, json};

use crate::{
    chat::Endpoint,
    error::{ErrorKind, LlmError},
    openai::problem,
    transport::{Auth, Call, Transport, failure},
};

/// Texts in one request at most: what OpenAI allows.
const MAX_BATCH: i64 = 2_048;

/// One vector for each text, in order. Requests are made one after the other, each with as many
/// texts as the configuration says.
pub(crate) async fn embed(
    transport: &Transport,
    config: &EmbeddingConfig,
    endpoint: &Endpoint,
    texts: &[String],
) -> Result<Vec<Vec<f32>>, LlmError> {
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(batch_size(config)) {
        let body = body(config, batch);
        let call = Call {
            endpoint,
            path: "/embeddings",
            auth: Auth::Bearer,
            headers: &[],
            body: Some(&body),
            classify: problem::kind,
        };
        let answer = transport.post_json(&call).await?;
        if let Some(problem) = problem::in_answer(&answer) {
            return Err(problem.refusal(endpoint, &answer));
        }
        let read = read(&answer, batch.len())
            .map_err(|text| failure(endpoint, ErrorKind::InvalidResponse, text))?;
        vectors.extend(read);
    }
    Ok(vectors)
}

/// Texts of one request: what is configured, within bounds.
pub(crate) fn batch_size(config: &EmbeddingConfig) -> usize {
    usize::try_from(config.batch_size.clamp(1, MAX_BATCH)).unwrap_or(1)
}

fn body(config: &EmbeddingConfig, batch: &[String]) -> Value {
    let mut body = json!({
        "model": config.embedding_model,
        "input": batch,
        "encoding_format": "float",
    });
    // The only models that can be told how long their vectors are; others refuse the field.
    if config.embedding_model.starts_with("text-embedding-3") && config.embedding_dim > 0 {
        body["dimensions"] = config.embedding_dim.into();
    }
    body
}

/// The vectors in the order of their texts, whatever the order in the answer.
fn read(answer: &Value, expected: usize) -> Result<Vec<Vec<f32>>, &'static str> {
    let Some(entries) = answer["data"].as_array() else {
        return Err("the answer has no `data`");
    };
    if entries.len() != expected {
        return Err("the answer has not one vector for each text");
    }
    let mut vectors = vec![Vec::new(); expected];
    for (place, entry) in entries.iter().enumerate() {
        let index = match entry["index"].as_u64() {
            Some(index) => usize::try_from(index).unwrap_or(usize::MAX),
            None => place,
        };
        let Some(vector) = vectors.get_mut(index).filter(|vector| vector.is_empty()) else {
            return Err("a vector of the answer belongs to no text");
        };
        *vector = numbers(&entry["embedding"])?;
    }
    Ok(vectors)
}

/// A vector of finite numbers, with at least one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "vectors are kept in single precision"
)]
pub(crate) fn numbers(list: &Value) -> Result<Vec<f32>, &'static str> {
    let numbers: Option<Vec<f32>> = list.as_array().and_then(|list| {
        list.iter()
            .map(|number| number.as_f64().map(|number| number as f32))
            .map(|number| number.filter(|number| number.is_finite()))
            .collect()
    });
    numbers
        .filter(|numbers| !numbers.is_empty())
        .ok_or("a vector of the answer is no list of numbers")
}
