//! A request to a provider, before it is sent.

use bytes::Bytes;
use reqwest::{
    Method, Request, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;

use super::failure::failure;
use crate::{
    chat::Endpoint,
    error::{ErrorKind, LlmError},
};

/// How a provider is told the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of its own, in lower case.
    Header(&'static str),
}

/// What kind of error a provider's body means, beyond its status; none where the status says it
/// all. A body that is no JSON comes as a string. Called for refusals only.
pub(crate) type Classify = fn(status: u16, body: &Value) -> Option<ErrorKind>;

/// What is sent, where, and how its refusals are read.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The provider.
    pub(crate) endpoint: &'a Endpoint,
    /// What follows its base URL, with a leading slash; may hold a query.
    pub(crate) path: &'a str,
    /// How the key goes with it, where there is one.
    pub(crate) auth: Auth,
    /// Further headers of the wire format, names in lower case. The endpoint's own go with it and
    /// replace those of the same name.
    pub(crate) headers: &'a [(&'static str, &'a str)],
    /// The JSON document that is posted; none for a GET.
    pub(crate) body: Option<&'a Value>,
    /// How refusals are read.
    pub(crate) classify: Classify,
}

/// A request that can be sent several times.
pub(super) struct Prepared {
    pub(super) url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Prepared {
    /// # Errors
    /// `BadRequest` when the endpoint's URL or headers are none, `Authentication` when its key can
    /// stand in no header.
    pub(super) fn new(call: &Call<'_>, accept: &'static str) -> Result<Self, LlmError> {
        let endpoint = call.endpoint;
        let invalid = |text: &str| failure(endpoint, ErrorKind::BadRequest, text);
        let base = endpoint.base_url.trim_end_matches('/');
        // The base by itself, so that a path is never read as its host.
        let is_base = Url::parse(base)
            .is_ok_and(|base| matches!(base.scheme(), "http" | "https") && base.has_host());
        let url = Url::parse(&format!("{base}{}", call.path))
            .ok()
            .filter(|_| is_base)
            .ok_or_else(|| invalid("its base URL is no http or https URL"))?;

        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let own = endpoint
            .headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()));
        for (name, value) in call.headers.iter().map(|(n, v)| (*n, *v)).chain(own) {
            let (Ok(name), Ok(mut value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(value),
            ) else {
                return Err(invalid(&format!(
                    "`{name}` is no header, or its value can stand in none"
                )));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if let Some((name, value)) = key_header(endpoint, call.auth)? {
            headers.insert(name, value);
        }
        let body = call.body.map(|body| {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Bytes::from(body.to_string())
        });
        Ok(Self { url, headers, body })
    }

    /// A copy to send.
    pub(super) fn request(&self) -> Request {
        let method = if self.body.is_some() {
            Method::POST
        } else {
            Method::GET
        };
        let mut request = Request::new(method, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = self.body.clone().map(Into::into);
        request
    }
}

fn key_header(
    endpoint: &Endpoint,
    auth: Auth,
) -> Result<Option<(HeaderName, HeaderValue)>, LlmError> {
    let Some(key) = endpoint.api_key.as_ref().map(|key| key.trim()) else {
        return Ok(None);
    };
    if key.is_empty() {
        return Ok(None);
    }
    let (name, value) = match auth {
        Auth::Bearer => (
            reqwest::header::AUTHORIZATION,
            HeaderValue::from_str(&format!("Bearer {key}")),
        ),
        Auth::Header(name) => (HeaderName::from_static(name), HeaderValue::from_str(key)),
    };
    let mut value = value.map_err(|_| {
        failure(
            endpoint,
            ErrorKind::Authentication,
            "the key holds characters that no HTTP header can carry",
        )
    })?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}
