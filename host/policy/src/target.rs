//! Where a request goes: a URL in the one form that rules are matched against.
//!
//! A rule is only as good as the agreement between what was checked and what is sent. So a URL
//! is parsed once, by the WHATWG rules that clients use, into a [`Target`]; rules match the
//! target, and the request is made from the target, never from the text.

use std::{fmt, net::IpAddr};

use url::{Host, Url};

use crate::{Scheme, host_pattern::is_sane_name};

/// Bytes of a URL. Servers commonly refuse more than 8 KiB.
pub const MAX_URL_BYTES: usize = 8 << 10;

/// A URL that may be asked for a grant: `http` or `https`, a host, no user information, no
/// fragment, no dot at the host's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    scheme: Scheme,
    port: u16,
}

/// A URL that no request may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Longer than [`MAX_URL_BYTES`].
    #[error("the URL is longer than {MAX_URL_BYTES} bytes")]
    TooLong,
    /// Spaces and control characters, which parsers differ about.
    #[error("the URL holds a space or a control character; percent-encode it")]
    ControlCharacter,
    /// No absolute URL.
    #[error("this is no absolute URL: {0}")]
    Malformed(#[from] url::ParseError),
    /// Another scheme than `http` and `https`.
    #[error("the scheme must be http or https")]
    Scheme,
    /// A user name or a password, which belong into a credential.
    #[error("the URL holds a user name or a password; use a credential")]
    UserInfo,
    /// No host, or one that can't stand in the DNS.
    #[error("the URL's host is empty or malformed")]
    Host,
}

impl Target {
    /// Reads the text of an absolute URL.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        if text.len() > MAX_URL_BYTES {
            return Err(TargetError::TooLong);
        }
        if text.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(TargetError::ControlCharacter);
        }
        Self::try_from(Url::parse(text)?)
    }

    /// The URL as it is sent.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host.
    pub fn host(&self) -> Host<&str> {
        // `try_from` lets no URL without a host pass; an empty name matches no pattern but `*`
        // and resolves to nothing.
        self.url.host().unwrap_or(Host::Domain(""))
    }

    /// The port, the scheme's default where the URL names none.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path, `/` at least.
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// The host's address, where the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.host() {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
        }
    }

    /// Whether both have the same scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.port == other.port && self.host() == other.host()
    }

    /// The target that a reference, such as a redirect's, leads to from here.
    pub fn join(&self, reference: &str) -> Result<Self, TargetError> {
        if reference.len() > MAX_URL_BYTES {
            return Err(TargetError::TooLong);
        }
        Self::try_from(self.url.join(reference)?)
    }

    /// The origin as a rule's shorthand, for example `https://api.example.com`.
    pub fn origin(&self) -> impl fmt::Display + '_ {
        Origin(self)
    }
}

struct Origin<'a>(&'a Target);

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target { scheme, port, .. } = self.0;
        write!(f, "{scheme}://{}", self.0.host())?;
        if *port == scheme.default_port() {
            Ok(())
        } else {
            write!(f, ":{port}")
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

impl TryFrom<Url> for Target {
    type Error = TargetError;

    fn try_from(mut url: Url) -> Result<Self, Self::Error> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err(TargetError::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::UserInfo);
        }
        if let Some(Host::Domain(name)) = url.host() {
            let bare = name.strip_suffix('.').unwrap_or(name);
            if !is_sane_name(bare) {
                return Err(TargetError::Host);
            }
            if bare.len() != name.len() {
                let bare = bare.to_owned();
                url.set_host(Some(&bare))?;
            }
        }
        url.set_fragment(None);
        if url.host().is_none() {
            return Err(TargetError::Host);
        }
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(TargetError::TooLong);
        }
        let port = url.port().unwrap_or(scheme.default_port());
        Ok(Self { url, scheme, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_in_normal_form() {
        for (text, expected) in [
            (
                "HTTPS://API.Example.COM:443/a/../b#part",
                "https://api.example.com/b",
            ),
            ("http://example.com./", "http://example.com/"),
            ("http://0x7f.0.0.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://017700000001/", "http://127.0.0.1/"),
            ("http://127.1/", "http://127.0.0.1/"),
            ("http://127.0.0.1./", "http://127.0.0.1/"),
            ("http://\u{ff11}27.0.0.1/", "http://127.0.0.1/"),
            ("http:\\\\example.com\\a", "http://example.com/a"),
            ("http://example.com/%2e%2e/a", "http://example.com/a"),
        ] {
            let target = Target::parse(text).expect(text);
            assert_eq!(target.url().as_str(), expected, "{text}");
        }
    }

    #[test]
    fn what_no_request_may_have_is_refused() {
        let long = format!("http://example.com/{}", "a".repeat(MAX_URL_BYTES));
        for (text, expected) in [
            (long.as_str(), TargetError::TooLong),
            ("ftp://example.com/", TargetError::Scheme),
            ("file:///etc/passwd", TargetError::Scheme),
            ("data:text/plain,x", TargetError::Scheme),
            ("http://user@example.com/", TargetError::UserInfo),
            ("http://:password@example.com/", TargetError::UserInfo),
            ("http://good.com@evil.com/", TargetError::UserInfo),
            ("http://a..b/", TargetError::Host),
            ("http://*/", TargetError::Host),
            ("http://*.com/", TargetError::Host),
            ("http://a$(id)/", TargetError::Host),
            ("http://a;b/", TargetError::Host),
            ("http://'/", TargetError::Host),
            ("http://example.com../", TargetError::Host),
            ("http://exa\tmple.com/", TargetError::ControlCharacter),
            (
                "http://example.com/\r\nHost: a",
                TargetError::ControlCharacter,
            ),
        ] {
            assert_eq!(Target::parse(text), Err(expected), "{text}");
        }
        for text in [
            "",
            "/path",
            "example.com",
            "http://",
            "http://[::1",
            "http://a:99999/",
        ] {
            assert!(
                matches!(Target::parse(text), Err(TargetError::Malformed(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn an_origin_is_written_as_a_rule() {
        let origin = |text| Target::parse(text).expect("a target").origin().to_string();
        assert_eq!(origin("https://a.com/x?y"), "https://a.com");
        assert_eq!(origin("http://a.com:8080/x"), "http://a.com:8080");
        assert_eq!(origin("http://[::1]:80/"), "http://[::1]");
    }

    #[test]
    fn a_reference_leads_on_from_a_target() {
        let target = Target::parse("https://a.com/x/y").expect("a target");
        assert_eq!(
            target.join("z").expect("a target").to_string(),
            "https://a.com/x/z"
        );
        assert_eq!(
            target.join("//b.com").expect("a target").to_string(),
            "https://b.com/"
        );
        assert_eq!(target.join("ftp://b.com"), Err(TargetError::Scheme));
        assert!(target.same_origin(&target.join("/z").expect("a target")));
        assert!(!target.same_origin(&target.join("http://a.com/").expect("a target")));
        assert!(!target.same_origin(&target.join("https://a.com:8443/").expect("a target")));
    }
}
