//! Which provider answers, and where it is.

use bulkhead_sdk::{Error, env};

/// Names the provider.
pub(crate) const PROVIDER: &str = "BULKHEAD_SEARCH_PROVIDER";
/// The address of SearXNG; for the other providers one to use instead of the vendor's.
pub(crate) const URL: &str = "BULKHEAD_SEARCH_URL";

/// A service that searches the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    /// A metasearch engine that runs at its owner's, without a credential.
    Searxng,
    /// tavily.com, credential `tavily`.
    Tavily,
    /// brave.com, credential `brave`.
    Brave,
    /// exa.ai, credential `exa`.
    Exa,
}

/// The provider and its address, without a slash at the end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) provider: Provider,
    pub(crate) base: String,
}

impl Provider {
    /// The name, which is that of its credential as well.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Tavily => "tavily",
            Self::Brave => "brave",
            Self::Exa => "exa",
        }
    }

    /// The vendor's address; none for what everybody runs by themselves.
    fn vendor(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Tavily => Some("https://api.tavily.com"),
            Self::Brave => Some("https://api.search.brave.com"),
            Self::Exa => Some("https://api.exa.ai"),
        }
    }
}

impl Config {
    /// Reads the tool's environment. An address alone means SearXNG.
    pub(crate) fn read() -> Result<Self, Error> {
        let variable = |name| {
            env::var(name)
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
        };
        let url = variable(URL);
        let provider = match variable(PROVIDER) {
            Some(name) => named(&name)?,
            None if url.is_some() => Provider::Searxng,
            None => return Err(Error::failed(unconfigured())),
        };
        let base = match (url, provider.vendor()) {
            (Some(url), _) => url,
            (None, Some(vendor)) => vendor.to_owned(),
            (None, None) => {
                let message = format!(
                    "the search provider is searxng, but {URL} is not set: set it to the address of a SearXNG \
                     whose settings allow the format json, and grant the tool that host and the variable"
                );
                return Err(Error::failed(message));
            }
        };
        if !(base.starts_with("https://") || base.starts_with("http://")) {
            return Err(Error::failed(format!(
                "{URL} is no address that begins with http:// or https://"
            )));
        }
        Ok(Self {
            provider,
            base: base.trim_end_matches('/').to_owned(),
        })
    }
}

fn named(name: &str) -> Result<Provider, Error> {
    let providers = [
        Provider::Searxng,
        Provider::Tavily,
        Provider::Brave,
        Provider::Exa,
    ];
    let found = providers
        .into_iter()
        .find(|provider| provider.name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        Error::failed(format!(
            "{PROVIDER} is `{name}`, which is none of searxng, tavily, brave and exa"
        ))
    })
}

/// What an owner has to do before the tool can search.
fn unconfigured() -> String {
    // What a provider is called, how its key is sent, and its host.
    let vendor = |name: &str, placement: &str, host: &str| {
        format!(
            "`bulkhead tool credential set {name} {placement} --audience {host}` with the key on standard input, and \
             `bulkhead tool grant web_search --env {PROVIDER} --credential {name} --allow-host {host}`"
        )
    };
    format!(
        "no search provider is configured. The owner of the server starts it with \
         BULKHEAD_TOOL_ENV_{PROVIDER}=tavily (or {PROVIDER} = \"tavily\" under [env] in bulkhead.toml), then runs {}. \
         Likewise brave: {}. Likewise exa: {}. Without a key: searxng, with its address in \
         BULKHEAD_TOOL_ENV_{URL}, and `bulkhead tool grant web_search --env {PROVIDER} --env {URL} --allow-host` \
         that address (with --allow-private where it is a private one)",
        vendor("tavily", "--bearer", "api.tavily.com"),
        vendor(
            "brave",
            "--header X-Subscription-Token",
            "api.search.brave.com"
        ),
        vendor("exa", "--header x-api-key", "api.exa.ai"),
    )
}
