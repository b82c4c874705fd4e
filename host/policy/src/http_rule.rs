//! Which requests may leave.

use std::{collections::BTreeSet, fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::{Cidr, HostPattern, Target, address, path};

/// Methods that never leave: CONNECT would make the other side a proxy past every check, TRACE
/// echoes credentials.
pub const FORBIDDEN_METHODS: [&str; 2] = ["CONNECT", "TRACE"];

/// Methods that one rule may list. HTTP's registry has fewer than 50.
pub const MAX_METHODS: usize = 32;

/// Ranges of addresses that one rule may open.
pub const MAX_PRIVATE_RANGES: usize = 64;

/// URL schemes that a request may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Without encryption, default port 80.
    Http,
    /// With TLS, default port 443.
    Https,
}

impl Scheme {
    /// The port of a URL that names none.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Https => "https",
        })
    }
}

/// Allows the requests that match all of its parts.
///
/// Read from a JSON object, or from a shorthand string: `[scheme://]host[:port][/path]`, where
/// the scheme is `https` if it is left out and `any` for both. For example `api.example.com`,
/// `http://localhost:8080`, `any://*` (every public host by both schemes).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpRule {
    /// The host: exact, `*.example.com` for one leading label, `*` for any.
    pub host: HostPattern,
    /// The scheme; none for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<Scheme>,
    /// The port; none for the scheme's default port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Methods in upper case; none for any but CONNECT and TRACE, which never leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<BTreeSet<String>>,
    /// What the path begins with, at a segment's boundary; `/` for any.
    #[serde(skip_serializing_if = "is_root")]
    pub path: String,
    /// Ranges of non-public addresses that this rule opens. Only a grant's ranges count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub private: Vec<Cidr>,
    /// Bytes that one call may send under this rule; none for the default of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_request_bytes: Option<u64>,
    /// Bytes that one call may receive under this rule; none for the default of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_response_bytes: Option<u64>,
}

fn is_root(path: &str) -> bool {
    path == "/"
}

impl HttpRule {
    /// Every request to `host` with the scheme's default port.
    pub fn to_host(host: HostPattern, scheme: Option<Scheme>) -> Self {
        Self {
            host,
            scheme,
            port: None,
            methods: None,
            path: "/".to_owned(),
            private: Vec::new(),
            max_request_bytes: None,
            max_response_bytes: None,
        }
    }

    /// Whether the rule allows `method` on `target`, as far as that can be said before the host's
    /// name is resolved; then [`HttpRule::opens`] decides for each address.
    pub fn matches(&self, target: &Target, method: &str) -> bool {
        self.allows_method(method)
            && self.scheme.is_none_or(|scheme| scheme == target.scheme())
            && self.port_for(target.scheme()) == target.port()
            && self.host.matches(&target.host())
            && path::is_under(&self.path, target.path())
    }

    /// Whether the rule allows a connection to `address`: a public one, the very address that the
    /// rule names as its host, or one in a range that the rule opens.
    pub fn opens(&self, address: IpAddr) -> bool {
        address::is_public(address)
            || self.host.address() == Some(address)
            || self.private.iter().any(|range| range.contains(address))
    }

    /// The port that the rule allows for `scheme`.
    fn port_for(&self, scheme: Scheme) -> u16 {
        self.port.unwrap_or(scheme.default_port())
    }

    fn allows_method(&self, method: &str) -> bool {
        !FORBIDDEN_METHODS
            .iter()
            .any(|forbidden| forbidden.eq_ignore_ascii_case(method))
            && self
                .methods
                .as_ref()
                .is_none_or(|methods| methods.contains(method))
    }

