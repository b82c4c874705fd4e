//! A provider of models: the server's own, one of its environment, or one made through the API.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use super::kind::{self, Kind};
use crate::{chat::Endpoint, scripted};

/// Who brought a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// The server: its environment names a key or an address.
    Base,
    /// A person, through the API.
    Byok,
}

impl Category {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Byok => "byok",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A provider of models.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The first half of its models' handles.
    pub name: String,
    /// `openai`, `anthropic`, `google_ai`, ….
    pub provider_type: String,
    /// Who brought it.
    pub category: Category,
    /// Where it is reached.
    pub endpoint: Endpoint,
}

/// A provider that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// A type whose wire format is not spoken here, or no type at all.
    #[error("providers of type '{0}' are not supported")]
    Unsupported(String),
    /// A type that is wherever its user runs it.
    #[error("a provider of type '{0}' needs a base_url")]
    NoAddress(String),
    /// An address that no request can be sent to.
    #[error(
        "'{0}' is no address of a provider: an http or https URL without query and credentials is needed"
    )]
    Address(String),
}

impl Provider {
    /// A provider made through the API. `base_url` may be left out where the vendor has one.
    ///
    /// # Errors
    /// As [`ProviderError`] says.
    pub fn byok(
        id: impl Into<String>,
        name: impl Into<String>,
        provider_type: &str,
        api_key: Zeroizing<String>,
        base_url: Option<&str>,
    ) -> Result<Self, ProviderError> {
        let kind = kind::of(provider_type)
            .filter(|kind| kind.lists != kind::Lists::Scripted)
            .ok_or_else(|| ProviderError::Unsupported(provider_type.to_owned()))?;
        let mut provider = Self::of_kind(kind, kind.provider_type, Some(api_key), base_url)?;
        provider.name = name.into();
        provider.endpoint.name.clone_from(&provider.name);
        provider.category = Category::Byok;
        provider.endpoint.provider_id = Some(id.into());
        Ok(provider)
    }

    pub(super) fn of_kind(
        kind: &Kind,
        name: &str,
        api_key: Option<Zeroizing<String>>,
        base_url: Option<&str>,
    ) -> Result<Self, ProviderError> {
        let base_url = base_url.map(str::trim).filter(|url| !url.is_empty());
        let base_url = match (base_url, kind.base_url) {
            (Some(url), _) => address(kind, url)?,
            (None, Some(url)) => url.to_owned(),
            (None, None) => return Err(ProviderError::NoAddress(kind.provider_type.to_owned())),
        };
        Ok(Self {
            name: name.to_owned(),
            provider_type: kind.provider_type.to_owned(),
            category: Category::Base,
            endpoint: Endpoint {
                name: name.to_owned(),
                provider: kind.title.to_owned(),
                provider_id: None,
                base_url,
                api_key: api_key.filter(|key| !key.trim().is_empty()),
                headers: Vec::new(),
            },
        })
    }

    /// The offline model's.
    pub(super) fn scripted() -> Self {
        Self {
            name: scripted::PROVIDER_NAME.to_owned(),
            provider_type: "letta".to_owned(),
            category: Category::Base,
            endpoint: Endpoint {
                name: scripted::PROVIDER_NAME.to_owned(),
                provider: "Bulkhead".to_owned(),
                provider_id: None,
                base_url: scripted::ENDPOINT.to_owned(),
                api_key: None,
                headers: Vec::new(),
            },
        }
    }

    /// Whether it is where its vendor is. Elsewhere, a server of whoever runs it is assumed.
    pub(super) fn is_at_vendor(&self) -> bool {
        kind::of(&self.provider_type)
            .and_then(|kind| kind.base_url)
            .is_some_and(|url| is_same_address(url, &self.endpoint.base_url))
    }

    pub(super) fn kind(&self) -> Option<&'static Kind> {
        kind::of(&self.provider_type)
    }
}

/// Whether two base URLs are one place.
pub(super) fn is_same_address(one: &str, other: &str) -> bool {
    one.trim_end_matches('/')
        .eq_ignore_ascii_case(other.trim_end_matches('/'))
}

/// The address as requests need it: without a slash at the end, and with the type's path where the
/// address names none.
fn address(kind: &Kind, text: &str) -> Result<String, ProviderError> {
    let refused = || ProviderError::Address(text.to_owned());
    let url = Url::parse(text).map_err(|_| refused())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !plain {
        return Err(refused());
    }
    let trimmed = url.as_str().trim_end_matches('/');
    // The versions that the vendors' SDKs put there themselves.
    let trimmed = match kind.lists {
        kind::Lists::Anthropic => trimmed.strip_suffix("/v1").unwrap_or(trimmed),
        kind::Lists::Gemini => trimmed.strip_suffix("/v1beta").unwrap_or(trimmed),
        _ => trimmed,
    };
    let path = if url.path() == "/" { kind.path } else { "" };
    Ok(format!("{trimmed}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(provider_type: &str, url: Option<&str>) -> Result<String, ProviderError> {
        let key = Zeroizing::new("sk-1".to_owned());
        Provider::byok("provider-1", "mine", provider_type, key, url)
            .map(|provider| provider.endpoint.base_url)
    }

    #[test]
    fn addresses_are_brought_into_the_form_that_requests_need() {
        let is = |kind, url, expected: &str| assert_eq!(at(kind, url).as_deref(), Ok(expected));
        is("openai", None, "https://api.openai.com/v1");
        is(
            "openai",
            Some(" http://127.0.0.1:80/v1/ "),
            "http://127.0.0.1/v1",
        );
        is(
            "anthropic",
            Some("https://proxy.example/v1"),
            "https://proxy.example",
        );
        is(
            "google_ai",
            Some("https://g.example/v1beta/"),
            "https://g.example",
        );
        is(
            "vllm",
            Some("http://localhost:8000"),
            "http://localhost:8000/v1",
        );
        is(
            "vllm",
            Some("http://localhost:8000/x"),
            "http://localhost:8000/x",
        );
    }

    #[test]
    fn addresses_and_types_that_cannot_be_are_refused() {
        for url in ["ftp://x", "localhost:80", "http://a:b@x", "http://x?y=1"] {
            assert_eq!(
                at("openai", Some(url)),
                Err(ProviderError::Address(url.into()))
            );
        }
        assert!(matches!(
            at("ollama", None),
            Err(ProviderError::NoAddress(_))
        ));
        assert!(matches!(
            at("bedrock", None),
            Err(ProviderError::Unsupported(_))
        ));
        assert!(matches!(
            at("letta", None),
            Err(ProviderError::Unsupported(_))
        ));
    }
}
