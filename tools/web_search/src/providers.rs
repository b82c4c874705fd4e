//! The providers, one file for each wire format.

mod brave;
mod exa;
mod searxng;
mod tavily;

use bulkhead_sdk::http::{Request, Response};
use bulkhead_sdk::serde_json::{Map, Value};
use bulkhead_sdk::{Error, Upstream};
use serde::de::DeserializeOwned;

use crate::answer::Found;
use crate::config::{Config, Provider};
use crate::query::Query;

/// Milliseconds for one search; the slowest, which writes summaries, takes some seconds.
const TIMEOUT_MS: u32 = 25_000;
/// Characters of a provider's own words in an error.
const MAX_EXCERPT: usize = 300;
/// Waits beyond a day are as good as never.
const MAX_RETRY_AFTER_SECONDS: u32 = 24 * 3600;

/// Asks the provider.
pub(crate) fn search(config: &Config, query: &Query) -> Result<Vec<Found>, Error> {
    match config.provider {
        Provider::Searxng => searxng::search(&config.base, query),
        Provider::Tavily => tavily::search(&config.base, query),
        Provider::Brave => brave::search(&config.base, query),
        Provider::Exa => exa::search(&config.base, query),
    }
}

/// Sends a request and reads the answer's JSON.
fn exchange<T: DeserializeOwned>(provider: Provider, request: Request) -> Result<T, Error> {
    let mut request = request
        .header("accept", "application/json")
        .timeout_ms(TIMEOUT_MS);
    if provider != Provider::Searxng {
        request = request.credential(provider.name());
    }
    let response = request.send()?;
    if !response.is_success() {
        return Err(failure(provider, &response));
    }
    // A list would pass for an answer whose parts are all missing.
    let answer = response.json::<Map<String, Value>>();
    answer
        .and_then(|object| T::deserialize(Value::Object(object)))
        .map_err(|error| {
            Error::Upstream(Upstream {
                status: Some(response.status),
                message: format!(
                    "{} answered with something that is no search result: {error}",
                    provider.name()
                ),
                retry_after_ms: None,
                sent: true,
            })
        })
}

/// What a status that is no success says.
fn failure(provider: Provider, response: &Response) -> Error {
    let name = provider.name();
    let excerpt: String = response.text().trim().chars().take(MAX_EXCERPT).collect();
    match (response.status, provider) {
        (403, Provider::Searxng) => Error::Unauthorized(
            "searxng answered 403: its settings must list json under search.formats, and its limiter must let \
             this server in"
                .to_owned(),
        ),
        (status @ (401 | 403), _) => Error::Unauthorized(format!(
            "{name} answered {status}: check the key that is stored as the credential `{name}`. {excerpt}"
        )),
        (status, _) => Error::Upstream(Upstream {
            status: Some(status),
            message: format!("{name}: {excerpt}"),
            retry_after_ms: retry_after_ms(response),
            sent: true,
        }),
    }
}

/// `retry-after` in milliseconds, in seconds or as a date beside the server's own.
fn retry_after_ms(response: &Response) -> Option<u32> {
    let value = response.header("retry-after")?.trim();
    let seconds = match value.parse::<u32>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let until = httpdate::parse_http_date(value).ok()?;
            let now = httpdate::parse_http_date(response.header("date")?).ok()?;
            u32::try_from(until.duration_since(now).unwrap_or_default().as_secs()).ok()?
        }
    };
    Some(seconds.min(MAX_RETRY_AFTER_SECONDS) * 1000)
}

/// A URL with its query string.
fn with_parameters(url: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{url}?{}", query.finish())
}

/// Reads a list that a provider may send as `null` or leave out.
fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    let list: Option<Vec<T>> = serde::Deserialize::deserialize(deserializer)?;
    Ok(list.unwrap_or_default())
}