    /// What `wish` asks for, as far as this grant allows it; none if it doesn't at all. Private
    /// ranges are the grant's, whatever the wish says. A wish for any host that names no port is
    /// one for any port too: the person who grants names the host, and with it the port.
    pub fn limited_to(&self, wish: &Self) -> Option<Self> {
        let host = self.host.intersect(&wish.host)?;
        if !self.opens_host(&host) {
            return None;
        }
        let wished_port = match wish.port {
            None if wish.host == HostPattern::ANY => self.port,
            port => port,
        };
        let (scheme, port) = self.meet_ports(wish.scheme, wished_port)?;
        let methods = match (&self.methods, &wish.methods) {
            (Some(own), Some(theirs)) => Some(own & theirs),
            (own, theirs) => own.as_ref().or(theirs.as_ref()).cloned(),
        };
        if methods.as_ref().is_some_and(BTreeSet::is_empty) {
            return None;
        }
        let path = if path::is_under(&self.path, &wish.path) {
            wish.path.clone()
        } else if path::is_under(&wish.path, &self.path) {
            self.path.clone()
        } else {
            return None;
        };
        Some(Self {
            host,
            scheme,
            port,
            methods,
            path,
            private: self.private.clone(),
            max_request_bytes: smaller(self.max_request_bytes, wish.max_request_bytes),
            max_response_bytes: smaller(self.max_response_bytes, wish.max_response_bytes),
        })
    }

    /// Whether everything that `other` allows is allowed by this rule too.
    pub fn covers(&self, other: &Self) -> bool {
        let methods = match (&self.methods, &other.methods) {
            (None, _) => true,
            (Some(own), Some(theirs)) => theirs.is_subset(own),
            (Some(_), None) => false,
        };
        let covered = |range| self.private.iter().any(|own| own.covers(range));
        methods
            && self.host.covers(&other.host)
            && self.opens_host(&other.host)
            && self.meet_ports(other.scheme, other.port)
                == other.meet_ports(other.scheme, other.port)
            && path::is_under(&self.path, &other.path)
            && other.private.iter().all(covered)
            && within(self.max_request_bytes, other.max_request_bytes)
            && within(self.max_response_bytes, other.max_response_bytes)
    }

    /// Whether a rule may name `host` without opening more than this one does: `*` covers every
    /// name, but an address that isn't public is opened by being named.
    fn opens_host(&self, host: &HostPattern) -> bool {
        host.address().is_none_or(|address| self.opens(address))
    }

    /// Scheme and port of the requests that this rule and one with `other_scheme` and
    /// `other_port` both allow, in normal form.
    fn meet_ports(
        &self,
        other_scheme: Option<Scheme>,
        other_port: Option<u16>,
    ) -> Option<(Option<Scheme>, Option<u16>)> {
        let both = |scheme: Scheme| {
            let of = |own: Option<Scheme>, port: Option<u16>| {
                own.is_none_or(|own| own == scheme)
                    .then(|| port.unwrap_or(scheme.default_port()))
            };
            of(self.scheme, self.port).filter(|port| of(other_scheme, other_port) == Some(*port))
        };
        match (both(Scheme::Http), both(Scheme::Https)) {
            (None, None) => None,
            (Some(http), Some(https)) if http == https => Some((None, Some(http))),
            (Some(_), Some(_)) => Some((None, None)),
            (Some(port), None) => Some(normal_port(Scheme::Http, port)),
            (None, Some(port)) => Some(normal_port(Scheme::Https, port)),
        }
    }

    /// The same rule with a default port left out.
    #[must_use]
    pub(crate) fn normalised(mut self) -> Self {
        if let (Some(scheme), Some(port)) = (self.scheme, self.port) {
            (self.scheme, self.port) = normal_port(scheme, port);
        }
        self
    }

    /// What is wrong with the rule, if anything; the field first.
    pub(crate) fn problem(&self) -> Option<(&'static str, String)> {
        if self.port == Some(0) {
            return Some(("port", "a port is 1 to 65535".to_owned()));
        }
        if let Some(methods) = &self.methods {
            if methods.is_empty() {
                let message = "an empty list allows nothing; leave it out for any method";
                return Some(("methods", message.to_owned()));
            }
            if methods.len() > MAX_METHODS {
                return Some(("methods", format!("more than {MAX_METHODS} methods")));
            }
            if let Some(method) = methods.iter().find(|method| !is_method(method)) {
                let method: String = method.chars().take(40).collect();
                let message = format!("`{method}` is no method in upper case that may leave");
                return Some(("methods", message));
            }
        }
        if self.private.len() > MAX_PRIVATE_RANGES {
            return Some(("private", format!("more than {MAX_PRIVATE_RANGES} ranges")));
        }
        if !is_normal_path(&self.path) {
            let message = "a path begins with / and is written as a URL parser writes it, without \
                           query, fragment, dot segments or escaped percent signs";
            return Some(("path", message.to_owned()));
        }
        None
    }
}

