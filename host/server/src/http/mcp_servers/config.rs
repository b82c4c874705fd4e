//! What a client says of a server: its address in the clear, its secrets apart from all that is
//! shown or told of a wrong body.

use std::collections::BTreeMap;

use bulkhead_mcp::{EndpointError, address::AddressError};
use bulkhead_store::{McpSecrets, McpServerRecord, McpTransport};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use crate::{
    app::App,
    contract::{Refusal, fault::Fault},
    mcp::endpoint,
};

/// What stands in the place of a secret while its body is checked.
const HIDDEN: &str = "(hidden)";
/// Characters of a server's name. It stands in tags of tools and in paths.
const NAME_CHARS_MAX: usize = 100;

/// Where a server is and how it is spoken to.
#[derive(Deserialize, ToSchema)]
#[schema(as = McpServerConfig)]
pub(crate) struct ServerConfig {
    /// streamable_http or sse; stdio is refused, since this server starts no processes
    #[serde(alias = "type")]
    mcp_server_type: Option<String>,
    /// its address
    server_url: Option<String>,
    /// the header of its token; Authorization unless told otherwise
    auth_header: Option<String>,
    #[serde(skip)]
    #[allow(
        dead_code,
        reason = "it stands for a secret in the document of the API"
    )]
    auth_token: Option<String>,
    #[serde(skip)]
    #[allow(dead_code, reason = "as above")]
    custom_headers: Option<BTreeMap<String, String>>,
}

/// The secrets of a body.
#[derive(Default)]
pub(crate) struct Given {
    token: Option<Zeroizing<String>>,
    headers: Option<BTreeMap<String, Zeroizing<String>>>,
}

/// Takes the secrets out of what a client says of a server.
pub(crate) fn hide(config: Option<&mut Value>) -> Given {
    let Some(config) = config.and_then(Value::as_object_mut) else {
        return Given::default();
    };
    let token = ["auth_token", "token"]
        .into_iter()
        .find_map(|field| config.get_mut(field).and_then(taken));
    let headers = config.get_mut("custom_headers");
    let headers = headers.and_then(Value::as_object_mut).map(|headers| {
        let headers = headers.iter_mut();
        headers
            .filter_map(|(name, value)| Some((name.clone(), taken(value)?)))
            .collect()
    });
    // What they hold is a secret to the messages about processes too.
    if let Some(env) = config.get_mut("env").and_then(Value::as_object_mut) {
        env.values_mut().for_each(|value| drop(taken(value)));
    }
    Given { token, headers }
}

fn taken(value: &mut Value) -> Option<Zeroizing<String>> {
    match value {
        Value::String(_) => match std::mem::replace(value, HIDDEN.into()) {
            Value::String(text) => Some(Zeroizing::new(text)),
            _ => None,
        },
        _ => None,
    }
}

impl ServerConfig {
    /// How messages travel; 400 for a process.
    pub(crate) fn transport(&self) -> Result<McpTransport, Refusal> {
        match self.mcp_server_type.as_deref() {
            Some("stdio") => Err(no_processes()),
            Some("streamable_http") => Ok(McpTransport::StreamableHttp),
            _ => Ok(McpTransport::Sse),
        }
    }

    /// Takes this transport where none is said.
    pub(crate) fn keep_transport(&mut self, transport: McpTransport) {
        let kept = || transport.as_str().to_owned();
        self.mcp_server_type.get_or_insert_with(kept);
    }

    /// Its address; empty where there is none.
    pub(crate) fn url(&self) -> String {
        self.server_url.clone().unwrap_or_default()
    }

    /// The header of its token.
    pub(crate) fn auth_header(&self) -> Option<String> {
        self.auth_header.clone().filter(|name| !name.is_empty())
    }

    /// Writes what is said into a stored server; what is not said stays. Secrets that were for
    /// another origin go, since nobody says that they are for this one. An empty token and an empty
    /// list of headers take away what was there.
    pub(crate) fn apply(
        self,
        given: Given,
        server: &mut McpServerRecord,
        secrets: &mut McpSecrets,
    ) -> Result<(), Refusal> {
        server.transport = self.transport()?;
        if let Some(url) = self.server_url.filter(|url| !url.is_empty()) {
            if origin(&url) != origin(&server.url) {
                *secrets = McpSecrets::default();
                server.auth_header = None;
            }
            server.url = url;
        }
        if let Some(header) = self.auth_header {
            server.auth_header = Some(header).filter(|header| !header.is_empty());
        }
        given.apply(secrets);
        Ok(())
    }
}

impl Given {
    /// The secrets of a new server.
    pub(crate) fn secrets(self) -> McpSecrets {
        let mut secrets = McpSecrets::default();
        self.apply(&mut secrets);
        secrets
    }

    fn apply(self, secrets: &mut McpSecrets) {
        if let Some(token) = self.token {
            secrets.token = Some(token).filter(|token| !token.is_empty());
        }
        if let Some(headers) = self.headers {
            secrets.headers = headers;
        }
    }
}

/// 400 for a server that would be a process.
pub(crate) fn no_processes() -> Refusal {
    Refusal::bad_request(
        "MCP stdio servers are disabled. This server starts no processes for tools; run the MCP \
         server elsewhere with the transport streamable HTTP and register its address.",
    )
}

fn origin(url: &str) -> Option<String> {
    let target = bulkhead_policy::Target::parse(url).ok()?;
    Some(target.origin().to_string())
}

/// Refuses a name that can't stand where names of servers do.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    let fits = |c: char| !c.is_control() && c != '/';
    if !name.trim().is_empty() && name.chars().count() <= NAME_CHARS_MAX && name.chars().all(fits) {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "INVALID_ARGUMENT: an MCP server's name has 1 to {NAME_CHARS_MAX} characters, and no slash"
    )))
}

/// Refuses a server that could never be asked: 422 for its address, 400 for its headers.
pub(crate) fn check(
    app: &App,
    server: &McpServerRecord,
    secrets: &McpSecrets,
) -> Result<(), Refusal> {
    let checked = endpoint::of(server, secrets, &app.mcp.settings().private);
    checked.map(drop).map_err(|error| match error {
        EndpointError::Address(error) => refused_address(&error, server),
        error => Refusal::bad_request(format!("INVALID_ARGUMENT: {error}")),
    })
}

fn refused_address(error: &AddressError, server: &McpServerRecord) -> Refusal {
    let kind = server.transport.as_str();
    let place = ["body", "config", kind, "server_url"];
    let place = place.into_iter().map(|part| json!(part)).collect();
    let hint = match error {
        AddressError::NotPublic(_) | AddressError::Internal(_) => {
            " (private addresses are opened by the setting mcp_private)"
        }
        _ => "",
    };
    let message = format!("Value error, {error}{hint}");
    let fault = Fault::new("value_error", place, message, json!(server.url));
    Refusal::invalid(&[fault], &[])
}
