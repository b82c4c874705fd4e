//! For whom a proxy asks (`X-Forwarded-For`): each proxy on the way adds, at the end, the address from
//! which it was asked. What stands before that was written by whoever asked, and is worth nothing
//! unless that is a trusted proxy too.

use std::net::{IpAddr, SocketAddr};

use bulkhead_policy::Cidr;
use http::{HeaderMap, HeaderName};

static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client of a request from `peer`: the last address of the way to this server that is no trusted
/// proxy; where all of them are, the first of those that can be read.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, proxies: &[Cidr]) -> IpAddr {
    let is_trusted = |address: IpAddr| proxies.iter().any(|range| range.contains(address));
    let mut client = peer;
    // From the nearest on. A second header goes on where the first one ends.
    let mut way = headers
        .get_all(&FORWARDED_FOR)
        .iter()
        .rev()
        .flat_map(|value| value.to_str().unwrap_or("?").rsplit(','));
    while is_trusted(client) {
        match way.next().and_then(address) {
            Some(before) => client = before,
            None => break,
        }
    }
    client
}

/// An address, with a port or without, as different proxies write it.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let with_port = || text.parse().map(|address: SocketAddr| address.ip());
    let address = bare.parse().or_else(|_| with_port()).ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(peer: &str, lines: &[&str], proxies: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                &FORWARDED_FOR,
                HeaderValue::from_bytes(line.as_bytes()).unwrap(),
            );
        }
        let proxies: Vec<Cidr> = proxies.iter().map(|range| range.parse().unwrap()).collect();
        client(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_says_for_whom_it_asks() {
        let proxies = &["10.0.0.0/8", "fd00::/8"];
        for (peer, lines, expected) in [
            ("203.0.113.1", &["192.0.2.1"][..], "203.0.113.1"),
            ("10.0.0.1", &["192.0.2.1"], "192.0.2.1"),
            ("fd00::1", &["2001:db8::1"], "2001:db8::1"),
            // What the client wrote itself stands further left.
            ("10.0.0.1", &["198.51.100.9, 192.0.2.1"], "192.0.2.1"),
            (
                "10.0.0.1",
                &["198.51.100.9, 192.0.2.1, 10.0.0.2"],
                "192.0.2.1",
            ),
            ("10.0.0.1", &["198.51.100.9", "192.0.2.1"], "192.0.2.1"),
            ("10.0.0.1", &["192.0.2.1,10.0.0.3", "10.0.0.2"], "192.0.2.1"),
            ("10.0.0.1", &["192.0.2.1:4711"], "192.0.2.1"),
            ("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", &["[2001:db8::1]"], "2001:db8::1"),
            ("10.0.0.1", &["::ffff:192.0.2.1"], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            // Nothing before what can't be read counts.
            ("10.0.0.1", &["192.0.2.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["192.0.2.1, , 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", &["192.0.2.1, \u{e4}"], "10.0.0.1"),
        ] {
            assert_eq!(of(peer, lines, proxies), expected, "{peer} {lines:?}");
            assert_eq!(of(peer, lines, &[]), peer, "nobody is trusted");
        }
    }
}
