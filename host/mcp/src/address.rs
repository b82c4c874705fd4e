//! Which addresses a server may have.
//!
//! A public one may always be registered. Others lead into the network that the host stands in, and
//! are refused unless a person who runs the host opened their range. What a name resolves to is
//! checked again by the egress, for each connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bulkhead_policy::{Cidr, Target, TargetError, address::is_public};
use url::Host;

/// Names that lead into the host's own network, by their last label.
const INTERNAL: [&str; 6] = ["local", "internal", "intranet", "lan", "home", "corp"];

/// An address that no server may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no URL that a request may have.
    #[error("{0}")]
    Url(#[from] TargetError),
    /// An IP address that is not public and in no range that is open.
    #[error("Non-public IP not allowed: {0}")]
    NotPublic(IpAddr),
    /// A name of the host itself or its network, none of whose ranges is open.
    #[error("Blocked internal hostname: {0}")]
    Internal(String),
}

/// The address as requests take it, where a server may have it with these ranges open.
pub fn check(url: &str, open: &[Cidr]) -> Result<Target, AddressError> {
    let target = Target::parse(url)?;
    let is_open = |address: IpAddr| open.iter().any(|range| range.contains(address));
    match target.host() {
        Host::Ipv4(address) => expect_open(address.into(), is_open)?,
        Host::Ipv6(address) => expect_open(address.into(), is_open)?,
        Host::Domain(name) => {
            let last = name.rsplit('.').next().unwrap_or(name);
            let loopback =
                || is_open(Ipv4Addr::LOCALHOST.into()) || is_open(Ipv6Addr::LOCALHOST.into());
            let is_blocked = match last {
                "localhost" => !loopback(),
                _ => open.is_empty() && is_internal(name),
            };
            if is_blocked {
                return Err(AddressError::Internal(name.to_owned()));
            }
        }
    }
    Ok(target)
}

/// Whether a name is one of the host itself or its network by its form.
pub(crate) fn is_internal(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last == "localhost" || last == name || INTERNAL.contains(&last)
}

fn expect_open(address: IpAddr, is_open: impl Fn(IpAddr) -> bool) -> Result<(), AddressError> {
    if is_public(address) || is_open(address) {
        return Ok(());
    }
    Err(AddressError::NotPublic(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(texts: &[&str]) -> Vec<Cidr> {
        let ranges = texts.iter().map(|text| text.parse().expect("a range"));
        ranges.collect()
    }

    #[test]
    fn what_is_not_public_is_refused_unless_its_range_is_open() {
        let loopback = ranges(&["127.0.0.0/8", "::1"]);
        for (url, open, refused) in [
            ("https://mcp.example.com/x", &[][..], None),
            ("http://8.8.8.8/", &[], None),
            (
                "http://127.0.0.1:1/",
                &[],
                Some("Non-public IP not allowed: 127.0.0.1"),
            ),
            (
                "http://2130706433/",
                &[],
                Some("Non-public IP not allowed: 127.0.0.1"),
            ),
            (
                "http://[::ffff:127.0.0.1]/",
                &loopback,
                Some("Non-public IP not allowed: ::ffff:127.0.0.1"),
            ),
            (
                "http://169.254.169.254/",
                &loopback,
                Some("Non-public IP not allowed: 169.254.169.254"),
            ),
            ("http://127.0.0.1:1/", &loopback, None),
            ("http://[::1]/", &loopback, None),
            (
                "http://localhost/",
                &[],
                Some("Blocked internal hostname: localhost"),
            ),
            (
                "http://a.LOCALHOST/",
                &[],
                Some("Blocked internal hostname: a.localhost"),
            ),
            ("http://localhost/", &loopback, None),
            (
                "http://db.internal/",
                &[],
                Some("Blocked internal hostname: db.internal"),
            ),
            (
                "http://router/",
                &[],
                Some("Blocked internal hostname: router"),
            ),
            (
                "ftp://example.com/",
                &[],
                Some("the scheme must be http or https"),
            ),
        ] {
            let found = check(url, open).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), refused, "{url}");
        }
    }
}
