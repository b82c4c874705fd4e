//! The request and its answer.

use bulkhead_sdk::http::{self, Response};
use bulkhead_sdk::{Error, Upstream};
use url::Url;

use crate::media_type::{self, Kind};
use crate::{charset, content_encoding};

/// Bytes of a document that are read. The longest articles have 2 MB; parsing more would cost a
/// call's fuel and memory for text that no model reads.
const MAX_DOCUMENT: usize = 4 << 20;
/// Tells servers what to send, best first.
const ACCEPT: &str = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,\
                      application/json;q=0.8,application/xml;q=0.8,*/*;q=0.5";
/// Says who asks. Many servers refuse clients without the first word.
const USER_AGENT: &str = "Mozilla/5.0 (compatible; Bulkhead/0.1; fetch_webpage)";
/// Waits in the header beyond this are as good as never.
const MAX_RETRY_AFTER_SECONDS: u32 = 7 * 24 * 3600;

/// A document as text.
#[derive(Debug)]
pub(crate) struct Document {
    /// Where it came from, after redirects.
    pub(crate) url: String,
    /// How to read it.
    pub(crate) kind: Kind,
    /// The text.
    pub(crate) text: String,
    /// Whether only its beginning was read.
    pub(crate) cut: bool,
}

/// Fetches a document.
pub(crate) fn document(url: &str) -> Result<Document, Error> {
    let url = checked(url)?;
    let response = http::get(url)
        .header("accept", ACCEPT)
        .header("accept-encoding", "identity")
        .header("user-agent", USER_AGENT)
        .send()?;
    read(response)
}

/// The address in its normal form, without its fragment, if a page can be there.
fn checked(text: &str) -> Result<String, Error> {
    let mut url = Url::parse(text.trim()).map_err(|error| {
        Error::invalid(
            "/url",
            format!("is no absolute URL, such as https://example.com/: {error}"),
        )
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!(
            "has the scheme `{}`; only http and https can be fetched",
            url.scheme()
        );
        return Err(Error::invalid("/url", message));
    }
    url.set_fragment(None);
    Ok(url.into())
}

fn read(response: Response) -> Result<Document, Error> {
    if !response.is_success() {
        return Err(failure(&response));
    }
    let content_type = response.header("content-type").unwrap_or("").to_owned();
    let encoding = response.header("content-encoding").unwrap_or("").to_owned();
    let (body, cut) =
        content_encoding::decode(&response.body, &encoding, MAX_DOCUMENT).map_err(Error::failed)?;
    let essence = media_type::essence(&content_type);
    let Some(kind) = media_type::kind(&essence, &body) else {
        let essence = if essence.is_empty() {
            "of an unknown media type"
        } else {
            &essence
        };
        let message = format!(
            "{} is {essence} ({} bytes), not a text: fetch_webpage reads HTML, plain text, JSON and XML",
            response.url,
            response.body.len()
        );
        return Err(Error::Failed(message));
    };
    let text = charset::decode(&body, &content_type);
    Ok(Document {
        url: response.url,
        kind,
        text,
        cut,
    })
}

/// What a status that is no success says.
fn failure(response: &Response) -> Error {
    let meaning = match response.status {
        300..=399 => "a redirect that leads nowhere",
        401 => "a login is needed",
        402 => "a payment is needed",
        403 => "forbidden",
        404 => "the page does not exist",
        410 => "the page is gone",
        429 => "too many requests",
        451 => "unavailable for legal reasons",
        400..=499 => "the server refuses the request",
        500..=599 => "the server failed",
        _ => "an unexpected answer",
    };
    Error::Upstream(Upstream {
        status: Some(response.status),
        message: format!("{}: {meaning}", response.url),
        retry_after_ms: retry_after_ms(response),
        sent: true,
    })
}

/// `retry-after` in milliseconds, in seconds or as a date beside the server's own.
fn retry_after_ms(response: &Response) -> Option<u32> {
    let value = response.header("retry-after")?.trim();
    let seconds = match value.parse::<u32>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let until = httpdate::parse_http_date(value).ok()?;
            let now = httpdate::parse_http_date(response.header("date")?).ok()?;
            let wait = until.duration_since(now).unwrap_or_default();
            u32::try_from(wait.as_secs()).ok()?
        }
    };
    Some(seconds.min(MAX_RETRY_AFTER_SECONDS) * 1000)
}
