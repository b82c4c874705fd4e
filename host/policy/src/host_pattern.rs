//! Which hosts a rule is about.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Host;

/// Bytes of a host name (RFC 1035).
pub(crate) const MAX_NAME_BYTES: usize = 253;
/// Bytes of one label of a host name (RFC 1035).
const MAX_LABEL_BYTES: usize = 63;

/// Which hosts a rule is about: one host, `*.example.com` (exactly one label before the rest), or
/// `*` (any host). It is about names; which addresses may be reached is decided apart, so that
/// `*` opens no private address.
///
/// Kept as a URL parser writes hosts: lower case, international names in punycode, no trailing
/// dot, addresses in canonical form whatever they were spelled like.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern(Kind);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Any,
    Name(String),
    /// What follows the dot after the one free label.
    OneLabelBefore(String),
    Address(IpAddr),
}

/// A text that is no host pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host: write a name, an address, *.name for one leading label, or *")]
pub struct ParseHostError(String);

impl HostPattern {
    /// Any host.
    pub const ANY: Self = Self(Kind::Any);

    /// Whether `host`, as a URL parser gives it, is one of these.
    pub fn matches(&self, host: &Host<&str>) -> bool {
        match (&self.0, host) {
            (Kind::Any, _) => true,
            (Kind::Name(name), Host::Domain(host)) => {
                name.eq_ignore_ascii_case(without_final_dot(host))
            }
            (Kind::OneLabelBefore(rest), Host::Domain(host)) => {
                has_one_label_before(rest, without_final_dot(host))
            }
            (Kind::Address(IpAddr::V4(address)), Host::Ipv4(host)) => address == host,
            (Kind::Address(IpAddr::V6(address)), Host::Ipv6(host)) => address == host,
            _ => false,
        }
    }

    /// The hosts that both are about; none if there are none.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        if self.covers(other) {
            Some(other.clone())
        } else if other.covers(self) {
            Some(self.clone())
        } else {
            None
        }
    }

    /// Whether every host of `other` is one of these.
    pub fn covers(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Any, _) => true,
            (Kind::OneLabelBefore(rest), Kind::Name(name)) => has_one_label_before(rest, name),
            (own, theirs) => own == theirs,
        }
    }

    /// The address, where the pattern is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.0 {
            Kind::Address(address) => Some(address),
            Kind::Any | Kind::Name(_) | Kind::OneLabelBefore(_) => None,
        }
    }
}

fn without_final_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn has_one_label_before(rest: &str, host: &str) -> bool {
    match host.split_once('.') {
        Some((label, after)) => !label.is_empty() && after.eq_ignore_ascii_case(rest),
        None => false,
    }
}

/// Whether `name` could stand in the DNS: labels of sane length, none of them empty, of letters,
/// digits, `-` and `_`. The URL parser lets more pass, `*` and `$(…)` among it, which would be
/// another rule, or a command, where a refusal suggests the grant that is missing.
pub(crate) fn is_sane_name(name: &str) -> bool {
    let sane = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    name.len() <= MAX_NAME_BYTES
        && name
            .split('.')
            .all(|label| (1..=MAX_LABEL_BYTES).contains(&label.len()) && label.bytes().all(sane))
}

/// One host as a URL parser would read it.
fn parse_host(text: &str) -> Option<Kind> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some(Kind::Address(IpAddr::V6(address)));
    }
    // The URL parser would decode `%`; a pattern that needs it hides something. `*` would pass.
    if text.len() > 4 * MAX_NAME_BYTES || text.contains(['%', '*']) {
        return None;
    }
    Some(match Host::parse(text).ok()? {
        Host::Ipv4(address) => Kind::Address(IpAddr::V4(address)),
        Host::Ipv6(address) => Kind::Address(IpAddr::V6(address)),
        Host::Domain(name) => {
            let name = without_final_dot(&name);
            is_sane_name(name).then(|| Kind::Name(name.to_owned()))?
        }
    })
}

impl FromStr for HostPattern {
    type Err = ParseHostError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kind = match text.strip_prefix("*.") {
            _ if text == "*" => Some(Kind::Any),
            Some(rest) => match parse_host(rest) {
                Some(Kind::Name(rest)) => Some(Kind::OneLabelBefore(rest)),
                _ => None,
            },
            None => parse_host(text),
        };
        let excerpt = || ParseHostError(text.chars().take(MAX_NAME_BYTES).collect());
        kind.map(Self).ok_or_else(excerpt)
    }
}

