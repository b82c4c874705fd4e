//! Private addresses that whoever runs the host opened to servers.

use std::{fmt, str::FromStr};

use bulkhead_policy::Cidr;
use url::Host;

/// A range of private addresses, and for whom it is open. Written `RANGE` for servers whose address
/// is one of it, `NAME=RANGE` for the server of this very name, which may resolve into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateRange {
    /// In lower case, without a dot at its end.
    name: Option<String>,
    range: Cidr,
}

/// A text that opens no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a private range is written like 10.0.0.0/8 or mcp.internal=10.0.0.0/8")]
pub struct ParsePrivateRangeError;

impl PrivateRange {
    /// The name that it is open for; none for addresses.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The addresses.
    pub fn range(&self) -> Cidr {
        self.range
    }
}

impl From<Cidr> for PrivateRange {
    /// Open for servers whose address is one of it.
    fn from(range: Cidr) -> Self {
        Self { name: None, range }
    }
}

impl FromStr for PrivateRange {
    type Err = ParsePrivateRangeError;

    fn from_str(text: &str) -> Result<Self, ParsePrivateRangeError> {
        let (name, range) = match text.split_once('=') {
            Some((name, range)) => (Some(name.trim()), range.trim()),
            None => (None, text.trim()),
        };
        let name = name.map(|name| match Host::parse(name) {
            Ok(Host::Domain(name)) => Ok(name.trim_end_matches('.').to_owned()),
            _ => Err(ParsePrivateRangeError),
        });
        let name = name.transpose()?;
        // What is no name of a host matches none, which whoever wrote it would not notice.
        if name
            .as_ref()
            .is_some_and(|name| name.is_empty() || name.contains('*'))
        {
            return Err(ParsePrivateRangeError);
        }
        let range = range.parse().map_err(|_| ParsePrivateRangeError)?;
        Ok(Self { name, range })
    }
}

impl fmt::Display for PrivateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}={}", self.range),
            None => self.range.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_open_for_addresses_or_for_one_name() {
        for (text, expected) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("::1", "::1/128"),
            ("MCP.internal. = 10.0.0.0/8", "mcp.internal=10.0.0.0/8"),
        ] {
            let range: PrivateRange = text.parse().expect(text);
            assert_eq!(range.to_string(), expected);
        }
        for text in [
            "",
            "=10.0.0.0/8",
            "mcp.internal",
            "10.0.0.1=10.0.0.0/8",
            "a b=::1",
            "*.x=::1",
        ] {
            assert!(text.parse::<PrivateRange>().is_err(), "{text}");
        }
    }
}
