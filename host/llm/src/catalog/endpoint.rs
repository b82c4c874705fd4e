//! Where a stored configuration is asked: at the provider that serves it, and nowhere else.

use bulkhead_domain::{EmbeddingConfig, LlmConfig};

use super::{
    Catalog,
    provider::{Provider, is_same_address},
};
use crate::chat::Endpoint;

/// A configuration that no provider serves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no provider is configured for {handle}{}", at(.address.as_deref()))]
pub struct NoProvider {
    /// The model.
    pub handle: String,
    /// The address in the configuration, where it is what no provider has.
    pub address: Option<String>,
}

fn at(address: Option<&str>) -> String {
    address.map_or_else(String::new, |address| format!(" at {address}"))
}

impl Catalog {
    /// Where a stored configuration's model is asked. The address in it must be the provider's, or
    /// the one that its vendor has everywhere: a key goes only to where its owner said.
    ///
    /// # Errors
    /// When the provider is gone, or the address is another's.
    pub fn endpoint(&self, config: &LlmConfig, byok: &[Provider]) -> Result<Endpoint, NoProvider> {
        let of_handle = (config.handle.as_deref()).and_then(|handle| handle.split_once('/'));
        self.serving(
            (config.provider_name.as_deref()).or(of_handle.map(|(provider, _)| provider)),
            &config.model_endpoint_type,
            config.model_endpoint.as_deref(),
            config.handle(),
            byok,
        )
    }

    /// The same for an embedding model.
    ///
    /// # Errors
    /// When the provider is gone, or the address is another's.
    pub fn embedding_endpoint(
        &self,
        config: &EmbeddingConfig,
        byok: &[Provider],
    ) -> Result<Endpoint, NoProvider> {
        let of_handle = (config.handle.as_deref()).and_then(|handle| handle.split_once('/'));
        let endpoint_type = &config.embedding_endpoint_type;
        self.serving(
            of_handle.map(|(provider, _)| provider),
            endpoint_type,
            config.embedding_endpoint.as_deref(),
            format!("{endpoint_type}/{}", config.embedding_model),
            byok,
        )
    }

    fn serving(
        &self,
        provider: Option<&str>,
        endpoint_type: &str,
        address: Option<&str>,
        handle: String,
        byok: &[Provider],
    ) -> Result<Endpoint, NoProvider> {
        let mut all = byok.iter().chain(&self.base);
        let is_type = |provider: &&Provider| {
            (provider.kind()).is_some_and(|kind| kind.endpoint_type == endpoint_type)
        };
        let found = match provider {
            Some(name) => self.named(name, byok),
            None => all.clone().find(is_type),
        };
        let fits = |provider: &&Provider| {
            let vendor = provider.kind().and_then(|kind| kind.base_url);
            address.is_none_or(|address| {
                is_same_address(address, &provider.endpoint.base_url)
                    || vendor.is_some_and(|vendor| is_same_address(address, vendor))
            })
        };
        let at_address = |provider: &&Provider| {
            is_type(provider)
                && address.is_some_and(|a| is_same_address(a, &provider.endpoint.base_url))
        };
        match found.filter(fits).or_else(|| all.find(at_address)) {
            Some(provider) => Ok(provider.endpoint.clone()),
            None => Err(NoProvider {
                handle,
                address: found.and(address).map(str::to_owned),
            }),
        }
    }
}
