//! Where a server is, and how it is spoken to.

use std::{collections::BTreeMap, sync::Arc};

use bulkhead_domain::Digest;
use bulkhead_egress::{Access, Credential};
use bulkhead_policy::{HostPattern, HttpRule, Target};
use http::{HeaderMap, header};

use crate::{
    PrivateRange,
    address::{self, AddressError},
    headers::Headers,
};

/// Requests that one operation may make, redirects and answers to the server's own requests
/// included: a list of a hundred pages and room for the rest.
const REQUESTS_MAX: u64 = 256;
/// Bytes that one operation may send: what a model writes as arguments is far smaller.
pub(crate) const REQUEST_BYTES_MAX: u64 = 8 << 20;
/// Bytes that one operation may receive, as the outputs of tools from source have it.
pub(crate) const RESPONSE_BYTES_MAX: u64 = 8 << 20;

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Each message is a POST; answers come in its response.
    StreamableHttp,
    /// Answers come in one stream that is opened first: the older form.
    Sse,
}

/// What a person says of a server.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// Tells servers apart.
    pub id: &'a str,
    /// Another one whenever anything else is.
    pub revision: i64,
    /// How messages travel.
    pub transport: Transport,
    /// Where it is.
    pub url: &'a str,
    /// The header for the token; `authorization` where nobody says.
    pub auth_header: Option<&'a str>,
    /// The token, with or without the scheme `Bearer` before it.
    pub token: Option<&'a str>,
    /// Further headers by their names.
    pub headers: &'a BTreeMap<&'a str, &'a str>,
}

/// A server that can be asked. It holds what is sent to it, secrets among that, and is not printed.
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) id: String,
    pub(crate) revision: i64,
    pub(crate) transport: Transport,
    pub(crate) target: Target,
    /// Those of its headers that are too short for a secret.
    pub(crate) headers: HeaderMap,
    rule: HttpRule,
    credentials: Arc<[Credential]>,
}

/// What no server can be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Its address.
    #[error("{0}")]
    Address(#[from] AddressError),
    /// The name of a header.
    #[error("`{0}` can't be set: it is no header's name, or one that is set by the protocol")]
    HeaderName(String),
    /// The value of a header; only its name is told.
    #[error("the value of the header `{0}` has characters that no header has, or is too long")]
    HeaderValue(String),
}

impl Endpoint {
    /// A server as a person describes it, with these private addresses open.
    pub fn new(given: Given<'_>, open: &[PrivateRange]) -> Result<Self, EndpointError> {
        let target = address::check(given.url, open)?;
        let host = target.host().to_string();
        // What a target has as its host is a pattern that means that host alone.
        let host: HostPattern = host
            .parse()
            .map_err(|_| AddressError::Internal(host.clone()))?;
        let mut rule = HttpRule::to_host(host, Some(target.scheme()));
        rule.port = Some(target.port());
        rule.private = address::opened(&target, open);
        let mut headers = Headers::new(&rule);
        if let Some(token) = given.token.filter(|token| !token.is_empty()) {
            let name = given.auth_header.unwrap_or(header::AUTHORIZATION.as_str());
            headers.token(name, token)?;
        }
        for (name, value) in given.headers {
            headers.header(name, value)?;
        }
        let Headers {
            plain, credentials, ..
        } = headers;
        Ok(Self {
            id: given.id.to_owned(),
            revision: given.revision,
            transport: given.transport,
            target,
            headers: plain,
            credentials: credentials.into(),
            rule,
        })
    }

    /// What one operation may do on the network.
    pub(crate) fn access(&self) -> Access {
        Access {
            rules: Arc::new([self.rule.clone()]),
            credentials: Arc::clone(&self.credentials),
            requests: REQUESTS_MAX,
            request_bytes: REQUEST_BYTES_MAX,
            response_bytes: RESPONSE_BYTES_MAX,
            within: None,
        }
    }

    /// SHA-256 of what requests to it are allowed by, for receipts.
    pub fn grant_hash(&self) -> Digest {
        // A rule is plain data that always serialises.
        Digest::of(&serde_json::to_vec(&self.rule).unwrap_or_default())
    }

    /// Its origin, for example `https://mcp.example.com`.
    pub fn origin(&self) -> String {
        self.target.origin().to_string()
    }
}

