//! The models that agents ask: those of the providers in the server's environment, and those of
//! the providers that people configured through the API.
//!
//! Stored providers are read once and kept with their keys, so that a step of an agent reads no
//! provider. What changes through this server is known at once; what another server changes in a
//! shared database is known when the list is old.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bulkhead_agent::{AgentError, Models};
use bulkhead_domain::{EmbeddingConfig, LlmConfig};
use bulkhead_llm::{
    ChatReply, ChatRequest, Client, Deltas, Endpoint, LlmError,
    catalog::{Catalog, EmbeddingInfo, HandleError, ModelInfo, Provider, Resolved},
};
use bulkhead_store::{
    PAGE_MAX, Paging, ProviderFilter, ProviderKeys, ProviderRecord, Store, StoreError,
};
use futures::future::BoxFuture;
use parking_lot::RwLock;
use serde_json::{Value, json};

use crate::{contract::repr::repr, registry::SHARED_MAX_AGE};

/// All models that agents of this server can ask.
pub(crate) struct AllModels {
    client: Client,
    catalog: Catalog,
    store: Store,
    /// How old the list of stored providers may be; none where no other server writes to the
    /// database.
    max_age: Option<Duration>,
    stored: RwLock<Stored>,
}

/// The stored providers, where they were read.
#[derive(Default)]
struct Stored {
    /// Changes whenever they are forgotten.
    generation: u64,
    read: Option<(Instant, Arc<[Provider]>)>,
}

impl AllModels {
    /// The models of these providers and of those in the database. `shared`: whether other servers
    /// use the same database.
    pub(crate) fn new(client: Client, catalog: Catalog, store: Store, shared: bool) -> Self {
        Self {
            client,
            catalog,
            store,
            max_age: shared.then_some(SHARED_MAX_AGE),
            stored: RwLock::default(),
        }
    }

    /// Which models there are.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The providers that people configured.
    pub(crate) async fn byok(&self) -> Result<Arc<[Provider]>, StoreError> {
        let generation = {
            let stored = self.stored.read();
            match &stored.read {
                Some((at, providers)) if self.max_age.is_none_or(|age| at.elapsed() < age) => {
                    return Ok(Arc::clone(providers));
                }
                _ => stored.generation,
            }
        };
        let at = Instant::now();
        let providers = self.read_stored().await?;
        let mut stored = self.stored.write();
        if stored.generation == generation {
            stored.read = Some((at, Arc::clone(&providers)));
        }
        Ok(providers)
    }

    /// What the provider of a model would get.
    pub(crate) fn payload(&self, request: &ChatRequest, stream: bool) -> Result<Value, LlmError> {
        self.client.payload(request, stream)
    }

    /// Forgets what is known of the provider of this name: it was made, changed or deleted.
    pub(crate) fn forget(&self, provider: &str) {
        {
            let mut stored = self.stored.write();
            stored.generation = stored.generation.wrapping_add(1);
            stored.read = None;
        }
        self.catalog.forget(provider);
    }

    /// The model that a handle names.
    pub(crate) async fn find(
        &self,
        handle: &str,
    ) -> Result<Resolved<ModelInfo, LlmConfig>, AgentError> {
        let byok = self.byok().await?;
        self.catalog.resolve(handle, &byok).await.map_err(unknown)
    }

    /// The embedding model that a handle names.
    pub(crate) async fn find_embedding(
        &self,
        handle: &str,
    ) -> Result<Resolved<EmbeddingInfo, EmbeddingConfig>, AgentError> {
        let byok = self.byok().await?;
        let found = self.catalog.resolve_embedding(handle, &byok).await;
        found.map_err(|error| match error {
            HandleError::Unknown { handle, .. } => {
                AgentError::Invalid(format!("Embedding model {handle} not found"))
            }
            other => unknown(other),
        })
    }

    /// The model of agents that name none, where there is one.
    pub(crate) async fn default_handle(&self) -> Result<Option<&'static str>, StoreError> {
        let byok = self.byok().await?;
        Ok(self.catalog.default_handle(&byok))
    }

    async fn read_stored(&self) -> Result<Arc<[Provider]>, StoreError> {
        let mut providers = Vec::new();
        for record in self.records().await? {
            // It was deleted meanwhile.
            let Some(keys) = self.store.provider_keys(&record.id).await? else {
                continue;
            };
            match provider(&record, keys) {
                Ok(provider) => providers.push(provider),
                Err(error) => {
                    tracing::warn!(provider = record.name, %error, "a stored provider is left out");
                }
            }
        }
        Ok(providers.into())
    }

    async fn records(&self) -> Result<Vec<ProviderRecord>, StoreError> {
        let mut filter = ProviderFilter {
            paging: Paging {
                ascending: true,
                limit: Some(PAGE_MAX),
                ..Paging::default()
            },
            ..ProviderFilter::default()
        };
        let mut records = Vec::new();
        loop {
            let page = self.store.providers(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(records);
            };
            filter.paging.after = Some(last.id.to_string());
            records.extend(page);
        }
    }
}

/// A stored provider as one that can be asked.
pub(crate) fn provider(
    record: &ProviderRecord,
    keys: ProviderKeys,
) -> Result<Provider, bulkhead_llm::catalog::ProviderError> {
    Provider::byok(
        record.id.to_string(),
        record.name.clone(),
        &record.provider_type,
        keys.api_key,
        record.base_url.as_deref(),
    )
}

fn unknown(error: HandleError) -> AgentError {
    match error {
        HandleError::Unknown { handle, known } => AgentError::UnknownModel(format!(
            "Handle {handle} not found, must be one of {}",
            repr(&json!(known))
        )),
        _ => AgentError::Invalid(
            "The model handle should be in the format provider/model-name".to_owned(),
        ),
    }
}

impl Models for AllModels {
    fn resolve<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<LlmConfig, AgentError>> {
        Box::pin(async move { Ok(self.find(handle).await?.config) })
    }

    fn endpoint<'a>(
        &'a self,
        config: &'a LlmConfig,
    ) -> BoxFuture<'a, Result<Endpoint, AgentError>> {
        Box::pin(async move {
            let byok = self.byok().await?;
            let found = self.catalog.endpoint(config, &byok);
            found.map_err(|error| AgentError::UnknownModel(error.to_string()))
        })
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: Option<Deltas>,
    ) -> BoxFuture<'a, Result<ChatReply, LlmError>> {
        Box::pin(self.client.chat(request, deltas))
    }
}
