//! `GET /models`, as OpenAI and those that speak like it answer it. Beyond the name, each says what
//! it likes; what is read here is what one or the other is known to say.

use serde_json::Value;

use super::{PATIENCE, Told, known, objects};
use crate::{
    catalog::provider::Provider,
    error::LlmError,
    openai::problem,
    transport::{Auth, Call, Transport},
};

/// Beginnings of the names of OpenAI's models that chat.
const CHATS: [&str; 6] = ["gpt-", "o1", "o3", "o4", "chatgpt-", "ft:"];

/// Parts of names of models that neither chat nor embed, whoever serves them.
const OTHERS: [&str; 13] = [
    "whisper",
    "transcribe",
    "tts",
    "audio",
    "realtime",
    "dall-e",
    "gpt-image",
    "moderation",
    "rerank",
    "-instruct-0914",
    "3.5-turbo-instruct",
    "search-api",
    "deep-research",
];

pub(super) async fn list(
    transport: &Transport,
    provider: &Provider,
) -> Result<Vec<Told>, LlmError> {
    let call = Call {
        endpoint: &provider.endpoint,
        path: "/models",
        auth: Auth::Bearer,
        headers: &[],
        body: None,
        classify: problem::kind,
    };
    let answer = transport.get_json(&call, PATIENCE).await?;
    let official = provider.provider_type == "openai" && provider.is_at_vendor();
    let models = objects(&answer, "data", &provider.endpoint)?;
    Ok(models
        .iter()
        .filter_map(told)
        .filter(|told| {
            let name = told.name.to_ascii_lowercase();
            let chats = !official || CHATS.iter().any(|family| name.starts_with(family));
            told.embeds || (chats && !OTHERS.iter().any(|part| name.contains(part)))
        })
        .collect())
}

fn told(model: &Value) -> Option<Told> {
    let name = model.get("id")?.as_str()?;
    // Together's and Mistral's words for what a model is for, and Groq's for one that is gone.
    let kind = model.get("type").and_then(Value::as_str);
    let answers = matches!(
        kind,
        None | Some("chat" | "language" | "code" | "model" | "base")
    );
    let embeds = kind == Some("embedding") || known::is_embedding(name);
    let chats = model.pointer("/capabilities/completion_chat") != Some(&Value::Bool(false));
    let active = model.get("active") != Some(&Value::Bool(false));
    if !active || !(embeds || answers && chats) {
        return None;
    }
    let number = |paths: &[&str]| {
        let mut found = paths
            .iter()
            .filter_map(|path| model.pointer(path)?.as_i64());
        found.find(|number| *number > 0)
    };
    let parameters = model.get("supported_parameters").and_then(Value::as_array);
    let text = |key: &str| model.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Told {
        name: name.to_owned(),
        display_name: text("display_name").or_else(|| text("name")),
        context: number(&[
            "/max_model_len",
            "/context_window",
            "/context_length",
            "/max_context_length",
            "/meta/n_ctx",
            "/meta/n_ctx_train",
        ]),
        output: number(&[
            "/max_completion_tokens",
            "/top_provider/max_completion_tokens",
        ]),
        reasons: parameters.map(|names| names.iter().any(|name| name == "reasoning")),
        embeds,
        dimensions: None,
    })
}
