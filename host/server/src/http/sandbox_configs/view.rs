//! Configurations and variables in answers, with every field of the contract.

use bulkhead_domain::Timestamp;
use bulkhead_store::{SandboxConfig, SandboxType, SandboxVariable};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::local::LocalSandboxConfig;

/// The organisation that everything belongs to.
const ORGANIZATION: &str = "org-00000000-0000-4000-8000-000000000000";

/// A configuration.
#[derive(Serialize, ToSchema)]
#[schema(as = SandboxConfig)]
pub(crate) struct ConfigView {
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
    id: String,
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    sandbox_type: SandboxType,
    organization_id: &'static str,
    #[schema(value_type = LocalSandboxConfig)]
    config: Value,
}

impl From<SandboxConfig> for ConfigView {
    fn from(config: SandboxConfig) -> Self {
        Self {
            created_by_id: config.created_by_id,
            last_updated_by_id: config.last_updated_by_id,
            created_at: config.created_at,
            updated_at: config.updated_at,
            id: config.id,
            sandbox_type: config.sandbox_type,
            organization_id: ORGANIZATION,
            config: config.config,
        }
    }
}

/// A variable.
#[derive(Serialize, ToSchema)]
#[schema(as = SandboxEnvironmentVariable)]
pub(crate) struct VariableView {
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
    id: String,
    key: String,
    value: String,
    description: Option<String>,
    organization_id: &'static str,
    /// Always null: the value as it is sealed is of no use outside of this installation.
    value_enc: Option<String>,
    sandbox_config_id: String,
}

impl From<SandboxVariable> for VariableView {
    fn from(variable: SandboxVariable) -> Self {
        Self {
            created_by_id: variable.created_by_id,
            last_updated_by_id: variable.last_updated_by_id,
            created_at: variable.created_at,
            updated_at: variable.updated_at,
            id: variable.id,
            key: variable.key,
            value: variable.value.to_string(),
            description: variable.description,
            organization_id: ORGANIZATION,
            value_enc: None,
            sandbox_config_id: variable.sandbox_config_id,
        }
    }
}
