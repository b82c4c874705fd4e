//! One model of one provider, and how it is asked unless somebody says otherwise.

use bulkhead_domain::{EmbeddingConfig, LlmConfig};

use super::{
    known,
    provider::{Category, Provider},
};
use crate::scripted;

/// Tokens of a hosted model's context where nobody says how many: what has been usual for years.
const HOSTED_CONTEXT: i64 = 128_000;

/// The same for servers that people run themselves, where memory is short.
const LOCAL_CONTEXT: i64 = 32_768;

/// Tokens of context that an agent uses unless told otherwise: long contexts are slow and dear.
const USED_CONTEXT: i64 = 128_000;

/// Tokens of an answer unless told otherwise.
const MAX_TOKENS: i64 = 16_384;

/// Tokens of reasoning for models that are given a budget.
const REASONING_BUDGET: i64 = 1_024;

/// Characters of a chunk, and texts of a request, of embedding models.
const CHUNK: i64 = 300;
const BATCH: i64 = 32;

/// A model that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// The first half of its handle.
    pub provider_name: String,
    /// `openai`, `anthropic`, ….
    pub provider_type: String,
    /// Who brought the provider.
    pub category: Category,
    /// Whose wire format the endpoint speaks.
    pub endpoint_type: &'static str,
    /// The base URL.
    pub base_url: String,
    /// The provider's name of it, the second half of its handle.
    pub name: String,
    /// A name for people.
    pub display_name: String,
    /// Tokens that fit.
    pub context_window: i64,
    /// Tokens of an answer at most, where known.
    pub max_output: Option<i64>,
    /// Whether it reasons.
    pub reasons: bool,
}

/// An embedding model that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingInfo {
    /// The first half of its handle.
    pub provider_name: String,
    /// `openai`, `google_ai`, ….
    pub provider_type: String,
    /// Whose wire format the endpoint speaks.
    pub endpoint_type: &'static str,
    /// The base URL.
    pub base_url: String,
    /// The provider's name of it, the second half of its handle.
    pub name: String,
    /// Numbers in a vector.
    pub dimensions: i64,
}

/// What a provider says of one of its models; none where it is silent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) name: String,
    pub(super) display_name: Option<String>,
    pub(super) context: Option<i64>,
    pub(super) output: Option<i64>,
    pub(super) reasons: Option<bool>,
    /// Whether it makes vectors instead of answers.
    pub(super) embeds: bool,
    pub(super) dimensions: Option<i64>,
}

impl Told {
    /// A model of which only the name is known.
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            embeds: known::is_embedding(name),
            ..Self::default()
        }
    }

    /// The offline model.
    pub(super) fn scripted() -> Self {
        Self {
            context: Some(scripted::CONTEXT_WINDOW),
            output: Some(MAX_TOKENS),
            reasons: Some(true),
            ..Self::named(scripted::MODEL)
        }
    }
}

impl ModelInfo {
    /// What is told and known together; none for a provider of no known type.
    pub(super) fn new(provider: &Provider, told: Told) -> Option<Self> {
        let kind = provider.kind()?;
        let hosted = kind.base_url.is_some()
            && (provider.is_at_vendor() || provider.provider_type != "openai");
        let assumed = if hosted {
            HOSTED_CONTEXT
        } else {
            LOCAL_CONTEXT
        };
        let known = known::model(&told.name);
        let sane = |number: &i64| *number > 0;
        Some(Self {
            provider_name: provider.name.clone(),
            provider_type: provider.provider_type.clone(),
            category: provider.category,
            endpoint_type: kind.endpoint_type,
            base_url: provider.endpoint.base_url.clone(),
            display_name: told.display_name.unwrap_or_else(|| told.name.clone()),
            context_window: told
                .context
                .filter(sane)
                .or(known.map(|known| known.context))
                .unwrap_or(assumed),
            max_output: told.output.filter(sane).or(known.map(|known| known.output)),
            reasons: told
                .reasons
                .unwrap_or(known.is_some_and(|known| known.reasons)),
            name: told.name,
        })
    }

    /// `provider/model`.
    pub fn handle(&self) -> String {
        format!("{}/{}", self.provider_name, self.name)
    }

