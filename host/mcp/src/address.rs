//! Which addresses a server may have.
//!
//! A public one may always be registered. Others lead into the network that the host stands in, and
//! are refused unless a person who runs the host opened them: an address by its range, a name by that
//! name. What a name resolves to is checked again by the egress, for each connection: it is public,
//! or in the range that was opened for this name. A range alone opens nothing for a name, since
//! whoever owns the name could point it there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bulkhead_policy::{Cidr, Target, TargetError, address::is_public};
use url::Host;

use crate::PrivateRange;

/// Names that lead into the host's own network, by their last label.
const INTERNAL: [&str; 6] = ["local", "internal", "intranet", "lan", "home", "corp"];
/// The name of this machine on itself, by its last label.
const LOCALHOST: &str = "localhost";

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
    /// A name of the host itself or its network for which nothing was opened.
    #[error("Blocked internal hostname: {0}")]
    Internal(String),
}

/// The address as requests take it, where a server may have it with these open.
pub fn check(url: &str, open: &[PrivateRange]) -> Result<Target, AddressError> {
    let target = Target::parse(url)?;
    let is_closed = opened(&target, open).is_empty();
    match target.host() {
        Host::Ipv4(address) => expect_open(address.into(), is_closed)?,
        Host::Ipv6(address) => expect_open(address.into(), is_closed)?,
        Host::Domain(name) if is_internal(name) && is_closed => {
            return Err(AddressError::Internal(name.to_owned()));
        }
        Host::Domain(_) => {}
    }
    Ok(target)
}

/// The addresses that are not public and open for a server at `target`: its own address, what was
/// opened for its name, and for `localhost` the two addresses that are called so.
pub(crate) fn opened(target: &Target, open: &[PrivateRange]) -> Vec<Cidr> {
    let in_range = |address: IpAddr| {
        let mut ranges = open.iter().filter(|one| one.name().is_none());
        let found = ranges.any(|one| one.range().contains(address));
        found.then(|| Cidr::from(address))
    };
    match target.host() {
        Host::Ipv4(address) => in_range(address.into()).into_iter().collect(),
        Host::Ipv6(address) => in_range(address.into()).into_iter().collect(),
        Host::Domain(name) => {
            let named = open.iter().filter(|one| one.name() == Some(name));
            let mut ranges: Vec<Cidr> = named.map(PrivateRange::range).collect();
            if last_label(name) == LOCALHOST {
                let addresses = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
                ranges.extend(addresses.into_iter().filter_map(in_range));
            }
            ranges
        }
    }
}

/// Whether a name is one of the host itself or its network by its form.
fn is_internal(name: &str) -> bool {
    let last = last_label(name);
    last == LOCALHOST || last == name || INTERNAL.contains(&last)
}

fn last_label(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn expect_open(address: IpAddr, is_closed: bool) -> Result<(), AddressError> {
    if is_public(address) || !is_closed {
        return Ok(());
    }
    Err(AddressError::NotPublic(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(texts: &[&str]) -> Vec<PrivateRange> {
        let ranges = texts.iter().map(|text| text.parse().expect("a range"));
        ranges.collect()
    }

    #[test]
    fn what_is_not_public_is_refused_unless_its_range_is_open() {
        let loopback = ranges(&["127.0.0.0/8", "::1"]);
        let named = ranges(&["10.0.0.0/8", "db.internal=10.0.0.0/8"]);
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
            ("http://db.internal/", &named, None),
            (
                "http://other.internal/",
                &named,
                Some("Blocked internal hostname: other.internal"),
            ),
            (
                "http://localhost/",
                &named,
                Some("Blocked internal hostname: localhost"),
            ),
            ("http://10.0.0.1/", &named, None),
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
