//! A secret of an agent in an answer.

use bulkhead_domain::{AgentSecret, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::contract::id;

/// A variable that an agent's tools see. Its value is in the answer, since the contract requires it
/// there: a client that got a mask would write the mask back.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = AgentEnvironmentVariable)]
pub(crate) struct SecretView {
    id: String,
    agent_id: String,
    key: String,
    value: String,
    value_enc: String,
    description: Option<String>,
    organization_id: &'static str,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

/// Printed without its value.
impl std::fmt::Debug for SecretView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretView")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl From<AgentSecret> for SecretView {
    fn from(secret: AgentSecret) -> Self {
        Self {
            id: secret.id.to_string(),
            agent_id: secret.agent_id.to_string(),
            key: secret.key,
            value_enc: secret.value.clone(),
            value: secret.value,
            description: secret.description,
            organization_id: id::DEFAULT_ORGANIZATION,
            created_by_id: None,
            last_updated_by_id: None,
            created_at: secret.created_at,
            updated_at: secret.updated_at,
        }
    }
}
