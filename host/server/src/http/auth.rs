//! Who may ask: the access token, and without one only what comes from this machine and from
//! no page of another origin.

use std::{borrow::Cow, net::IpAddr};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bulkhead_domain::Digest;
use http::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use super::{
    AppState, docs,
    error::{self, Rejection},
};

/// Header of clients that know the token as the server's password: `password TOKEN`.
const BARE_PASSWORD: &str = "x-bare-password";

/// What anybody may ask.
const OPEN: [&str; 4] = ["/v1/health", "/v1/health/", "/v1/ready", "/v1/ready/"];

/// The access rule of a server.
pub(crate) struct Access {
    /// SHA-256 of the token: of equal length for all, so that comparing tells nothing.
    token: Option<Digest>,
}

impl Access {
    pub(crate) fn new(token: Option<&str>) -> Self {
        Self {
            token: token.map(|token| Digest::of(token.as_bytes())),
        }
    }

    /// Whether the request may pass.
    fn check(&self, path: &str, headers: &HeaderMap) -> Result<(), &'static error::Kind> {
        match &self.token {
            // Probes of containers name the host as they like and have no token.
            _ if OPEN.contains(&path) => Ok(()),
            // The documentation is the same for everybody, and a browser has no token to send.
            Some(_) if docs::PATHS.contains(&path) => Ok(()),
            Some(token) => {
                let given = given_token(headers).map(|given| Digest::of(given.as_bytes()));
                let equal =
                    given.is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into());
                if equal {
                    Ok(())
                } else {
                    Err(&error::UNAUTHORIZED)
                }
            }
            None => from_this_machine(headers),
        }
    }
}

/// Before the token among the subprotocols of a WebSocket: scripts of a browser can set no header of
/// it, and what stands in a URL is logged in many places.
const SUBPROTOCOL: &str = "bearer.";
/// The same before the token in base64url without padding: not every character of a token may stand
/// in the name of a subprotocol.
const SUBPROTOCOL_BASE64: &str = "bearer64.";

fn given_token(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = value("authorization").and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token)
    });
    bearer
        .or_else(|| value(BARE_PASSWORD)?.strip_prefix("password "))
        .map(|token| Cow::Borrowed(token.trim()))
        .or_else(|| subprotocols(headers).find_map(offered_token))
}

fn offered_token(subprotocol: &str) -> Option<Cow<'_, str>> {
    if let Some(token) = subprotocol.strip_prefix(SUBPROTOCOL) {
        return Some(token.into());
    }
    let encoded = subprotocol.strip_prefix(SUBPROTOCOL_BASE64)?;
    let token = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    String::from_utf8(token).ok().map(Cow::Owned)
}

/// What the client of a WebSocket offers to speak.
pub(crate) fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',').map(str::trim))
}

/// A page in a browser on this machine can reach a loopback server too. It can't choose the
/// `Host` of a name that it made point here (DNS rebinding), nor hide its `Origin`.
fn from_this_machine(headers: &HeaderMap) -> Result<(), &'static error::Kind> {
    let text = |name| {
        headers
            .get(name)
            .map(|value: &http::HeaderValue| value.to_str().unwrap_or("?"))
    };
    let host = text(header::HOST);
    if host.is_some_and(|host| !is_local_name(host)) {
        return Err(&error::FOREIGN_HOST);
    }
    let Some(origin) = text(header::ORIGIN) else {
        return Ok(());
    };
    let same = origin
        .strip_prefix("http://")
        .is_some_and(|origin| Some(origin) == host);
    if same {
        Ok(())
    } else {
        Err(&error::FOREIGN_ORIGIN)
    }
}

/// `localhost` or an address: what no name server can point elsewhere.
fn is_local_name(host: &str) -> bool {
    let Ok(authority) = host.parse::<http::uri::Authority>() else {
        return false;
    };
    let name = authority.host();
    let address = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

/// Refuses what may not pass before anything else looks at it.
pub(crate) async fn guard(State(app): State<AppState>, request: Request, next: Next) -> Response {
    match app.access.check(request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(kind) => Rejection::new(kind).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(token: Option<&str>, path: &str, headers: &[(&'static str, &str)]) -> &'static str {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (
                    http::HeaderName::from_static(name),
                    HeaderValue::from_str(value).unwrap(),
                )
            })
            .collect();
        match Access::new(token).check(path, &headers) {
            Ok(()) => "ok",
            Err(kind) => kind.code,
        }
    }

    #[test]
    fn with_a_token_every_route_but_health_needs_it() {
        let token = Some("t0ken");
        for (headers, expected) in [
            (&[][..], "unauthorized"),
            (&[("authorization", "Bearer t0ken")], "ok"),
            (&[("authorization", "bearer t0ken")], "ok"),
            (&[("authorization", "Bearer t0ke")], "unauthorized"),
            (&[("authorization", "Bearer t0ken2")], "unauthorized"),
            (&[("authorization", "Basic t0ken")], "unauthorized"),
            (&[("authorization", "t0ken")], "unauthorized"),
            (&[("x-bare-password", "password t0ken")], "ok"),
            (&[("x-bare-password", "t0ken")], "unauthorized"),
            (
                &[("sec-websocket-protocol", "bulkhead, bearer.t0ken")],
                "ok",
            ),
            (
                &[("sec-websocket-protocol", "bearer64.dDBrZW4,bulkhead")],
                "ok",
            ),
            (
                &[("sec-websocket-protocol", "bulkhead, bearer.t0ke")],
                "unauthorized",
            ),
            (
                &[
                    ("sec-websocket-protocol", "bearer64.dDBrZW4="),
                    ("x-a", "1"),
                ],
                "unauthorized",
            ),
            (&[("sec-websocket-protocol", "t0ken")], "unauthorized"),
        ] {
            assert_eq!(
                check(token, "/v1/components", headers),
                expected,
                "{headers:?}"
            );
            assert_eq!(check(token, "/v1/health/", headers), "ok");
        }
        assert_eq!(
            check(token, "/v1/health/../components", &[]),
            "unauthorized"
        );
    }

    #[test]
    fn without_a_token_pages_of_other_origins_are_refused() {
        let own = ("host", "127.0.0.1:8283");
        for (headers, expected) in [
            (&[own][..], "ok"),
            (&[("host", "localhost:8283")], "ok"),
            (&[("host", "[::1]:8283")], "ok"),
            (&[("host", "evil.example:8283")], "foreign_host"),
            (&[("host", "localhost.evil.example")], "foreign_host"),
            (&[("host", "127.0.0.1.evil.example")], "foreign_host"),
            (&[own, ("origin", "http://127.0.0.1:8283")], "ok"),
            (
                &[own, ("origin", "http://127.0.0.1:3000")],
                "foreign_origin",
            ),
            (&[own, ("origin", "https://evil.example")], "foreign_origin"),
            (&[own, ("origin", "null")], "foreign_origin"),
        ] {
            assert_eq!(
                check(None, "/v1/components", headers),
                expected,
                "{headers:?}"
            );
            assert_eq!(check(None, "/v1/health", headers), "ok");
        }
    }
}
