//! Who may ask: the access token, and without one only what comes from this machine and from
//! no page of another origin.

use std::{borrow::Cow, net::IpAddr};

use axum::{
    Router,
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
    holder::{self, Holder},
    platform, scope,
};
use crate::platform::{Caller, TokenRefused};

/// Header of clients that know the token as the server's password: `password TOKEN`.
const BARE_PASSWORD: &str = "x-bare-password";

/// What anybody may ask.
const OPEN: [&str; 8] = [
    "/v1/health",
    "/v1/health/",
    "/v1/ready",
    "/v1/ready/",
    "/latest/health",
    "/latest/health/",
    "/latest/ready",
    "/latest/ready/",
];

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

    /// Whether this is the installation's token.
    fn is_own(&self, given: &str) -> bool {
        let given = Digest::of(given.as_bytes());
        let own = self.token.as_ref();
        own.is_some_and(|own| given.as_bytes().ct_eq(own.as_bytes()).into())
    }

    /// As whom the request may pass.
    fn check<'a>(
        &self,
        path: &str,
        headers: &'a HeaderMap,
    ) -> Result<Admitted<'a>, &'static error::Kind> {
        // Probes of containers name the host as they like and have no token.
        if OPEN.contains(&path) {
            return Ok(Admitted::Anybody);
        }
        if self.token.is_none() {
            from_this_machine(headers)?;
        }
        let is_platform = path.starts_with(platform::ROOT);
        let given = given_token(headers);
        if given.as_deref().is_some_and(|given| self.is_own(given)) {
            return Ok(Admitted::Installation);
        }
        match (given, &self.token) {
            (Some(given), _) if is_persons(&given) => Ok(Admitted::Person(given)),
            // The documentation is the same for everybody, and a browser has no token to send.
            (_, Some(_)) if docs::PATHS.contains(&path) => Ok(Admitted::Anybody),
            (Some(_), Some(_)) => Err(&error::UNAUTHORIZED),
            // People sign in by one of these routes; the others ask who it is themselves.
            (None, _) if is_platform => Ok(Admitted::Anybody),
            (None, Some(_)) => Err(&error::UNAUTHORIZED),
            (Some(_), None) if is_platform => Err(&error::UNAUTHORIZED),
            // Clients send some key in any case.
            (_, None) => Ok(Admitted::Installation),
        }
    }
}

/// As whom a request passes.
#[derive(Debug, PartialEq, Eq)]
enum Admitted<'a> {
    /// As nobody in particular.
    Anybody,
    /// As whoever runs the server.
    Installation,
    /// As the person whose token this is, should it count.
    Person(Cow<'a, str>),
}

/// Whether a route is for everybody.
fn needs_nobody(path: &str) -> bool {
    let route = path.strip_prefix(platform::ROOT).unwrap_or_default();
    matches!(
        route.trim_end_matches('/'),
        "auth/register" | "auth/login" | "auth/refresh"
    ) || docs::PATHS.contains(&path)
}

/// Whether a token has the form of those that people get when they sign in.
fn is_persons(token: &str) -> bool {
    token.starts_with("eyJ") && token.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// Before the token among the subprotocols of a WebSocket: scripts of a browser can set no header of
/// it, and what stands in a URL is logged in many places.
const SUBPROTOCOL: &str = "bearer.";
/// The same before the token in base64url without padding: not every character of a token may stand
/// in the name of a subprotocol.
const SUBPROTOCOL_BASE64: &str = "bearer64.";

/// The token of a request, wherever it stands.
pub(crate) fn given_token(headers: &HeaderMap) -> Option<Cow<'_, str>> {
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

/// Refuses what may not pass before anything else looks at it, says to handlers who asks, and ends
/// streams that are not whoever asked's any more. `bare`:
/// all routes, past this guard.
pub(crate) async fn guard(
    State((app, bare)): State<(AppState, Router)>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = match app.access.check(request.uri().path(), request.headers()) {
        Ok(Admitted::Anybody) => Ok(Caller::ANONYMOUS),
        Ok(Admitted::Installation) => Ok(Caller::INSTALLATION),
        Ok(Admitted::Person(token)) => app.platform.caller(&app.store, &token).await,
        Err(kind) => return Rejection::new(kind).into_response(),
    };
    let caller = match caller {
        Ok(caller) => caller,
        // Clients send the token that has expired with the request for the next one too.
        Err(TokenRefused::Invalid(_)) if needs_nobody(request.uri().path()) => Caller::ANONYMOUS,
        Err(TokenRefused::Invalid(text)) => {
            return Rejection::with(&error::UNAUTHORIZED, text).into_response();
        }
        Err(TokenRefused::Store(error)) => return Rejection::from(error).into_response(),
    };
    request.extensions_mut().insert(caller.clone());
    let holder = Holder::asking(&caller);
    let answer = scope::answer(&app, &bare, &caller, request, next).await;
    holder::watched(&app, holder, answer)
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
            Ok(Admitted::Installation) => "ok",
            Ok(Admitted::Anybody) => "anybody",
            Ok(Admitted::Person(_)) => "person",
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
            assert_eq!(check(token, "/v1/health/", headers), "anybody");
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
            assert_eq!(check(None, "/v1/health", headers), "anybody");
        }
    }

    #[test]
    fn a_persons_token_is_one_whether_the_server_has_a_token_or_not() {
        let persons = ("authorization", "Bearer eyJh.eyJz.c2ln");
        let other = ("authorization", "Bearer sk-anything");
        for (token, path, headers, expected) in [
            (None, "/v1/agents", &[persons][..], "person"),
            (Some("t0ken"), "/v1/agents", &[persons], "person"),
            (None, "/v1/agents", &[other], "ok"),
            (None, "/api/v1/projects", &[other], "unauthorized"),
            (None, "/api/v1/projects", &[], "anybody"),
            (Some("t0ken"), "/api/v1/auth/login", &[], "anybody"),
            (
                Some("t0ken"),
                "/api/v1/auth/login",
                &[other],
                "unauthorized",
            ),
            (Some("t0ken"), "/v1/agents", &[], "unauthorized"),
        ] {
            assert_eq!(check(token, path, headers), expected, "{token:?} {path}");
        }
        let page = [persons, ("origin", "https://evil.example")];
        assert_eq!(check(None, "/v1/agents", &page), "foreign_origin");
    }
}