    /// How it is asked unless somebody says otherwise.
    pub fn config(&self) -> LlmConfig {
        let context = self.context_window.min(USED_CONTEXT);
        // An answer must leave room for the question.
        let answer = MAX_TOKENS
            .min(self.max_output.unwrap_or(MAX_TOKENS))
            .min(context / 2)
            .max(1);
        let budgeted = matches!(self.endpoint_type, "anthropic" | "google_ai");
        LlmConfig {
            display_name: Some(self.display_name.clone()),
            model_endpoint: Some(self.base_url.clone()),
            provider_category: Some(self.category.as_str().to_owned()),
            max_tokens: Some(answer),
            enable_reasoner: self.reasons,
            reasoning_effort: (self.reasons && takes_effort(self.endpoint_type, &self.name))
                .then(|| "medium".to_owned()),
            max_reasoning_tokens: if self.reasons && budgeted {
                REASONING_BUDGET
            } else {
                0
            },
            ..LlmConfig::new(&self.provider_name, self.endpoint_type, &self.name, context)
        }
    }
}

/// Whether a model is told how much to reason: OpenAI's own that do.
pub(super) fn takes_effort(endpoint_type: &str, name: &str) -> bool {
    let of_openai = ["o1", "o3", "o4", "gpt-5"]
        .iter()
        .any(|family| name.strip_prefix("ft:").unwrap_or(name).starts_with(family));
    endpoint_type == "openai" && of_openai && known::model(name).is_some_and(|known| known.reasons)
}

/// Whether a model sees images: all do that are not known not to.
pub fn sees_images(config: &LlmConfig) -> bool {
    known::model(&config.model).is_none_or(|known| known.sees)
}

/// Whether the configured model can reason, by its name; what its provider says of it is in
/// [`ModelInfo::reasons`].
pub fn can_reason(config: &LlmConfig) -> bool {
    scripted::is_scripted(config) || known::model(&config.model).is_some_and(|known| known.reasons)
}

/// Switches reasoning on or off; a model that cannot reason stays as it is. OpenAI's models cannot
/// be kept from it altogether: they are told to reason as little as they can.
pub fn set_reasoning(config: &mut LlmConfig, wanted: bool, can: bool) {
    config.enable_reasoner = wanted && can;
    if !can || !takes_effort(&config.model_endpoint_type, &config.model) {
        return;
    }
    if !wanted {
        let least = match config.model.as_str() {
            name if name.starts_with("gpt-5.") => "none",
            name if name.starts_with("gpt-5") => "minimal",
            _ => "low",
        };
        config.reasoning_effort = Some(least.to_owned());
    } else if config.reasoning_effort.is_none() {
        config.reasoning_effort = Some("medium".to_owned());
    }
}

impl EmbeddingInfo {
    /// None where the provider's embedding models cannot be asked, or the length of the vectors is
    /// not known.
    pub(super) fn new(provider: &Provider, told: &Told) -> Option<Self> {
        let kind = provider.kind().filter(|kind| kind.embeds)?;
        Some(Self {
            provider_name: provider.name.clone(),
            provider_type: provider.provider_type.clone(),
            endpoint_type: kind.endpoint_type,
            base_url: provider.endpoint.base_url.clone(),
            name: told.name.clone(),
            dimensions: known::dimensions(&told.name)
                .or(told.dimensions)
                .filter(|dimensions| *dimensions > 0)?,
        })
    }

    /// `provider/model`.
    pub fn handle(&self) -> String {
        format!("{}/{}", self.provider_name, self.name)
    }

    /// How it is asked unless somebody says otherwise.
    pub fn config(&self) -> EmbeddingConfig {
        EmbeddingConfig {
            embedding_endpoint_type: self.endpoint_type.to_owned(),
            embedding_endpoint: Some(self.base_url.clone()),
            embedding_model: self.name.clone(),
            embedding_dim: self.dimensions,
            embedding_chunk_size: Some(CHUNK),
            handle: Some(self.handle()),
            batch_size: BATCH,
            azure_endpoint: None,
            azure_version: None,
            azure_deployment: None,
        }
    }
}
