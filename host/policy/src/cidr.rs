//! Ranges of addresses, written `10.0.0.0/8` or `fd00::/8`.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A range of addresses of one family. A range of IPv4 holds no IPv6 address, not even one that
/// embeds an IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    /// The lowest address of the range.
    base: IpAddr,
    /// How many leading bits all its addresses share.
    prefix: u8,
}

/// A text that is no range of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCidrError {
    /// Not an address with an optional `/` and prefix length.
    #[error("a range is written like 10.0.0.0/8 or fd00::/8")]
    Malformed,
    /// The address has bits beyond the prefix, so that it is unclear which one is meant.
    #[error("the address has bits beyond the prefix; write {0}")]
    HostBits(Cidr),
}

impl Cidr {
    /// Whether the range holds `address`.
    pub fn contains(&self, address: IpAddr) -> bool {
        mask(address, self.prefix) == Some(self.base)
    }

    /// Whether the range holds every address of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        self.prefix <= other.prefix && self.contains(other.base)
    }
}

impl From<IpAddr> for Cidr {
    /// The range of this one address.
    fn from(address: IpAddr) -> Self {
        Self {
            base: address,
            prefix: width(address),
        }
    }
}

/// How many bits an address of this family has.
fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// `address` with everything beyond the first `prefix` bits cleared; none if it has fewer bits.
fn mask(address: IpAddr, prefix: u8) -> Option<IpAddr> {
    let beyond = u32::from(width(address).checked_sub(prefix)?);
    Some(match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(beyond).unwrap_or(0);
            IpAddr::V4((v4.to_bits() & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(beyond).unwrap_or(0);
            IpAddr::V6((v6.to_bits() & mask).into())
        }
    })
}

impl FromStr for Cidr {
    type Err = ParseCidrError;

    /// Takes a range, or a single address for the range of that address.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| ParseCidrError::Malformed)?;
        let prefix = match prefix {
            // `u8::from_str` takes a sign; a prefix has none.
            Some(digits) if digits.starts_with('+') => return Err(ParseCidrError::Malformed),
            Some(digits) => digits.parse().map_err(|_| ParseCidrError::Malformed)?,
            None => width(address),
        };
        let base = mask(address, prefix).ok_or(ParseCidrError::Malformed)?;
        let range = Self { base, prefix };
        if base == address {
            Ok(range)
        } else {
            Err(ParseCidrError::HostBits(range))
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.prefix)
    }
}

impl Serialize for Cidr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cidr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(text: &str) -> Cidr {
        text.parse().expect("a range")
    }

    #[test]
    fn a_range_holds_its_addresses_and_no_others() {
        let ten = range("10.0.0.0/8");
        assert!(ten.contains("10.255.0.1".parse().expect("an address")));
        assert!(!ten.contains("11.0.0.0".parse().expect("an address")));
        assert!(range("0.0.0.0/0").contains("1.2.3.4".parse().expect("an address")));
        assert!(range("::/0").contains("fd00::1".parse().expect("an address")));
        assert!(range("127.0.0.1").contains("127.0.0.1".parse().expect("an address")));
    }

    #[test]
    fn a_range_of_ipv4_holds_no_mapped_address() {
        let mapped = "::ffff:10.0.0.1".parse().expect("an address");
        assert!(!range("10.0.0.0/8").contains(mapped));
        assert!(!range("0.0.0.0/0").contains(mapped));
    }

    #[test]
    fn a_wide_range_covers_a_narrow_one_and_not_the_reverse() {
        assert!(range("10.0.0.0/8").covers(&range("10.1.0.0/16")));
        assert!(!range("10.1.0.0/16").covers(&range("10.0.0.0/8")));
        assert!(!range("10.0.0.0/8").covers(&range("fd00::/8")));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "/8",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::/129",
            "10/8",
            "10.0.0.0/+8",
            "a/8",
        ] {
            assert_eq!(
                text.parse::<Cidr>(),
                Err(ParseCidrError::Malformed),
                "{text}"
            );
        }
        let error = "10.1.2.3/8"
            .parse::<Cidr>()
            .expect_err("bits beyond the prefix");
        assert_eq!(
            error.to_string(),
            "the address has bits beyond the prefix; write 10.0.0.0/8"
        );
    }

    proptest! {
        #[test]
        fn a_range_reads_back_what_it_wrote(bits: u128, v4: bool, prefix in 0..=128u8) {
            let (address, prefix): (IpAddr, u8) = if v4 {
                (IpAddr::V4((bits as u32).into()), prefix % 33)
            } else {
                (IpAddr::V6(bits.into()), prefix)
            };
            let range = Cidr { base: mask(address, prefix).expect("in width"), prefix };
            prop_assert!(range.contains(address));
            prop_assert_eq!(range.to_string().parse(), Ok(range));
        }
    }
}
