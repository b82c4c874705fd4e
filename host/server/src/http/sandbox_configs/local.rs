//! What clients configure for the local sandbox, and how it stands in bodies.
//!
//! The contract takes a configuration of any kind at the same place and tells the kinds apart by
//! their fields, of which each ignores those of the others. Here the fields of other kinds are
//! refused: a client that sends them counts on a sandbox that is not there.

use axum::extract::Request;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    contract::{
        Refusal,
        body::{self, Schema},
    },
    http::json,
};

/// Fields that only configurations of other kinds of sandbox have.
const FIELDS_OF_OTHERS: [&str; 4] = ["timeout", "template", "language", "npm_requirements"];

/// A configuration of the local sandbox.
#[derive(Deserialize)]
#[serde(default)]
pub(super) struct LocalSandboxConfig {
    sandbox_dir: Option<String>,
    use_venv: bool,
    venv_name: String,
    pip_requirements: Vec<PipRequirement>,
}

#[derive(Deserialize)]
struct PipRequirement {
    name: String,
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
        let requirements = self.pip_requirements.into_iter();
        let requirements: Vec<_> = requirements
            .map(|PipRequirement { name, version }| json!({ "name": name, "version": version }))
            .collect();
        json!({
            "sandbox_dir": self.sandbox_dir, "use_venv": self.use_venv,
            "venv_name": self.venv_name, "pip_requirements": requirements,
        })
    }
}

/// A create as far as the contract alone decides about it.
#[derive(Deserialize)]
struct SandboxConfigCreate {}

impl Schema for SandboxConfigCreate {
    const NAME: &str = "SandboxConfigCreate";
}

/// An update as far as the contract alone decides about it.
#[derive(Deserialize)]
struct SandboxConfigUpdate {}

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
    let bytes = json::read(request).await?;
    let body: Value = json::parse(&bytes)?;
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
