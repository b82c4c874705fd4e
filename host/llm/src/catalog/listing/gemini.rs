//! `GET /v1beta/models`, Gemini.

use serde_json::Value;

use super::{PATIENCE, Told, objects};
use crate::{
    chat::Endpoint,
    error::LlmError,
    transport::{Auth, Call, Transport},
};

pub(super) async fn list(
    transport: &Transport,
    endpoint: &Endpoint,
) -> Result<Vec<Told>, LlmError> {
    let call = Call {
        endpoint,
        path: "/v1beta/models?pageSize=1000",
        auth: Auth::Header("x-goog-api-key"),
        headers: &[],
        body: None,
        classify: |_, _| None,
    };
    let answer = transport.get_json(&call, PATIENCE).await?;
    let models = objects(&answer, "models", endpoint)?;
    Ok(models.iter().filter_map(told).collect())
}

fn told(model: &Value) -> Option<Told> {
    let name = model.get("name")?.as_str()?;
    let methods = model.get("supportedGenerationMethods")?.as_array()?;
    let can = |method: &str| methods.iter().any(|name| name == method);
    let embeds = can("embedContent");
    if !embeds && !can("generateContent") {
        return None;
    }
    let number = |key: &str| model.get(key).and_then(Value::as_i64);
    Some(Told {
        name: name.strip_prefix("models/").unwrap_or(name).to_owned(),
        display_name: model
            .get("displayName")
            .and_then(Value::as_str)
            .map(str::to_owned),
        context: number("inputTokenLimit"),
        output: number("outputTokenLimit"),
        reasons: model.get("thinking").and_then(Value::as_bool),
        embeds,
        dimensions: None,
    })
}
