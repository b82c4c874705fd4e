//! Models in the form of the wire, every field included.

use serde_json::{Map, Value, json};

use super::model::{EmbeddingInfo, ModelInfo};

/// An element of `GET /v1/models/`.
pub fn model(info: &ModelInfo) -> Value {
    let config = info.config();
    let mut view = object(&config);
    for (key, value) in [
        ("name", json!(info.name)),
        ("provider_type", json!(info.provider_type)),
        ("model_type", json!("llm")),
        // What an agent uses by default is less where this is much.
        ("context_window", json!(info.context_window)),
        ("max_context_window", json!(info.context_window)),
    ] {
        view.insert(key.to_owned(), value);
    }
    Value::Object(view)
}

/// An element of `GET /v1/models/embedding`.
pub fn embedding_model(info: &EmbeddingInfo) -> Value {
    let mut view = object(&info.config());
    for (key, value) in [
        ("name", json!(info.name)),
        ("display_name", json!(info.name)),
        ("provider_type", json!(info.provider_type)),
        ("provider_name", json!(info.provider_name)),
        ("model_type", json!("embedding")),
    ] {
        view.insert(key.to_owned(), value);
    }
    Value::Object(view)
}

/// The fields of a configuration, all of which are part of the view.
fn object(config: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