impl From<IpAddr> for HostPattern {
    /// The pattern of this one address.
    fn from(address: IpAddr) -> Self {
        Self(Kind::Address(address))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Any => f.write_str("*"),
            Kind::Name(name) => f.write_str(name),
            Kind::OneLabelBefore(rest) => write!(f, "*.{rest}"),
            Kind::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Kind::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl Serialize for HostPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> HostPattern {
        text.parse().expect("a pattern")
    }

    fn matches(text: &str, host: &str) -> bool {
        let host = Host::parse(host).expect("a host");
        let host = match &host {
            Host::Domain(name) => Host::Domain(name.as_str()),
            Host::Ipv4(address) => Host::Ipv4(*address),
            Host::Ipv6(address) => Host::Ipv6(*address),
        };
        pattern(text).matches(&host)
    }

    #[test]
    fn an_exact_host_matches_itself_in_any_spelling() {
        assert!(matches("api.example.com", "API.Example.COM"));
        assert!(matches("API.example.com.", "api.example.com"));
        assert!(matches("api.example.com", "api.example.com."));
        assert!(matches("bücher.example", "xn--bcher-kva.example"));
        assert!(!matches("example.com", "api.example.com"));
        assert!(!matches("example.com", "example.com.evil.org"));
        assert!(!matches("example.com", "notexample.com"));
    }

    #[test]
    fn a_leading_star_is_exactly_one_label() {
        assert!(matches("*.example.com", "a.example.com"));
        assert!(!matches("*.example.com", "example.com"));
        assert!(!matches("*.example.com", "a.b.example.com"));
        assert!(!matches("*.example.com", ".example.com"));
    }

    #[test]
    fn an_address_matches_itself_in_any_spelling() {
        for spelling in [
            "127.0.0.1",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "127.0.0.1.",
        ] {
            assert_eq!(pattern(spelling), pattern("127.0.0.1"), "{spelling}");
            assert!(matches("127.0.0.1", spelling), "{spelling}");
        }
        assert_eq!(pattern("::1"), pattern("[0:0:0:0:0:0:0:1]"));
        assert!(!matches("127.0.0.1", "[::ffff:127.0.0.1]"));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = "a".repeat(64);
        for text in [
            "",
            ".",
            "*.",
            "**",
            "a.*.com",
            "*a.com",
            "*.*.com",
            "*.127.0.0.1",
            "a..b",
            "a$(id)",
            "a;b",
            "a b",
            "ex%61mple.com",
            "user@host",
            "host:80",
            "host/path",
            "[::1",
            "1.2.3.4.5",
            "..",
            &long,
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_intersection_is_the_narrower_one_or_none() {
        let meet = |a: &str, b: &str| pattern(a).intersect(&pattern(b)).map(|p| p.to_string());
        assert_eq!(meet("*", "a.example.com").as_deref(), Some("a.example.com"));
        assert_eq!(meet("*.example.com", "*").as_deref(), Some("*.example.com"));
        assert_eq!(
            meet("*.example.com", "a.example.com").as_deref(),
            Some("a.example.com")
        );
        assert_eq!(meet("*.example.com", "example.com"), None);
        assert_eq!(meet("*.example.com", "*.a.example.com"), None);
        assert_eq!(meet("a.com", "b.com"), None);
    }

    fn any_pattern() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("*".to_owned()),
            "(\\*\\.)?[a-c]\\.[a-c](\\.[a-c])?",
            any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("{a}.{b}.{c}.{d}")),
            any::<u128>().prop_map(|bits| Ipv6Addr::from_bits(bits).to_string()),
        ]
    }

    proptest! {
        #[test]
        fn a_pattern_reads_back_what_it_wrote(text in any_pattern()) {
            let pattern = pattern(&text);
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }

        #[test]
        fn any_text_is_parsed_or_refused_without_panic(text in "\\PC{0,40}") {
            if let Ok(pattern) = text.parse::<HostPattern>() {
                prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
            }
        }

        #[test]
        fn both_sides_cover_their_intersection(a in any_pattern(), b in any_pattern()) {
            let (a, b) = (pattern(&a), pattern(&b));
            prop_assert_eq!(a.intersect(&b), b.intersect(&a));
            if let Some(both) = a.intersect(&b) {
                prop_assert!(a.covers(&both) && b.covers(&both));
            }
        }
    }
}
