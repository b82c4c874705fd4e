//! The providers that the server's environment names, by the variables that vendors' own clients
//! read.

use url::Url;
use zeroize::Zeroizing;

use super::{
    kind,
    provider::{Provider, ProviderError},
};

/// A variable that names no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {source}")]
pub struct SettingError {
    /// The variable.
    pub variable: String,
    /// What is wrong with its value.
    pub source: ProviderError,
}

/// A provider and what brings it about. Of several variables the first that is set counts.
struct Source {
    name: &'static str,
    provider_type: &'static str,
    keys: &'static [&'static str],
    addresses: &'static [&'static str],
}

const fn hosted(name: &'static str, keys: &'static [&'static str]) -> Source {
    Source {
        name,
        provider_type: name,
        keys,
        addresses: &[],
    }
}

/// In the order in which they are listed.
static SOURCES: &[Source] = &[
    Source {
        addresses: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        ..hosted("openai", &["OPENAI_API_KEY"])
    },
    Source {
        addresses: &["ANTHROPIC_BASE_URL"],
        ..hosted("anthropic", &["ANTHROPIC_API_KEY"])
    },
    Source {
        addresses: &["GEMINI_BASE_URL"],
        ..hosted("google_ai", &["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    },
    Source {
        addresses: &["OLLAMA_BASE_URL", OLLAMA_HOST],
        ..hosted("ollama", &[])
    },
    Source {
        addresses: &["VLLM_API_BASE"],
        ..hosted("vllm", &[])
    },
    Source {
        addresses: &["LMSTUDIO_BASE_URL"],
        ..hosted("lmstudio_openai", &[])
    },
    // The wire has no type of its own for this server, which speaks OpenAI's format.
    Source {
        provider_type: "openai",
        addresses: &["LLAMACPP_BASE_URL"],
        ..hosted("llamacpp", &[])
    },
    hosted("groq", &["GROQ_API_KEY"]),
    hosted("deepseek", &["DEEPSEEK_API_KEY"]),
    hosted("together", &["TOGETHER_API_KEY"]),
    hosted("xai", &["XAI_API_KEY"]),
    hosted("mistral", &["MISTRAL_API_KEY"]),
    hosted("openrouter", &["OPENROUTER_API_KEY"]),
];

/// Ollama's own variable: a host or a port will do.
const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// The providers whose key or address `lookup` knows; empty values count as unset.
///
/// # Errors
/// Names the first variable whose value is no address.
pub(super) fn providers(
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Vec<Provider>, SettingError> {
    let set = |variable: &&'static str| {
        let value = lookup(variable).filter(|value| !value.trim().is_empty())?;
        Some((*variable, value))
    };
    let mut providers = Vec::new();
    for source in SOURCES {
        let key = source.keys.iter().find_map(set);
        let address = source.addresses.iter().find_map(set);
        let Some(kind) = kind::of(source.provider_type) else {
            continue;
        };
        if key.is_none() && address.is_none() {
            continue;
        }
        let key = key.map(|(_, value)| Zeroizing::new(value.trim().to_owned()));
        let (variable, url) = match address {
            Some((OLLAMA_HOST, host)) => (OLLAMA_HOST, Some(of_host(&host))),
            Some((variable, url)) => (variable, Some(url)),
            None => ("", None),
        };
        let provider =
            Provider::of_kind(kind, source.name, key, url.as_deref()).map_err(|source| {
                SettingError {
                    variable: variable.to_owned(),
                    source,
                }
            })?;
        providers.push(provider);
    }
    Ok(providers)
}

/// An address from what Ollama's server is told to listen on: `0.0.0.0`, `:11434`, `host:port`, or
/// an address already.
fn of_host(host: &str) -> String {
    let host = host.trim();
    let whole = if host.contains("://") {
        host.to_owned()
    } else if let Some(port) = host.strip_prefix(':') {
        format!("http://127.0.0.1:{port}")
    } else {
        format!("http://{host}")
    };
    let Ok(mut url) = Url::parse(&whole) else {
        return whole;
    };
    if url.host_str() == Some("0.0.0.0") && url.set_host(Some("127.0.0.1")).is_err() {
        return whole;
    }
    let names_port = whole.trim_end_matches('/').ends_with(":80");
    if url.scheme() == "http" && url.port().is_none() && !names_port {
        // The port is Ollama's, unlike that of other addresses.
        if url.set_port(Some(11_434)).is_err() {
            return whole;
        }
    }
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Vec<Provider>, SettingError> {
        providers(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_key_or_an_address_makes_a_provider() {
        let providers = with(&[
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
            ("GOOGLE_API_KEY", "g-key"),
            ("LLAMACPP_BASE_URL", "http://127.0.0.1:8080/v1"),
            ("ANTHROPIC_API_KEY", "  "),
        ])
        .unwrap();
        let seen: Vec<_> = providers
            .iter()
            .map(|p| {
                (
                    p.name.as_str(),
                    p.endpoint.base_url.as_str(),
                    p.endpoint.api_key.is_some(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("openai", "http://127.0.0.1:9/v1", false),
                (
                    "google_ai",
                    "https://generativelanguage.googleapis.com",
                    true
                ),
                ("llamacpp", "http://127.0.0.1:8080/v1", false),
            ]
        );
    }

    #[test]
    fn the_first_name_of_a_variable_wins_over_its_alias() {
        let providers = with(&[
            ("OPENAI_API_BASE", "http://old.example/v1"),
            ("OPENAI_BASE_URL", "http://new.example/v1"),
        ]);
        assert_eq!(
            providers.unwrap()[0].endpoint.base_url,
            "http://new.example/v1"
        );
    }

    #[test]
    fn a_host_is_enough_for_ollama() {
        for (host, url) in [
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            (":1234", "http://127.0.0.1:1234/v1"),
            ("box:99", "http://box:99/v1"),
            ("http://box:80", "http://box/v1"),
            ("https://box.example", "https://box.example/v1"),
        ] {
            let providers = with(&[("OLLAMA_HOST", host)]).unwrap();
            assert_eq!(providers[0].endpoint.base_url, url, "{host}");
        }
    }

    #[test]
    fn a_variable_that_is_no_address_is_named() {
        let error = with(&[("VLLM_API_BASE", "localhost")]).unwrap_err();
        assert!(
            error.to_string().starts_with("VLLM_API_BASE: 'localhost'"),
            "{error}"
        );
    }
}
