//! Types of agents as bodies: what a client is shown, and what it may say.

use bulkhead_domain::{
    Timestamp,
    platform::{AgentType, AgentTypeId},
};
use bulkhead_store::agent_type::limits;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::{
    error::Rejection,
    platform::fields::{Faults, given},
};

/// A type of agents.
#[derive(Serialize, ToSchema)]
#[schema(as = PlatformAgentType)]
pub(crate) struct AgentTypeView {
    id: String,
    name: String,
    slug: String,
    description: Option<String>,
    expertise: Vec<String>,
    /// what its instances are told first
    personality_prompt: String,
    /// a handle, or a provider's name of a model
    primary_model: String,
    /// what is asked where that fails, in this order
    fallback_models: Vec<String>,
    #[schema(value_type = Object)]
    model_params: Map<String, Value>,
    /// names of MCP servers whose tools instances have
    mcp_servers: Vec<String>,
    /// whether instances can be made
    is_active: bool,
    created_at: String,
    updated_at: String,
}

impl From<AgentType> for AgentTypeView {
    fn from(of: AgentType) -> Self {
        Self {
            id: of.id.to_string(),
            name: of.name,
            slug: of.slug,
            description: of.description,
            expertise: of.expertise,
            personality_prompt: of.personality_prompt,
            primary_model: of.primary_model,
            fallback_models: of.fallback_models,
            model_params: of.model_params,
            mcp_servers: of.mcp_servers,
            is_active: of.is_active,
            created_at: of.created_at.to_string(),
            updated_at: of.updated_at.to_string(),
        }
    }
}

/// A new type.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlatformAgentTypeCreate)]
pub(crate) struct AgentTypeCreate {
    name: String,
    /// small letters, digits and dashes
    slug: String,
    description: Option<String>,
    #[serde(default)]
    expertise: Vec<String>,
    personality_prompt: String,
    primary_model: String,
    #[serde(default)]
    fallback_models: Vec<String>,
    /// temperature, max_tokens, parallel_tool_calls …
    #[serde(default)]
    #[schema(value_type = Object)]
    model_params: Map<String, Value>,
    #[serde(default)]
    mcp_servers: Vec<String>,
    #[serde(default = "yes")]
    is_active: bool,
}

fn yes() -> bool {
    true
}

impl AgentTypeCreate {
    /// The type that is made of it now.
    pub(super) fn made(self) -> Result<AgentType, Rejection> {
        let now = Timestamp::now();
        let agent_type = AgentType {
            id: AgentTypeId::random(),
            name: self.name,
            slug: self.slug,
            description: self.description,
            expertise: self.expertise,
            personality_prompt: self.personality_prompt,
            primary_model: self.primary_model,
            fallback_models: self.fallback_models,
            model_params: self.model_params,
            mcp_servers: self.mcp_servers,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        };
        check(&agent_type)?;
        Ok(agent_type)
    }
}

/// What changes of a type. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlatformAgentTypeUpdate)]
pub(crate) struct AgentTypeUpdate {
    name: Option<String>,
    slug: Option<String>,
    /// null takes it away
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    #[expect(clippy::option_option, reason = "null and nothing are two things here")]
    description: Option<Option<String>>,
    expertise: Option<Vec<String>>,
    personality_prompt: Option<String>,
    primary_model: Option<String>,
    fallback_models: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    model_params: Option<Map<String, Value>>,
    mcp_servers: Option<Vec<String>>,
    is_active: Option<bool>,
}

impl AgentTypeUpdate {
    /// Changes a type.
    pub(super) fn apply(self, of: &mut AgentType) -> Result<(), Rejection> {
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        set(&mut of.name, self.name);
        set(&mut of.slug, self.slug);
        set(&mut of.description, self.description);
        set(&mut of.expertise, self.expertise);
        set(&mut of.personality_prompt, self.personality_prompt);
        set(&mut of.primary_model, self.primary_model);
        set(&mut of.fallback_models, self.fallback_models);
        set(&mut of.model_params, self.model_params);
        set(&mut of.mcp_servers, self.mcp_servers);
        set(&mut of.is_active, self.is_active);
        check(of)
    }
}

fn check(of: &AgentType) -> Result<(), Rejection> {
    let mut faults = Faults::default();
    faults.name("name", &of.name);
    faults.slug("slug", &of.slug);
    faults.description("description", of.description.as_deref());
    faults.words("expertise", &of.expertise, limits::EXPERTISE_MAX);
    faults.prompt("personality_prompt", &of.personality_prompt);
    faults.word("primary_model", &of.primary_model);
    let most = limits::FALLBACK_MODELS_MAX;
    faults.words("fallback_models", &of.fallback_models, most);
    faults.params("model_params", &of.model_params);
    faults.words("mcp_servers", &of.mcp_servers, limits::MCP_SERVERS_MAX);
    faults.check()
}
