//! Which models an agent is to have: what a client says of them, as configurations.

use bulkhead_domain::{EmbeddingConfig, LlmConfig};
use bulkhead_llm::catalog::{can_reason, keep_settings, set_reasoning, settings};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::checks;
use crate::{app::App, contract::Refusal};

/// What a body says of models. The short forms count over the whole configuration.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct ModelChoice {
    /// the model's handle, `provider/model`
    model: Option<String>,
    /// the whole configuration, where there is no handle
    #[schema(value_type = Option<Object>)]
    llm_config: Option<LlmConfig>,
    /// changes of the configuration, in the words of the provider
    #[schema(value_type = Option<Object>)]
    model_settings: Option<Value>,
    context_window_limit: Option<i64>,
    max_tokens: Option<i64>,
    max_reasoning_tokens: Option<i64>,
    enable_reasoner: Option<bool>,
    reasoning: Option<bool>,
    parallel_tool_calls: Option<bool>,
    #[schema(value_type = Option<Object>)]
    response_format: Option<Value>,
    /// the embedding model's handle
    embedding: Option<String>,
    #[schema(value_type = Option<Object>)]
    embedding_config: Option<EmbeddingConfig>,
    embedding_chunk_size: Option<i64>,
}

/// The configurations that a choice names.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// None where no model is named.
    pub(crate) llm: Option<LlmConfig>,
    /// Whether it is only a handle that names it: what was set of another model is kept then.
    pub(crate) by_handle: bool,
    /// None where no embedding model is named.
    pub(crate) embedding: Option<EmbeddingConfig>,
}

impl ModelChoice {
    /// Looks the named models up.
    pub(crate) async fn resolve(&mut self, app: &App) -> Result<Chosen, Refusal> {
        if let Some(tokens) = self.context_window_limit {
            checks::context_window(tokens)?;
        }
        let (llm, by_handle) = match (self.llm_config.take(), &self.model) {
            (Some(config), _) => (Some(config), false),
            (None, Some(handle)) => (Some(of_handle(app, handle).await?), true),
            (None, None) => (None, false),
        };
        let config = self.embedding_config.take();
        let mut embedding = embedding(app, config, self.embedding.take()).await?;
        if let (Some(embedding), Some(size)) = (&mut embedding, self.embedding_chunk_size) {
            embedding.embedding_chunk_size = Some(size);
        }
        Ok(Chosen {
            llm,
            by_handle,
            embedding,
        })
    }

    /// As [`Self::resolve`], for a new agent: it has a model in any case.
    pub(crate) async fn resolve_all(
        &mut self,
        app: &App,
    ) -> Result<(LlmConfig, Option<EmbeddingConfig>), Refusal> {
        // A whole configuration says itself whether the model reasons.
        let says_reasoning = self.llm_config.is_some();
        let Chosen { llm, embedding, .. } = self.resolve(app).await?;
        let mut llm = match llm {
            Some(llm) => llm,
            None => default(app).await?,
        };
        self.apply(&mut llm)?;
        if !says_reasoning && self.reasoning().is_none() {
            let can = can_reason(&llm);
            set_reasoning(&mut llm, true, can);
        }
        Ok((llm, embedding))
    }

    /// As [`Self::resolve_all`], for an agent that comes from elsewhere: a whole configuration is what
    /// it was there, whatever else is said. `model` and `embedding` are handles that count in place of
    /// what it had; what was set of another model is kept.
    pub(crate) async fn resolve_elsewhere(
        mut self,
        app: &App,
        model: Option<String>,
        embedding: Option<String>,
    ) -> Result<(LlmConfig, Option<EmbeddingConfig>), Refusal> {
        if embedding.is_some() {
            self.embedding_config = None;
            self.embedding = embedding;
        }
        let Some(former) = self.llm_config.take() else {
            if model.is_some() {
                // The settings are in the words of another provider.
                self.model_settings = None;
                self.model = model;
            }
            return self.resolve_all(app).await;
        };
        checks::context_window(former.context_window)?;
        let llm = match model {
            None => former,
            Some(handle) => {
                let mut llm = of_handle(app, &handle).await?;
                let usual = of_handle(app, &former.handle()).await.ok();
                keep_settings(&former, usual.as_ref(), &mut llm);
                // Clients know that the size of the context is kept, whoever had chosen it.
                llm.context_window = llm.context_window.min(former.context_window);
                llm
            }
        };
        let embedding = self::embedding(app, self.embedding_config, self.embedding).await?;
        Ok((llm, embedding))
    }

