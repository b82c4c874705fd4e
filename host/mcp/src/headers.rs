//! What is sent to a server alone: its token and its headers, and what of them is looked for in all
//! that comes back.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use bulkhead_egress::{Credential, Placement, Secret, secret::MIN_SECRET_BYTES};
use bulkhead_policy::HttpRule;
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::EndpointError;

/// Headers that are the protocol's, or the connection's.
const RESERVED: [&str; 17] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Words before a token by which a header is known to hold one, whatever its name.
const SCHEMES: [&str; 9] = [
    "apikey",
    "api-key",
    "basic",
    "bearer",
    "digest",
    "jwt",
    "key",
    "negotiate",
    "token",
];
/// Parts of one header that are looked for by themselves. Those that are in use have two or three.
const PARTS_MAX: usize = 16;

/// Headers on their way to where they are kept.
pub(crate) struct Headers<'a> {
    rule: &'a HttpRule,
    /// Those that are too short for a secret.
    pub(crate) plain: HeaderMap,
    pub(crate) credentials: Vec<Credential>,
}

impl<'a> Headers<'a> {
    /// None yet; secrets among them go where `rule` allows.
    pub(crate) fn new(rule: &'a HttpRule) -> Self {
        Self {
            rule,
            plain: HeaderMap::new(),
            credentials: Vec::new(),
        }
    }

    /// The token: `Bearer` stands before one that names no scheme in the usual header. It is no part
    /// of the secret, so that the token alone is found in what a server repeats.
    pub(crate) fn token(&mut self, name: &str, token: &str) -> Result<(), EndpointError> {
        const BEARER: &str = "Bearer ";
        let bare = token.strip_prefix(BEARER);
        let usual = name.eq_ignore_ascii_case(header::AUTHORIZATION.as_str());
        match bare {
            Some(bare) => self.add(name, BEARER, bare, true),
            None if usual && !token.contains(' ') => self.add(name, BEARER, token, true),
            None => self.add(name, "", token, true),
        }
    }

    /// Any other header.
    pub(crate) fn header(&mut self, name: &str, value: &str) -> Result<(), EndpointError> {
        self.add(name, "", value, false)
    }

    fn add(
        &mut self,
        name: &str,
        prefix: &str,
        value: &str,
        is_token: bool,
    ) -> Result<(), EndpointError> {
        let lower = name.to_ascii_lowercase();
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok();
        let parsed =
            parsed.filter(|_| !RESERVED.contains(&lower.as_str()) && !lower.starts_with("proxy-"));
        let shown = || name.chars().filter(|c| !c.is_control()).take(100).collect();
        let parsed = parsed.ok_or_else(|| EndpointError::HeaderName(shown()))?;
        let refused = || EndpointError::HeaderValue(shown());
        let whole = HeaderValue::from_str(&format!("{prefix}{value}")).map_err(|_| refused())?;
        if value.len() < MIN_SECRET_BYTES {
            self.plain.insert(parsed, whole);
            return Ok(());
        }
        let of = |secret: Secret, prefix: &str, automatic: bool| Credential {
            name: parsed.as_str().to_owned(),
            secret,
            placement: Placement::Header {
                name: parsed.as_str().to_owned(),
                prefix: prefix.to_owned(),
            },
            audience: vec![self.rule.clone()],
            automatic,
        };
        let secret = Secret::new(value).map_err(|_| refused())?;
        let parts = parts(parsed.as_str(), value, is_token).into_iter();
        // They are never added to a request: they are there to be found.
        let parts = parts.map(|secret| of(secret, "", false));
        self.credentials.push(of(secret, prefix, true));
        self.credentials.extend(parts);
        Ok(())
    }
}

/// The secrets within a header's value that a server may repeat without the rest: a token without its
/// scheme, the values of its parameters and of a cookie, what `Basic` encodes and the password in
/// that. What is shorter than [`MIN_SECRET_BYTES`] can't be told from text.
fn parts(name: &str, value: &str, is_token: bool) -> Vec<Secret> {
    let is_cookie = name == header::COOKIE.as_str();
    let (scheme, rest) = match value.trim().split_once(' ') {
        Some((scheme, rest)) if !is_cookie => (scheme.to_ascii_lowercase(), rest.trim()),
        _ => (String::new(), value.trim()),
    };
    let speaks = is_token
        || is_cookie
        || name == header::AUTHORIZATION.as_str()
        || SCHEMES.contains(&scheme.as_str());
    if !speaks {
        return Vec::new();
    }
    let mut parts = vec![rest.to_owned()];
    if scheme == "basic"
        && let Some(pair) = decoded(rest)
    {
        let password = pair
            .split_once(':')
            .map(|(_, password)| password.to_owned());
        parts.extend(password);
        parts.push(pair);
    }
    for parameter in rest.split([',', ';', ' ']) {
        if let Some((_, value)) = parameter.split_once('=') {
            parts.push(value.trim_matches('"').to_owned());
        }
    }
    parts.retain(|part| part != value);
    let secrets = parts.into_iter().filter_map(|part| Secret::new(part).ok());
    secrets.take(PARTS_MAX).collect()
}

fn decoded(text: &str) -> Option<String> {
    let bare = text.trim_end_matches('=');
    let bytes = STANDARD_NO_PAD.decode(bare);
    let bytes = bytes.or_else(|_| URL_SAFE_NO_PAD.decode(bare)).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use bulkhead_egress::Scrubber;
    use bulkhead_policy::HostPattern;

    use super::*;

    /// What is looked for because of this header.
    pub(crate) fn credentials(name: &str, value: &str) -> Vec<Credential> {
        let host: HostPattern = "mcp.example.com".parse().expect("a host");
        let rule = HttpRule::to_host(host, None);
        let mut headers = Headers::new(&rule);
        headers.header(name, value).expect("a header");
        headers.credentials
    }

    #[test]
    fn a_token_is_found_without_its_scheme_and_a_password_without_its_user() {
        // me:correct-horse
        let basic = "Basic bWU6Y29ycmVjdC1ob3JzZQ==";
        for (name, value, said) in [
            ("authorization", "Bearer 0123456789", "0123456789"),
            ("authorization", "bearer 0123456789", "0123456789"),
            ("authorization", "Odd 0123456789", "0123456789"),
            ("x-auth", "Token 0123456789", "0123456789"),
            ("authorization", basic, "bWU6Y29ycmVjdC1ob3JzZQ=="),
            ("authorization", basic, "bWU6Y29ycmVjdC1ob3JzZQ"),
            ("authorization", basic, "me:correct-horse"),
            ("x-any", basic, "correct-horse"),
            ("authorization", "Token token=\"0123456789\"", "0123456789"),
            ("cookie", "a=b; session=0123456789", "0123456789"),
        ] {
            let scrubber = Scrubber::new(&credentials(name, value));
            let text = format!("I got {said}.");
            let masked = scrubber.redact_str(&text);
            assert!(!masked.contains(said), "{name}: {value}: {masked}");
        }
    }

    #[test]
    fn words_of_other_headers_are_no_secrets_and_one_header_is_sent_once() {
        let all = credentials("x-title", "The documents department");
        assert_eq!(all.len(), 1);
        let all = credentials("authorization", "Basic bWU6Y29ycmVjdC1ob3JzZQ==");
        let added = all.iter().filter(|credential| credential.automatic);
        assert_eq!(added.count(), 1);
        let many: String = (0..50).map(|at| format!("a=012345678{at}; ")).collect();
        assert!(credentials("cookie", &many).len() <= PARTS_MAX + 1);
    }
}
