//! What clients configure for the local sandbox, and how it stands in bodies.
//!
//! The contract takes a configuration of any kind at the same place and tells the kinds apart by
//! their fields, of which each ignores those of the others. Here the fields of other kinds are
//! refused: a client that sends them counts on a sandbox that is not there.

use axum::extract::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::contract::{
    Refusal,
    body::{self, Schema},
};

/// Fields that only configurations of other kinds of sandbox have.
const FIELDS_OF_OTHERS: [&str; 4] = ["timeout", "template", "language", "npm_requirements"];

/// A configuration of the local sandbox.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct LocalSandboxConfig {
    sandbox_dir: Option<String>,
    use_venv: bool,
    venv_name: String,
    pip_requirements: Vec<PipRequirement>,
}

#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = SandboxRequirement)]
struct PipRequirement {
    /// Its name in the package index.
    name: String,
    /// The version; the newest if left out.
    version: Option<String>,
}

impl Schema for LocalSandboxConfig {
    const NAME: &str = "LocalSandboxConfig";
}

impl Default for LocalSandboxConfig {
    /// As the contract has it.
    fn default() -> Self {
        Self {
            sandbox_dir: None,
            use_venv: false,
            venv_name: "venv".to_owned(),
            pip_requirements: Vec::new(),
        }
    }
}

impl LocalSandboxConfig {
    /// With every field.
    pub(super) fn into_json(self) -> Value {
        json!(self)
    }
}

/// The body of a create.
#[derive(Deserialize, ToSchema)]
#[allow(dead_code, reason = "what is in it is read as it was sent")]
pub(crate) struct SandboxConfigCreate {
    #[schema(value_type = LocalSandboxConfig)]
    config: Value,
}

impl Schema for SandboxConfigCreate {
    const NAME: &str = "SandboxConfigCreate";
}

/// The body of an update. What is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[allow(dead_code, reason = "what is in it is read as it was sent")]
pub(crate) struct SandboxConfigUpdate {
    #[schema(value_type = Option<LocalSandboxConfig>)]
    config: Option<Value>,
}

impl Schema for SandboxConfigUpdate {
    const NAME: &str = "SandboxConfigUpdate";
}

/// The configuration of a create.
pub(super) async fn required(request: Request) -> Result<LocalSandboxConfig, Refusal> {
    let body = checked::<SandboxConfigCreate>(request).await?;
    local(&body["config"])
}

/// The configuration of an update, where it has one.
pub(super) async fn optional(request: Request) -> Result<Option<LocalSandboxConfig>, Refusal> {
    let body = checked::<SandboxConfigUpdate>(request).await?;
    body.get("config").map(local).transpose()
}

/// A body that the contract takes, as it was sent.
async fn checked<T: Schema>(request: Request) -> Result<Value, Refusal> {
    let body = body::value(request).await?;
    body::read::<T>(&body)?;
    Ok(body)
}

/// A configuration that fits some kind of sandbox, as one of the local kind.
fn local(config: &Value) -> Result<LocalSandboxConfig, Refusal> {
    if FIELDS_OF_OTHERS
        .iter()
        .any(|field| config.get(field).is_some())
    {
        return Err(other_kind());
    }
    // What fails here fits another kind by accident, for example because that one ignores the field.
    body::read(config).map_err(|_| {
        Refusal::bad_request(
            "INVALID_ARGUMENT: config does not fit the local sandbox, the only one here: sandbox_dir and venv_name are strings, use_venv is a boolean, and pip_requirements is a list of objects such as {\"name\": \"example\", \"version\": \"1.0\"}",
        )
    })
}

/// The refusal of any sandbox but the local one.
pub(super) fn other_kind() -> Refusal {
    Refusal::bad_request(
        "INVALID_ARGUMENT: this server has one sandbox, the local one, and neither e2b nor modal; configure it with POST /v1/sandbox-config/local and sandbox_dir, use_venv, venv_name and pip_requirements",
    )
}
