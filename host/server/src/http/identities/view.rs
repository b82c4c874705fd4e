//! An identity in an answer.

use bulkhead_domain::{Identity, IdentityProperty};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::contract::id;

/// An identity with every field of the contract.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Identity)]
pub(crate) struct IdentityView {
    pub(crate) id: String,
    identifier_key: String,
    name: String,
    identity_type: &'static str,
    project_id: Option<String>,
    agent_ids: Vec<String>,
    block_ids: Vec<String>,
    organization_id: &'static str,
    #[schema(value_type = Vec<Property>)]
    properties: Vec<IdentityProperty>,
}

/// Something that is known of an identity.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it stands for JSON in the document of the API")]
pub(crate) struct Property {
    key: String,
    value: Value,
    /// string, number, boolean or json
    r#type: String,
}

impl From<Identity> for IdentityView {
    fn from(identity: Identity) -> Self {
        let agents = identity.agent_ids.iter();
        let blocks = identity.block_ids.iter();
        Self {
            id: identity.id.to_string(),
            identifier_key: identity.identifier_key,
            name: identity.name,
            identity_type: identity.identity_type.as_str(),
            project_id: identity.project_id,
            agent_ids: agents.map(ToString::to_string).collect(),
            block_ids: blocks.map(ToString::to_string).collect(),
            organization_id: id::DEFAULT_ORGANIZATION,
            properties: identity.properties,
        }
    }
}
