//! Which models there are, where they are asked, and how unless somebody says otherwise.
//!
//! - [`Provider`]s come from the server's environment or from its users; `kind` knows what is the
//!   same for all of a type, `environment` the variables.
//! - `listing` asks a provider for its models; `known` holds what names say, for what it leaves out.
//! - `handle` reads `provider/model`; `endpoint` finds where a stored configuration is asked.
//! - A [`ModelInfo`] becomes the `LlmConfig` of an agent; [`settings`] are the other form of it;
//!   `kept`: what of it stays when another model takes its place.
//! - [`view`]: models on the wire. [`tokens`]: what texts weigh.

mod endpoint;
mod environment;
mod handle;
mod kept;
mod kind;
mod known;
mod listing;
mod model;
mod provider;
pub mod settings;
pub mod tokens;
pub mod view;

use std::sync::Arc;

use bulkhead_domain::{EmbeddingConfig, LlmConfig};
use futures::{FutureExt, StreamExt, stream};

pub use self::{
    endpoint::NoProvider,
    environment::SettingError,
    handle::HandleError,
    kept::keep_settings,
    listing::Listing,
    model::{EmbeddingInfo, ModelInfo, can_reason, sees_images, set_reasoning},
    provider::{Category, Provider, ProviderError},
};
use self::{listing::Cache, model::Told};
use crate::{chat::Endpoint, client::Client, error::LlmError, scripted, transport::Transport};

/// Providers that are asked for their lists at once.
const AT_ONCE: usize = 16;

/// The providers of the server's environment, and the lists of everybody's models.
#[derive(Debug)]
pub struct Catalog {
    transport: Transport,
    base: Vec<Provider>,
    cache: Cache,
}

/// What a handle names.
#[derive(Debug, Clone)]
pub struct Resolved<I, C> {
    /// The model.
    pub info: I,
    /// How it is asked unless somebody says otherwise.
    pub config: C,
    /// Where it is asked.
    pub endpoint: Endpoint,
}

impl Catalog {
    /// The providers that the environment names by the variables that vendors' own clients read
    /// (`OPENAI_API_KEY`, `OPENAI_BASE_URL`, …), and the offline one.
    ///
    /// # Errors
    /// Names a variable that holds no address.
    pub fn from_env(
        lookup: impl Fn(&str) -> Option<String>,
        client: &Client,
    ) -> Result<Self, SettingError> {
        let mut base = environment::providers(lookup)?;
        base.push(Provider::scripted());
        Ok(Self {
            transport: client.transport().clone(),
            base,
            cache: Cache::default(),
        })
    }

    /// The providers of the environment; the offline one is always the last.
    pub fn base(&self) -> &[Provider] {
        &self.base
    }

    /// The model of agents that name none: the offline one, where nothing else is configured.
    pub fn default_handle(&self, byok: &[Provider]) -> Option<&'static str> {
        (self.base.len() == 1 && byok.is_empty()).then_some(scripted::HANDLE)
    }

    /// A provider's models, at most five minutes old. Where it does not answer in three seconds,
    /// what its type usually has.
    pub async fn models(&self, provider: &Provider) -> Arc<Listing> {
        self.cache.get(&self.transport, provider).await
    }

    /// Asks a provider for its models, to see whether its address and key are good.
    ///
    /// # Errors
    /// As the provider refused, or did not answer.
    pub async fn check(&self, provider: &Provider) -> Result<(), LlmError> {
        match provider.kind() {
            None => Ok(()),
            Some(kind) => listing::ask(&self.transport, provider, kind)
                .await
                .map(drop),
        }
    }

    /// Forgets the list of the provider with this name, so that it is asked anew.
    pub fn forget(&self, provider: &str) {
        self.cache.forget(provider);
    }

    /// The models of all providers of the environment, then of `byok`; each provider's by name.
    pub async fn all(&self, byok: &[Provider]) -> Vec<Arc<Listing>> {
        // Each boxed by itself: a stream of closures over references is not `Send` for callers.
        let asked: Vec<_> = self
            .base
            .iter()
            .chain(byok)
            .map(|provider| self.models(provider).boxed())
            .collect();
        stream::iter(asked).buffered(AT_ONCE).collect().await
    }

    /// The model that a handle names. Of two providers with one name, that of `byok` counts.
    ///
    /// A name that its provider does not list is unknown, unless the list could not be had.
    ///
    /// # Errors
    /// As [`HandleError`] says.
    pub async fn resolve(
        &self,
        handle: &str,
        byok: &[Provider],
    ) -> Result<Resolved<ModelInfo, LlmConfig>, HandleError> {
        let (provider, name) = handle::split(handle)?;
        if let Some(provider) = self.named(provider, byok) {
            let listing = self.models(provider).await;
            let exact = listing.models.iter().find(|model| model.name == name);
            let short = || {
                let mut models = listing.models.iter();
                models.find(|model| handle::is_short_for(name, &model.name))
            };
            let told = Told {
                embeds: false,
                ..Told::named(name)
            };
            let info = match exact.or_else(short) {
                // It is asked by the name that was given: the provider knows what it stands for.
                Some(info) => Some(ModelInfo {
                    name: name.to_owned(),
                    ..info.clone()
                }),
                None if !listing.complete => ModelInfo::new(provider, told),
                None => None,
            };
            if let Some(info) = info {
                return Ok(Resolved {
                    config: info.config(),
                    info,
                    endpoint: provider.endpoint.clone(),
                });
            }
        }
        Err(self
            .unknown(handle, byok, |listing| {
                listing.models.iter().map(ModelInfo::handle).collect()
            })
            .await)
    }

    /// The embedding model that a handle names, by the rules of [`Self::resolve`].
    ///
    /// # Errors
    /// As [`HandleError`] says.
    pub async fn resolve_embedding(
        &self,
        handle: &str,
        byok: &[Provider],
    ) -> Result<Resolved<EmbeddingInfo, EmbeddingConfig>, HandleError> {
        let (provider, name) = handle::split(handle)?;
        if let Some(provider) = self.named(provider, byok) {
            let listing = self.models(provider).await;
            let fits = |model: &&EmbeddingInfo| {
                model.name == name || handle::is_short_for(name, &model.name)
            };
            let info = match listing.embeddings.iter().find(fits) {
                Some(info) => Some(EmbeddingInfo {
                    name: name.to_owned(),
                    ..info.clone()
                }),
                None if !listing.complete => EmbeddingInfo::new(provider, &Told::named(name)),
                None => None,
            };
            if let Some(info) = info {
                return Ok(Resolved {
                    config: info.config(),
                    info,
                    endpoint: provider.endpoint.clone(),
                });
            }
        }
        Err(self
            .unknown(handle, byok, |listing| {
                listing
                    .embeddings
                    .iter()
                    .map(EmbeddingInfo::handle)
                    .collect()
            })
            .await)
    }

    fn named<'a>(&'a self, name: &str, byok: &'a [Provider]) -> Option<&'a Provider> {
        let of_server = |provider: &&Provider| provider.name == scripted::PROVIDER_NAME;
        let mut all = byok.iter().filter(|p| !of_server(p)).chain(&self.base);
        all.find(|provider| provider.name == name)
    }

    async fn unknown(
        &self,
        handle: &str,
        byok: &[Provider],
        handles: impl Fn(&Listing) -> Vec<String>,
    ) -> HandleError {
        let listings = self.all(byok).await;
        HandleError::Unknown {
            handle: handle.to_owned(),
            known: listings
                .iter()
                .flat_map(|listing| handles(listing))
                .take(handle::MAX_KNOWN)
                .collect(),
        }
    }
}
