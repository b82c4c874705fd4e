//! The models of a provider, by its own list where it gives one.

mod anthropic;
mod cache;
mod gemini;
mod ollama;
mod openai;

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

pub(super) use self::cache::Cache;
use super::{
    kind::{Kind, Lists},
    known,
    model::{EmbeddingInfo, ModelInfo, Told},
    provider::Provider,
};
use crate::{
    error::{ErrorKind, LlmError},
    transport::{Transport, failure},
};

/// How long a provider may take to list its models. A person is waiting; without the list, any name
/// of a model is taken.
const PATIENCE: Duration = Duration::from_secs(3);

/// Models of one provider: gateways list some hundreds.
const MAX_MODELS: usize = 2_000;

/// Bytes of a model's name. Longer ones are no names.
const MAX_NAME: usize = 256;

/// The models of a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Models that answer.
    pub models: Vec<ModelInfo>,
    /// Models that make vectors.
    pub embeddings: Vec<EmbeddingInfo>,
    /// Whether the provider itself said so. If not, it may have others.
    pub complete: bool,
}

/// Asks the provider; where it does not answer, what its type usually has.
async fn fetch(transport: &Transport, provider: &Provider) -> Listing {
    let Some(kind) = provider.kind() else {
        return Listing::default();
    };
    let told = ask(transport, provider, kind).await;
    match told {
        Ok(told) => listing(provider, told, true),
        Err(error) => {
            tracing::warn!(provider = provider.name, %error, "models could not be listed");
            let usual = known::usual(kind.provider_type).iter();
            let names = usual.chain(known::usual_embeddings(kind.provider_type));
            let told = if provider.is_at_vendor() {
                names.map(|name| Told::named(name)).collect()
            } else {
                Vec::new()
            };
            listing(provider, told, false)
        }
    }
}

/// Asks the provider, with the key that it has.
pub(super) async fn ask(
    transport: &Transport,
    provider: &Provider,
    kind: &Kind,
) -> Result<Vec<Told>, LlmError> {
    let endpoint = &provider.endpoint;
    let asked = async {
        match kind.lists {
            Lists::OpenAi => openai::list(transport, provider).await,
            Lists::Anthropic => anthropic::list(transport, endpoint).await,
            Lists::Gemini => gemini::list(transport, endpoint).await,
            Lists::Ollama => ollama::list(transport, endpoint).await,
            Lists::Scripted => Ok(vec![Told::scripted()]),
        }
    };
    timeout(PATIENCE, asked).await.unwrap_or_else(|_| {
        let text = format!("no list of models in {} s", PATIENCE.as_secs());
        Err(failure(endpoint, ErrorKind::Timeout, &text))
    })
}

fn listing(provider: &Provider, told: Vec<Told>, complete: bool) -> Listing {
    let mut listing = Listing {
        complete,
        ..Listing::default()
    };
    let named = told
        .into_iter()
        .filter(|told| !told.name.is_empty() && told.name.len() <= MAX_NAME)
        .take(MAX_MODELS);
    for told in named {
        if told.embeds {
            listing
                .embeddings
                .extend(EmbeddingInfo::new(provider, &told));
        } else {
            listing.models.extend(ModelInfo::new(provider, told));
        }
    }
    listing.models.sort_by(|a, b| a.name.cmp(&b.name));
    listing.models.dedup_by(|a, b| a.name == b.name);
    listing.embeddings.sort_by(|a, b| a.name.cmp(&b.name));
    listing.embeddings.dedup_by(|a, b| a.name == b.name);
    listing
}

/// The objects under `key`.
fn objects<'a>(
    answer: &'a Value,
    key: &str,
    endpoint: &crate::chat::Endpoint,
) -> Result<&'a [Value], LlmError> {
    answer
        .get(key)
        .or(Some(answer))
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| {
            let text = format!("its list of models has no list `{key}`");
            failure(endpoint, ErrorKind::InvalidResponse, &text)
        })
}
