//! The token and the headers of a server, sealed.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use super::McpServerRecord;
use crate::{Result, StoreError, check, seal::Sealer};

/// Headers of one server; clients set one or two.
pub const HEADERS_MAX: usize = 32;
/// Bytes of a token or of one header's value: room for signed tokens, and no more than a header that
/// servers accept.
pub const SECRETS_MAX: usize = 4096;

/// The token and the headers of a server. Never printed, wiped from memory when dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct McpSecrets {
    /// Its token, as it stands in the header.
    pub token: Option<Zeroizing<String>>,
    /// Further headers by their names. Their values may be secrets too.
    pub headers: BTreeMap<String, Zeroizing<String>>,
}

impl std::fmt::Debug for McpSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpSecrets").finish_non_exhaustive()
    }
}

impl McpSecrets {
    pub(super) fn seal(&self, sealer: &Sealer, server: &McpServerRecord) -> Result<Vec<u8>> {
        if self.headers.len() > HEADERS_MAX {
            return Err(StoreError::Quota {
                what: "headers of an MCP server",
                limit: HEADERS_MAX as u64,
            });
        }
        if let Some(token) = &self.token {
            check::text("the MCP server's token", token, SECRETS_MAX)?;
        }
        for (name, value) in &self.headers {
            check::name("the name of an MCP server's header", name)?;
            check::text("the value of an MCP server's header", value, SECRETS_MAX)?;
        }
        let headers = self.headers.iter();
        let headers: Vec<(&str, &str)> = headers
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let token = self.token.as_ref().map(|token| token.as_str());
        let plain = serde_json::to_vec(&(token, headers));
        let plain = Zeroizing::new(plain.map_err(|_| StoreError::Invalid {
            what: "the MCP server's secrets",
            reason: "cannot be written as JSON",
        })?);
        let id = server.id.to_string();
        sealer.seal(&plain, &bound(&id, server))
    }

    pub(super) fn open(sealer: &Sealer, server: &McpServerRecord, sealed: &[u8]) -> Result<Self> {
        let corrupt = || StoreError::Corrupt {
            what: "secrets of an MCP server",
            source: None,
        };
        let id = server.id.to_string();
        let plain = sealer.open(sealed, &bound(&id, server));
        let plain = plain.ok_or_else(corrupt)?;
        let (token, headers): (Option<String>, Vec<(String, String)>) =
            serde_json::from_slice(&plain).map_err(|_| corrupt())?;
        let headers = headers.into_iter();
        Ok(Self {
            token: token.map(Zeroizing::new),
            headers: headers
                .map(|(name, value)| (name, Zeroizing::new(value)))
                .collect(),
        })
    }
}

/// What decides where the secrets are sent.
fn bound<'a>(id: &'a str, server: &'a McpServerRecord) -> [&'a str; 5] {
    let header = server.auth_header.as_deref().unwrap_or_default();
    let transport = server.transport.as_str();
    ["mcp server", id, transport, &server.url, header]
}