fn normal_port(scheme: Scheme, port: u16) -> (Option<Scheme>, Option<u16>) {
    (
        Some(scheme),
        (port != scheme.default_port()).then_some(port),
    )
}

/// The smaller of two limits, where none is no limit.
fn smaller(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Whether `inner` is no larger than `outer`, where none is no limit.
fn within(outer: Option<u64>, inner: Option<u64>) -> bool {
    match (outer, inner) {
        (None, _) => true,
        (Some(outer), Some(inner)) => inner <= outer,
        (Some(_), None) => false,
    }
}

/// Bytes of a method's name; the longest that is registered has 17.
const MAX_METHOD_BYTES: usize = 32;

fn is_method(method: &str) -> bool {
    (1..=MAX_METHOD_BYTES).contains(&method.len())
        && method
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'))
        && !FORBIDDEN_METHODS.contains(&method)
}

fn is_normal_path(text: &str) -> bool {
    let parsed = text
        .starts_with('/')
        .then(|| Target::parse(&format!("http://a{text}")).ok());
    let same = |target: Target| target.url().as_str().strip_prefix("http://a") == Some(text);
    let plain = !text.contains(['?', '#']) && path::is_unambiguous(text);
    plain && parsed.flatten().is_some_and(same)
}

impl fmt::Display for HttpRule {
    /// For people: the shorthand, and what it can't say in parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(methods) = &self.methods {
            let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
            write!(f, "{} ", methods.join(","))?;
        }
        match self.scheme {
            Some(scheme) => write!(f, "{scheme}://{}", self.host)?,
            None => write!(f, "any://{}", self.host)?,
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        if !is_root(&self.path) {
            f.write_str(&self.path)?;
        }
        let mut more = Vec::new();
        if !self.private.is_empty() {
            let ranges: Vec<String> = self.private.iter().map(Cidr::to_string).collect();
            more.push(format!("opens {}", ranges.join(", ")));
        }
        if let Some(bytes) = self.max_request_bytes {
            more.push(format!("sends at most {bytes} bytes"));
        }
        if let Some(bytes) = self.max_response_bytes {
            more.push(format!("receives at most {bytes} bytes"));
        }
        if more.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", more.join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(text: &str) -> HttpRule {
        text.parse().expect(text)
    }

    fn allows(rule: &HttpRule, method: &str, url: &str) -> bool {
        rule.matches(&Target::parse(url).expect(url), method)
    }

    #[test]
    fn a_rule_allows_what_matches_all_of_its_parts() {
        let rule = rule(
            r#"{"host": "api.example.com", "scheme": "https", "methods": ["GET"], "path": "/v1"}"#,
        );
        assert!(allows(&rule, "GET", "https://api.example.com/v1/x?q=1"));
        assert!(allows(&rule, "GET", "https://API.example.com.:443/v1"));
        assert!(!allows(&rule, "POST", "https://api.example.com/v1/x"));
        assert!(!allows(&rule, "get", "https://api.example.com/v1/x"));
        assert!(!allows(&rule, "GET", "http://api.example.com/v1/x"));
        assert!(!allows(&rule, "GET", "https://api.example.com:8443/v1/x"));
        assert!(!allows(&rule, "GET", "https://api.example.com/v10"));
        assert!(!allows(
            &rule,
            "GET",
            "https://api.example.com/v1/%2e%2e/v2"
        ));
        assert!(!allows(&rule, "GET", "https://api.example.com/v1/..%2fv2"));
        assert!(!allows(&rule, "GET", "https://api.example.com.evil.org/v1"));
    }

    #[test]
    fn connect_and_trace_never_match() {
        for method in ["CONNECT", "TRACE", "connect", "Trace"] {
            assert!(
                !allows(&rule("any://*"), method, "https://example.com/"),
                "{method}"
            );
        }
        assert!(allows(&rule("any://*"), "PROPFIND", "https://example.com/"));
    }

    #[test]
    fn any_host_opens_no_private_address() {
        let any = rule("any://*");
        for address in [
            "127.0.0.1",
            "10.0.0.1",
            "169.254.169.254",
            "::1",
            "fd00:ec2::254",
        ] {
            assert!(
                !any.opens(address.parse().expect("an address")),
                "{address}"
            );
        }
        assert!(any.opens("1.1.1.1".parse().expect("an address")));
    }

    #[test]
    fn an_address_is_opened_by_its_name_and_no_other_is() {
        let rule = rule("http://127.0.0.1:8080");
        assert!(rule.opens("127.0.0.1".parse().expect("an address")));
        assert!(!rule.opens("127.0.0.2".parse().expect("an address")));
        assert!(!rule.opens("::ffff:127.0.0.1".parse().expect("an address")));
    }

    #[test]
    fn a_wish_for_a_private_address_is_not_granted_by_any_host() {
        let wish = rule("http://169.254.169.254");
        assert_eq!(rule("any://*").limited_to(&wish), None);
        assert!(!rule("any://*").covers(&wish));
        let opened = rule(r#"{"host": "*", "private": ["169.254.0.0/16"]}"#);
        assert!(opened.limited_to(&wish).is_some());
    }

    #[test]
    fn a_wish_opens_no_range() {
        let wish = rule(r#"{"host": "example.com", "private": ["10.0.0.0/8"]}"#);
        let limited = rule("any://*").limited_to(&wish).expect("granted");
        assert!(limited.private.is_empty());
        assert!(!rule("any://*").covers(&wish));
    }

    #[test]
    fn the_intersection_takes_the_narrower_of_each_part() {
        let grant = rule(
            r#"{"host": "*.example.com", "methods": ["GET", "PUT"], "path": "/v1",
                "private": ["10.0.0.0/8"], "max_response_bytes": 100}"#,
        );
        let wish = rule(
            r#"{"host": "a.example.com", "scheme": "https", "methods": ["GET", "POST"],
                "path": "/v1/users", "max_response_bytes": 1000, "max_request_bytes": 5}"#,
        );
        let limited = grant.limited_to(&wish).expect("they meet");
        assert_eq!(
            limited.to_string(),
            "GET https://a.example.com/v1/users (opens 10.0.0.0/8; sends at most 5 bytes; \
             receives at most 100 bytes)"
        );
        assert!(grant.covers(&limited));
    }

    #[test]
    fn default_ports_meet_only_their_own_scheme() {
        let meet = |a: &str, b: &str| rule(a).limited_to(&rule(b)).map(|rule| rule.to_string());
        assert_eq!(
            meet("any://a", "https://a:443").as_deref(),
            Some("https://a")
        );
        assert_eq!(meet("any://a", "any://a:443").as_deref(), Some("https://a"));
        assert_eq!(meet("any://a:80", "any://a").as_deref(), Some("http://a"));
        assert_eq!(
            meet("any://a:8080", "http://a:8080").as_deref(),
            Some("http://a:8080")
        );
        assert_eq!(meet("any://a", "any://a:8080"), None);
        assert_eq!(meet("http://a", "https://a"), None);
    }

    #[test]
    fn a_wish_for_any_host_leaves_the_port_to_the_grant() {
        let meet = |a: &str, b: &str| rule(a).limited_to(&rule(b)).map(|rule| rule.to_string());
        assert_eq!(
            meet("http://a:8080", "any://*").as_deref(),
            Some("http://a:8080")
        );
        assert_eq!(
            meet("any://a:8443", "https://*").as_deref(),
            Some("https://a:8443")
        );
        assert_eq!(meet("http://a:8080", "https://*"), None);
        assert_eq!(meet("http://a:8080", "any://*:9090"), None);
        assert_eq!(meet("http://b.a:8080", "any://*.a"), None);
    }

    fn any_rule() -> impl Strategy<Value = HttpRule> {
        let host = prop_oneof![
            Just("*"),
            Just("*.a.com"),
            Just("x.a.com"),
            Just("a.com"),
            Just("127.0.0.1"),
            Just("10.1.1.1"),
            Just("1.1.1.1"),
        ];
        let scheme = prop_oneof![
            Just(None),
            Just(Some(Scheme::Http)),
            Just(Some(Scheme::Https))
        ];
        let port = prop_oneof![
            Just(None),
            Just(Some(80)),
            Just(Some(443)),
            Just(Some(8080))
        ];
        let method = prop_oneof![Just("GET".to_owned()), Just("PUT".to_owned())];
        let methods = proptest::option::of(proptest::collection::btree_set(method, 1..3));
        let path = prop_oneof![
            Just("/"),
            Just("/v1"),
            Just("/v1/"),
            Just("/v1/x"),
            Just("/v10")
        ];
        let private = prop_oneof![
            Just(vec![]),
            Just(vec!["10.0.0.0/8"]),
            Just(vec!["10.1.1.1"])
        ];
        let budget = proptest::option::of(0..3u64);
        (host, scheme, port, methods, path, private, budget).prop_map(
            |(host, scheme, port, methods, path, private, budget)| {
                let rule = HttpRule {
                    port,
                    methods,
                    path: path.to_owned(),
                    private: private
                        .iter()
                        .map(|range| range.parse().expect("a range"))
                        .collect(),
                    max_request_bytes: budget,
                    ..HttpRule::to_host(host.parse().expect("a host"), scheme)
                };
                rule.normalised()
            },
        )
    }

    fn any_request() -> impl Strategy<Value = (Target, &'static str)> {
        let scheme = prop_oneof![Just("http"), Just("https")];
        let host = prop_oneof![
            Just("x.a.com"),
            Just("a.com"),
            Just("b.org"),
            Just("127.0.0.1"),
            Just("10.1.1.1"),
        ];
        let port = prop_oneof![Just(""), Just(":80"), Just(":443"), Just(":8080")];
        let path = prop_oneof![
            Just("/"),
            Just("/v1"),
            Just("/v1/x"),
            Just("/v10"),
            Just("/v1/..;")
        ];
        let method = prop_oneof![Just("GET"), Just("PUT"), Just("CONNECT")];
        (scheme, host, port, path, method).prop_map(|(scheme, host, port, path, method)| {
            let url = format!("{scheme}://{host}{port}{path}");
            (Target::parse(&url).expect("a target"), method)
        })
    }

    proptest! {
        #[test]
        fn a_rule_reads_back_what_it_wrote(rule in any_rule()) {
            let json = serde_json::to_string(&rule).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<HttpRule>(&json).expect("a rule"), rule);
        }

        #[test]
        fn the_intersection_allows_what_both_allow(
            grant in any_rule(), wish in any_rule(), (target, method) in any_request(),
        ) {
            let limited = grant.limited_to(&wish);
            let allows = |rule: &HttpRule| rule.matches(&target, method);
            // A wish for any host leaves the port to the grant.
            let port = if wish.host == HostPattern::ANY { wish.port.or(grant.port) } else { wish.port };
            let both = allows(&grant) && allows(&HttpRule { port, ..wish.clone() });
            match &limited {
                Some(limited) => {
                    prop_assert!(grant.covers(limited), "{} > {}", grant, limited);
                    prop_assert_eq!(allows(limited), both);
                }
                None => {
                    let closed = target.address().is_some_and(|address| !grant.opens(address));
                    prop_assert!(!both || closed);
                }
            }
        }

        #[test]
        fn a_rule_allows_whatever_it_covers(
            wide in any_rule(), narrow in any_rule(), (target, method) in any_request(),
        ) {
            prop_assert!(wide.covers(&wide));
            if wide.covers(&narrow) && narrow.matches(&target, method) {
                prop_assert!(wide.matches(&target, method));
                if let Some(address) = target.address() {
                    prop_assert!(!narrow.opens(address) || wide.opens(address));
                }
            }
        }
    }
}
