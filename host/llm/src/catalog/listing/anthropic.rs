//! `GET /v1/models`, Anthropic.

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
        path: "/v1/models?limit=1000",
        auth: Auth::Header("x-api-key"),
        headers: &[("anthropic-version", "2023-06-01")],
        body: None,
        classify: |_, _| None,
    };
    let answer = transport.get_json(&call, PATIENCE).await?;
    let models = objects(&answer, "data", endpoint)?;
    Ok(models
        .iter()
        .filter_map(|model| {
            let name = model.get("id")?.as_str()?;
            let display_name = model.get("display_name").and_then(Value::as_str);
            Some(Told {
                display_name: display_name.map(str::to_owned),
                ..Told::named(name)
            })
        })
        .collect())
}
