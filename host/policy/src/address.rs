//! Which addresses are public: reachable by everyone, so that reaching them reveals nothing of
//! the network that this host stands in.
//!
//! Judged by an allow list where there is one: of IPv6 only global unicast (`2000::/3`) is
//! public, which leaves out `::`, `::1`, link-local, site-local, unique-local (`fd00:ec2::254`
//! among them), multicast, discard (`100::/64`), IPv4-mapped and -compatible addresses and NAT64
//! (`64:ff9b::/96`, `64:ff9b:1::/48`) without naming them. An address that embeds an IPv4 address
//! (mapped, NAT64, 6to4, Teredo) is never public, whatever it embeds: no honest name resolves to
//! one, and a translator on the way could turn it into anything.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 blocks that are not public (IANA special-purpose registry), as address and prefix length.
const CLOSED_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8), // this network; 0.0.0.0 reaches loopback
    (Ipv4Addr::new(10, 0, 0, 0), 8), // private
    (Ipv4Addr::new(100, 64, 0, 0), 10), // carrier NAT; Alibaba's metadata address
    (Ipv4Addr::new(127, 0, 0, 0), 8), // loopback
    (Ipv4Addr::new(168, 63, 129, 16), 32), // Azure's platform services, inside a public block
    (Ipv4Addr::new(169, 254, 0, 0), 16), // link-local; cloud metadata
    (Ipv4Addr::new(172, 16, 0, 0), 12), // private
    (Ipv4Addr::new(192, 0, 0, 0), 24), // protocol assignments; Oracle's metadata address
    (Ipv4Addr::new(192, 0, 2, 0), 24), // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24), // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16), // private
    (Ipv4Addr::new(198, 18, 0, 0), 15), // benchmarking
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24), // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4), // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4), // reserved and broadcast
];

/// Global unicast: the only part of IPv6 that can be public.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Blocks inside global unicast that are not public.
const CLOSED_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // Teredo, benchmarking, ORCHID, anycast
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// Whether `address` is public.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !CLOSED_V4.iter().any(|&block| in_v4(block, v4)),
        IpAddr::V6(v6) => in_v6(GLOBAL_V6, v6) && !CLOSED_V6.iter().any(|&block| in_v6(block, v6)),
    }
}

/// The well-known block of non-public addresses around `address`, as text for a person who
/// decides whether to open it: the address itself where there is none.
pub fn block_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => match CLOSED_V4.iter().find(|&&block| in_v4(block, v4)) {
            Some((base, prefix)) => format!("{base}/{prefix}"),
            None => format!("{v4}/32"),
        },
        IpAddr::V6(v6) if (v6.segments()[0] & 0xfe00) == 0xfc00 => "fc00::/7".to_owned(),
        IpAddr::V6(v6) if v6.is_unicast_link_local() => "fe80::/10".to_owned(),
        IpAddr::V6(v6) => format!("{v6}/128"),
    }
}

fn in_v4((base, prefix): (Ipv4Addr, u32), address: Ipv4Addr) -> bool {
    let differing = base.to_bits() ^ address.to_bits();
    differing.leading_zeros() >= prefix
}

fn in_v6((base, prefix): (Ipv6Addr, u32), address: Ipv6Addr) -> bool {
    let differing = base.to_bits() ^ address.to_bits();
    differing.leading_zeros() >= prefix
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn ordinary_addresses_are_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:81b::200e",
            "2001:200::1",
            "2001:4860:4860::8888",
        ] {
            assert!(is_public(address(text)), "{text}");
        }
    }

    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:4136:e378::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
        ] {
            assert!(!is_public(address(text)), "{text}");
        }
    }

    #[test]
    fn a_closed_address_is_named_by_its_block() {
        assert_eq!(block_of(address("10.1.2.3")), "10.0.0.0/8");
        assert_eq!(block_of(address("127.0.0.1")), "127.0.0.0/8");
        assert_eq!(block_of(address("fd00:ec2::254")), "fc00::/7");
        assert_eq!(block_of(address("::1")), "::1/128");
    }

    proptest! {
        #[test]
        fn an_address_that_embeds_another_is_never_public(bits: u32) {
            let v4 = Ipv4Addr::from_bits(bits);
            let [a, b] = [(bits >> 16) as u16, bits as u16];
            let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b);
            let six_to_four = Ipv6Addr::new(0x2002, a, b, 0, 0, 0, 0, 1);
            let teredo = Ipv6Addr::new(0x2001, 0, a, b, 0, 0, !a, !b);
            let mapped = v4.to_ipv6_mapped();
            for v6 in [mapped, Ipv6Addr::new(0, 0, 0, 0, 0, 0, a, b), nat64, six_to_four, teredo] {
                prop_assert!(!is_public(IpAddr::V6(v6)), "{v6}");
            }
        }

        #[test]
        fn what_the_standard_library_calls_special_is_never_public(bits: u32) {
            let v4 = Ipv4Addr::from_bits(bits);
            let special = v4.is_private() || v4.is_loopback() || v4.is_link_local()
                || v4.is_broadcast() || v4.is_documentation() || v4.is_unspecified()
                || v4.is_multicast();
            prop_assert!(!special || !is_public(IpAddr::V4(v4)), "{v4}");
        }
    }
}
