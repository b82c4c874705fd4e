//! Which generation of clients asks: the answers to older ones carry more.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::{HeaderMap, header, request::Parts};

/// A header that clients of the current generation send.
const GENERATED: &str = "x-stainless-package-version";
/// How the `User-Agent` of a client of the current generation begins.
const CURRENT: [&str; 2] = ["letta-client/1.", "@letta-ai/letta-client/1."];

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Client {
    /// Whether it expects every relation of an agent, and an agent where others expect nothing.
    pub(crate) is_legacy: bool,
}

impl Client {
    /// What the headers of a request say. Without a `User-Agent` it is of the current generation.
    fn of(headers: &HeaderMap) -> Self {
        let agent = headers.get(header::USER_AGENT);
        let agent = agent.map(|agent| agent.to_str().unwrap_or_default());
        let is_current = headers.contains_key(GENERATED)
            || agent.is_none_or(|agent| CURRENT.iter().any(|name| agent.starts_with(name)));
        Self {
            is_legacy: !is_current,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_client_is_known_by_its_headers() {
        let is_legacy = |headers: &[(&'static str, &'static str)]| {
            let entries = headers.iter().map(|(name, value)| {
                let name = http::HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            });
            Client::of(&entries.collect()).is_legacy
        };
        assert!(!is_legacy(&[]));
        assert!(!is_legacy(&[("user-agent", "letta-client/1.12.1")]));
        assert!(!is_legacy(&[(
            "user-agent",
            "@letta-ai/letta-client/1.7.12"
        )]));
        assert!(is_legacy(&[("user-agent", "letta-client/0.1")]));
        assert!(is_legacy(&[("user-agent", "curl/8")]));
        let both = [("user-agent", "x"), (GENERATED, "1.12.0")];
        assert!(!is_legacy(&both));
    }
}
