//! Credentials: between the API, the store's sealed rows and what the egress injects.

use bulkhead_policy::HttpRule;
use bulkhead_sandbox::egress::{Credential, Placement, Secret};
use bulkhead_store::{Credential as StoredCredential, CredentialSecret};
use serde::{Deserialize, Serialize};

use crate::http::error::Rejection;

/// What is stored beside a sealed secret, and bound to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Use {
    pub(crate) placement: Placement,
    /// Whether the audience alone is enough, without the tool naming the credential.
    #[serde(default)]
    pub(crate) automatic: bool,
}

/// How and where a stored credential is used.
pub(crate) fn use_of(stored: &StoredCredential) -> Result<(Use, Vec<HttpRule>), Rejection> {
    let failed = |error: serde_json::Error| Rejection::host(&error);
    let used = Use::deserialize(&stored.placement).map_err(failed)?;
    let audience = Vec::<HttpRule>::deserialize(&stored.audience).map_err(failed)?;
    Ok((used, audience))
}

/// The credential with its secret, for the egress.
pub(crate) fn from_stored(stored: &CredentialSecret) -> Result<Credential, Rejection> {
    let (used, audience) = use_of(&stored.credential)?;
    let text = std::str::from_utf8(stored.expose()).map_err(|error| Rejection::host(&error))?;
    let secret = Secret::new(text).map_err(|error| Rejection::host(&error))?;
    Ok(Credential {
        name: stored.credential.name.clone(),
        secret,
        placement: used.placement,
        audience,
        automatic: used.automatic,
    })
}
