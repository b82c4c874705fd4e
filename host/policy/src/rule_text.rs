//! Reads an [`HttpRule`] from its shorthand or from a JSON object.

use std::{collections::BTreeSet, fmt, net::Ipv6Addr, str::FromStr};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::{Cidr, HostPattern, HttpRule, Scheme, host_pattern::ParseHostError};

/// A text that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRuleError {
    /// Another scheme than `http`, `https` and `any`.
    #[error("the scheme of a rule is http, https, or any for both")]
    Scheme,
    /// No host, or none that a rule can name.
    #[error(transparent)]
    Host(#[from] ParseHostError),
    /// The port is no number from 1 to 65535.
    #[error("a port is 1 to 65535")]
    Port,
    /// User name, query or fragment, which no rule is about.
    #[error("a rule has no user name, query or fragment")]
    Extra,
    /// A field holds what it can't.
    #[error("{field}: {message}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// Malformed JSON, or JSON that is no rule.
    #[error("{0}")]
    Json(String),
}

/// The rule as a JSON object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    host: HostPattern,
    #[serde(default)]
    scheme: Option<Scheme>,
    #[serde(default)]
    port: Option<u16>,
    #[serde(default)]
    methods: Option<BTreeSet<String>>,
    #[serde(default = "root")]
    path: String,
    #[serde(default)]
    private: Vec<Cidr>,
    #[serde(default)]
    max_request_bytes: Option<u64>,
    #[serde(default)]
    max_response_bytes: Option<u64>,
}

fn root() -> String {
    "/".to_owned()
}

impl TryFrom<Object> for HttpRule {
    type Error = ParseRuleError;

    fn try_from(object: Object) -> Result<Self, Self::Error> {
        checked(Self {
            host: object.host,
            scheme: object.scheme,
            port: object.port,
            methods: object.methods,
            path: object.path,
            private: object.private,
            max_request_bytes: object.max_request_bytes,
            max_response_bytes: object.max_response_bytes,
        })
    }
}

fn checked(rule: HttpRule) -> Result<HttpRule, ParseRuleError> {
    match rule.problem() {
        None => Ok(rule.normalised()),
        Some((field, message)) => Err(ParseRuleError::Field { field, message }),
    }
}

impl FromStr for HttpRule {
    type Err = ParseRuleError;

    /// Takes the shorthand `[scheme://]host[:port][/path]`, or a JSON object.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with('{') {
            let object: Object = serde_json::from_str(text)
                .map_err(|error| ParseRuleError::Json(error.to_string()))?;
            return object.try_into();
        }
        if text.contains(['@', '?', '#']) {
            return Err(ParseRuleError::Extra);
        }
        let (scheme, rest) = match text.split_once("://") {
            None => (Some(Scheme::Https), text),
            Some(("https", rest)) => (Some(Scheme::Https), rest),
            Some(("http", rest)) => (Some(Scheme::Http), rest),
            Some(("any", rest)) => (None, rest),
            Some(_) => return Err(ParseRuleError::Scheme),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = split_port(authority)?;
        let mut rule = Self::to_host(host.parse()?, scheme);
        rule.port = port;
        if !path.is_empty() {
            rule.path = path.to_owned();
        }
        checked(rule)
    }
}

/// The host and, after the last colon that is no part of an IPv6 address, the port.
fn split_port(authority: &str) -> Result<(&str, Option<u16>), ParseRuleError> {
    let is_host = authority.ends_with(']') || authority.parse::<Ipv6Addr>().is_ok();
    match authority.rsplit_once(':') {
        Some((host, digits)) if !is_host => {
            let port = digits
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| digits.parse());
            match port {
                Some(Ok(port)) => Ok((host, Some(port))),
                _ => Err(ParseRuleError::Port),
            }
        }
        _ => Ok((authority, None)),
    }
}

impl<'de> Deserialize<'de> for HttpRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

struct RuleVisitor;

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = HttpRule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule as [scheme://]host[:port][/path] or as an object with a host")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HttpRule, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HttpRule, A::Error> {
        let object = Object::deserialize(MapAccessDeserializer::new(map))?;
        object.try_into().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> HttpRule {
        text.parse().expect(text)
    }

    #[test]
    fn the_shorthand_says_what_an_object_says() {
        for (shorthand, object) in [
            ("a.com", r#"{"host": "a.com", "scheme": "https"}"#),
            (
                "https://a.com:443/",
                r#"{"host": "a.com", "scheme": "https"}"#,
            ),
            (
                "http://A.com.",
                r#"{"host": "a.com", "scheme": "http", "port": 80}"#,
            ),
            ("any://*", r#"{"host": "*"}"#),
            (
                "*.a.com:8443",
                r#"{"host": "*.a.com", "scheme": "https", "port": 8443}"#,
            ),
            (
                "http://[::1]:8080/v1/",
                r#"{"host": "::1", "scheme": "http", "port": 8080, "path": "/v1/"}"#,
            ),
            ("http://::1", r#"{"host": "[::1]", "scheme": "http"}"#),
            (
                "localhost:1/a%20b",
                r#"{"host": "localhost", "scheme": "https", "port": 1, "path": "/a%20b"}"#,
            ),
        ] {
            assert_eq!(rule(shorthand), rule(object), "{shorthand}");
            let quoted = serde_json::to_string(shorthand).expect("JSON");
            assert_eq!(
                serde_json::from_str::<HttpRule>(&quoted).expect("a rule"),
                rule(object)
            );
        }
    }

    #[test]
    fn what_is_no_rule_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", "is no host"),
            ("https://", "is no host"),
            ("ftp://a.com", "the scheme of a rule"),
            ("://a.com", "the scheme of a rule"),
            ("user@a.com", "no user name"),
            ("a.com/x?y", "no user name, query"),
            ("a.com#x", "no user name, query"),
            ("a.com:", "a port is"),
            ("a.com:0", "a port is"),
            ("a.com:65536", "a port is"),
            ("a.com:+80", "a port is"),
            ("a.com/../b", "path: "),
            ("a.com/%2e%2e/b", "path: "),
            ("a.com/a%2f..%2fb", "path: "),
            ("a.com/a b", "path: "),
            (r#"{"host": "a.com", "path": "v1"}"#, "path: "),
            (r#"{"host": "a.com", "methods": []}"#, "methods: "),
            (r#"{"host": "a.com", "methods": ["get"]}"#, "methods: `get`"),
            (
                r#"{"host": "a.com", "methods": ["CONNECT"]}"#,
                "methods: `CONNECT`",
            ),
            (
                r#"{"host": "a.com", "method": "GET"}"#,
                "unknown field `method`",
            ),
            (
                r#"{"host": "a.com", "private": ["10.0.0.1/8"]}"#,
                "write 10.0.0.0/8",
            ),
            (
                r#"{"host": "a.com", "scheme": "ws"}"#,
                "unknown variant `ws`",
            ),
            ("{}", "missing field `host`"),
        ] {
            let error = text.parse::<HttpRule>().expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
