//! A provider in an answer.

use bulkhead_domain::Timestamp;
use bulkhead_store::ProviderRecord;
use serde::Serialize;
use utoipa::ToSchema;

use crate::contract::id::DEFAULT_ORGANIZATION;

/// A provider with every field of the contract; those of keys are null.
#[derive(Serialize, ToSchema)]
#[schema(as = Provider)]
pub(crate) struct ProviderView {
    id: String,
    name: String,
    provider_type: String,
    provider_category: &'static str,
    /// always null
    api_key: Option<String>,
    base_url: Option<String>,
    /// always null
    access_key: Option<String>,
    region: Option<String>,
    api_version: Option<String>,
    organization_id: &'static str,
    #[schema(value_type = String)]
    updated_at: Timestamp,
    #[schema(value_type = Option<String>)]
    last_synced: Option<Timestamp>,
    /// always null
    api_key_enc: Option<String>,
    /// always null
    access_key_enc: Option<String>,
}

impl From<ProviderRecord> for ProviderView {
    fn from(provider: ProviderRecord) -> Self {
        Self {
            id: provider.id.to_string(),
            name: provider.name,
            provider_type: provider.provider_type,
            provider_category: "byok",
            api_key: None,
            base_url: provider.base_url,
            access_key: None,
            region: provider.region,
            api_version: provider.api_version,
            organization_id: DEFAULT_ORGANIZATION,
            updated_at: provider.updated_at,
            last_synced: provider.last_synced,
            api_key_enc: None,
            access_key_enc: None,
        }
    }
}
