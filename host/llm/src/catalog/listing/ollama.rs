//! `GET /api/tags` and `POST /api/show`, Ollama: its list in OpenAI's form says nothing but names.

use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{PATIENCE, Told, objects};
use crate::{
    chat::Endpoint,
    error::LlmError,
    openai::problem,
    transport::{Auth, Call, Transport},
};

/// Models that are asked after, at once and in all. The rest are listed by name.
const AT_ONCE: usize = 8;
const ASKED: usize = 200;

/// How long all of them may take: less than the whole list, whose names must not be lost.
const ALL: Duration = Duration::from_secs(2);

pub(super) async fn list(
    transport: &Transport,
    endpoint: &Endpoint,
) -> Result<Vec<Told>, LlmError> {
    // Its own API stands beside the one in OpenAI's form.
    let base = endpoint.base_url.trim_end_matches('/');
    let endpoint = Endpoint {
        base_url: base.strip_suffix("/v1").unwrap_or(base).to_owned(),
        ..endpoint.clone()
    };
    let call = call(&endpoint, "/api/tags", None);
    let answer = transport.get_json(&call, PATIENCE).await?;
    let names: Vec<String> = objects(&answer, "models", &endpoint)?
        .iter()
        .filter_map(|model| Some(model.get("name")?.as_str()?.to_owned()))
        .collect();
    let (asked, others) = names.split_at(names.len().min(ASKED));
    let deadline = Instant::now() + ALL;
    // Each boxed by itself: a stream of closures over references is not `Send` for callers.
    let shown: Vec<_> = asked
        .iter()
        .map(|name| show(transport, &endpoint, name, deadline).boxed())
        .collect();
    let mut told: Vec<Told> = stream::iter(shown).buffered(AT_ONCE).collect().await;
    told.extend(others.iter().map(|name| Told::named(name)));
    Ok(told)
}

fn call<'a>(endpoint: &'a Endpoint, path: &'a str, body: Option<&'a Value>) -> Call<'a> {
    Call {
        endpoint,
        path,
        auth: Auth::Bearer,
        headers: &[],
        body,
        classify: problem::kind,
    }
}

/// What the server says of a model; its name alone where it says nothing in time.
async fn show(transport: &Transport, endpoint: &Endpoint, name: &str, deadline: Instant) -> Told {
    let body = json!({"model": name});
    let call = call(endpoint, "/api/show", Some(&body));
    match timeout_at(deadline, transport.post_json(&call)).await {
        Ok(Ok(answer)) => told(name, &answer),
        Ok(Err(_)) | Err(_) => Told::named(name),
    }
}

fn told(name: &str, answer: &Value) -> Told {
    let by_name = Told::named(name);
    let capabilities = answer.get("capabilities").and_then(Value::as_array);
    let can = |capability: &str| {
        capabilities.map(|all| all.iter().any(|able| able.as_str() == Some(capability)))
    };
    // Under the name of the architecture: `llama.context_length`.
    let number = |suffix: &str| {
        let info = answer.get("model_info")?.as_object()?;
        let mut found = info.iter().filter(|(key, _)| key.ends_with(suffix));
        found.find_map(|(_, value)| value.as_i64())
    };
    let embeds = can("embedding").unwrap_or(by_name.embeds);
    Told {
        context: number(".context_length"),
        reasons: can("thinking"),
        embeds: embeds && can("completion") != Some(true),
        dimensions: number(".embedding_length"),
        ..by_name
    }
}