    /// Writes what the body says of the model over its configuration.
    pub(crate) fn apply(&self, config: &mut LlmConfig) -> Result<(), Refusal> {
        if let Some(settings) = &self.model_settings {
            settings::apply(config, settings).map_err(|invalid| {
                Refusal::bad_request(format!("INVALID_ARGUMENT: model_settings: {invalid}"))
            })?;
        }
        if let Some(tokens) = self.context_window_limit {
            config.context_window = tokens;
        }
        if let Some(tokens) = self.max_tokens {
            config.max_tokens = Some(tokens);
        }
        if let Some(tokens) = self.max_reasoning_tokens {
            config.max_reasoning_tokens = tokens;
        }
        if let Some(parallel) = self.parallel_tool_calls {
            config.parallel_tool_calls = Some(parallel);
        }
        if let Some(format) = &self.response_format {
            config.response_format = Some(format.clone());
        }
        if let Some(wanted) = self.reasoning() {
            let can = can_reason(config);
            set_reasoning(config, wanted, can);
        }
        Ok(())
    }

    /// What the body says of the form of answers.
    pub(crate) fn response_format(&self) -> Option<&Value> {
        let settings = self.model_settings.as_ref();
        let of_settings = |name| settings.and_then(|settings| settings.get(name));
        let format = self.response_format.as_ref();
        let format = format.or_else(|| of_settings("response_format"));
        format
            .or_else(|| of_settings("response_schema"))
            .filter(|format| !format.is_null())
    }

    fn reasoning(&self) -> Option<bool> {
        self.reasoning.or(self.enable_reasoner)
    }
}

/// The model of agents for which nobody names one.
async fn default(app: &App) -> Result<LlmConfig, Refusal> {
    let handle = app.models.default_handle().await?.ok_or_else(|| {
        Refusal::bad_request("INVALID_ARGUMENT: Must specify either model or llm_config in request")
    })?;
    of_handle(app, handle).await
}

async fn of_handle(app: &App, handle: &str) -> Result<LlmConfig, Refusal> {
    Ok(app.engine.models().resolve(handle).await?)
}

/// An embedding model that is configured as a whole or named by its handle.
pub(crate) async fn embedding(
    app: &App,
    config: Option<EmbeddingConfig>,
    handle: Option<String>,
) -> Result<Option<EmbeddingConfig>, Refusal> {
    match (config, handle) {
        (Some(config), _) => Ok(Some(config)),
        (None, Some(handle)) => Ok(Some(app.models.find_embedding(&handle).await?.config)),
        (None, None) => Ok(None),
    }
}

/// The handle of an embedding model.
pub(crate) fn embedding_handle(config: &EmbeddingConfig) -> String {
    let of_parts = || {
        format!(
            "{}/{}",
            config.embedding_endpoint_type, config.embedding_model
        )
    };
    config.handle.clone().unwrap_or_else(of_parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn applied(body: Value) -> LlmConfig {
        let choice: ModelChoice = serde_json::from_value(body).expect("a body");
        let mut config = LlmConfig::new("anthropic", "anthropic", "claude-sonnet-4-5", 128_000);
        choice.apply(&mut config).expect("it is taken");
        config
    }

    #[test]
    fn what_a_body_says_counts_over_the_configuration() {
        let config = applied(json!({
            "context_window_limit": 9000, "max_tokens": 7, "parallel_tool_calls": true,
            "response_format": { "type": "json_object" },
        }));
        assert_eq!((config.context_window, config.max_tokens), (9000, Some(7)));
        assert_eq!(config.parallel_tool_calls, Some(true));
        assert_eq!(
            config.response_format,
            Some(json!({ "type": "json_object" }))
        );
        assert_eq!(applied(json!({})).parallel_tool_calls, Some(false));
    }

    #[test]
    fn reasoning_is_switched_off_by_either_word_over_the_settings() {
        let settings = json!({ "provider_type": "anthropic", "thinking": { "type": "enabled" } });
        for word in ["reasoning", "enable_reasoner"] {
            let config = applied(json!({ "model_settings": settings, word: false }));
            assert!(!config.enable_reasoner, "{word}");
        }
    }

    #[test]
    fn a_setting_that_can_not_be_is_refused_with_its_name() {
        let choice = ModelChoice {
            model_settings: Some(json!({ "temperature": 9 })),
            ..ModelChoice::default()
        };
        let mut config = LlmConfig::new("openai", "openai", "gpt-4o", 128_000);
        let Err(Refusal::Contract(status, body)) = choice.apply(&mut config) else {
            panic!("it is refused in the contract's words");
        };
        assert_eq!(status, 400);
        assert!(body["detail"].to_string().contains("temperature"), "{body}");
    }
}
