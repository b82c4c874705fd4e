//! To whom agents and blocks belong: a person, an organisation, or something else.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Timestamp,
    id::{AgentId, BlockId, IdentityId},
};

/// What an identity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentityType {
    /// An organisation.
    Org,
    /// A person.
    User,
    /// Something else.
    Other,
}

impl IdentityType {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Org => "org",
            Self::User => "user",
            Self::Other => "other",
        }
    }
}

/// What the value of a property is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentityPropertyType {
    /// Text.
    String,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
    /// An object.
    Json,
}

/// Something that is known of an identity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IdentityProperty {
    /// Its name.
    pub key: String,
    /// Its value. Nothing checks it against the type.
    pub value: Value,
    /// What its value is.
    #[serde(rename = "type")]
    pub kind: IdentityPropertyType,
}

/// A person, an organisation or something else that agents and blocks belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Its id.
    pub id: IdentityId,
    /// What its owner calls it. Another identity of the same project has another one.
    pub identifier_key: String,
    /// Its name for people.
    pub name: String,
    /// What it is.
    pub identity_type: IdentityType,
    /// The project that it belongs to.
    #[serde(default)]
    pub project_id: Option<String>,
    /// What is known of it.
    #[serde(default)]
    pub properties: Vec<IdentityProperty>,
    /// The agents that belong to it, in the order in which they came. A store may give the first
    /// ones alone.
    #[serde(default)]
    pub agent_ids: Vec<AgentId>,
    /// The blocks that belong to it, as the agents.
    #[serde(default)]
    pub block_ids: Vec<BlockId>,
    /// Who made it.
    #[serde(default)]
    pub created_by_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}