#[cfg(test)]
mod tests {
    use bulkhead_egress::Placement;

    use super::*;

    fn endpoint(
        auth_header: Option<&str>,
        token: &str,
        headers: &[(&str, &str)],
    ) -> Result<Endpoint, EndpointError> {
        let given = Given {
            id: "a",
            revision: 0,
            transport: Transport::Sse,
            url: "https://mcp.example.com/sse",
            auth_header,
            token: Some(token),
            headers: &headers.iter().copied().collect(),
        };
        Endpoint::new(given, &[])
    }

    #[test]
    fn a_token_is_added_with_its_scheme_and_kept_without() {
        for (header, token, name, prefix, secret) in [
            (None, "0123456789", "authorization", "Bearer ", "0123456789"),
            (
                None,
                "Bearer 0123456789",
                "authorization",
                "Bearer ",
                "0123456789",
            ),
            (
                None,
                "Basic 0123456789",
                "authorization",
                "",
                "Basic 0123456789",
            ),
            (Some("X-Key"), "0123456789", "x-key", "", "0123456789"),
        ] {
            let endpoint = endpoint(header, token, &[]).unwrap_or_else(|error| panic!("{error}"));
            let mut added = endpoint.credentials.iter().filter(|one| one.automatic);
            let credential = added.next().expect("one credential");
            assert!(added.next().is_none());
            let expected = Placement::Header {
                name: name.to_owned(),
                prefix: prefix.to_owned(),
            };
            assert_eq!(credential.placement, expected);
            assert_eq!(credential.secret.expose(), secret);
        }
    }

    #[test]
    fn a_connection_leads_to_the_private_addresses_that_were_opened_for_the_host() {
        let open: Vec<PrivateRange> = [
            "127.0.0.0/8",
            "::1",
            "10.0.0.0/8",
            "mcp.internal=10.1.0.0/16",
            "named.example.com=127.0.0.1",
        ]
        .map(|range| range.parse().expect("a range"))
        .into();
        let opens = |url: &str, address: &str| {
            let given = Given {
                id: "a",
                revision: 0,
                transport: Transport::Sse,
                url,
                auth_header: None,
                token: None,
                headers: &BTreeMap::new(),
            };
            let endpoint = Endpoint::new(given, &open).unwrap_or_else(|error| panic!("{error}"));
            endpoint.rule.opens(address.parse().expect("an address"))
        };
        for (url, address, expected) in [
            ("https://mcp.example.com/", "127.0.0.1", false),
            ("https://mcp.example.com/", "::1", false),
            ("https://mcp.example.com/", "10.0.0.1", false),
            ("https://mcp.example.com/", "8.8.8.8", true),
            ("https://named.example.com/", "127.0.0.1", true),
            ("https://named.example.com/", "127.0.0.2", false),
            ("https://a.named.example.com/", "127.0.0.1", false),
            ("http://localhost:1/", "127.0.0.1", true),
            ("http://localhost:1/", "127.0.0.2", false),
            ("http://localhost:1/", "10.0.0.1", false),
            ("http://mcp.internal/", "10.1.0.1", true),
            ("http://MCP.internal./", "10.1.0.1", true),
            ("http://mcp.internal/", "10.2.0.1", false),
            ("http://mcp.internal/", "127.0.0.1", false),
            ("http://[::1]:1/", "::1", true),
            ("http://127.0.0.1:1/", "127.0.0.1", true),
            ("http://127.0.0.1:1/", "127.0.0.2", false),
        ] {
            assert_eq!(opens(url, address), expected, "{url} {address}");
        }
    }

    #[test]
    fn headers_of_the_protocol_and_values_that_are_none_are_refused() {
        for (name, value) in [
            ("Host", "a"),
            ("Mcp-Session-Id", "a"),
            ("a b", "a"),
            ("x", "a\r\nb: c"),
        ] {
            let refused = endpoint(None, "", &[(name, value)]).err();
            let text = refused.map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains("header"), "{name}: {text}");
            assert!(!text.contains("b: c"), "{text}");
        }
        let short =
            endpoint(None, "", &[("X-Tenant", "acme")]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(short.headers["x-tenant"], "acme");
    }
}
