//! HTTP through the host's egress rules.
//!
//! The host follows redirects and checks each one like a request of its own. A credential is
//! named, never held: the host adds it on the way out.
//!
//! ```no_run
//! # fn main() -> Result<(), bulkhead_sdk::Error> {
//! let response = bulkhead_sdk::http::get("https://api.example.com/v1/things")
//!     .header("accept", "application/json")
//!     .credential("example")
//!     .timeout_ms(5_000)
//!     .send()?
//!     .error_for_status()?;
//! let things: Vec<String> = response.json()?;
//! # Ok(())
//! # }
//! ```

use std::borrow::Cow;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Upstream, host};

/// Characters of an answer's body that stand in an error made from it.
const MAX_ERROR_EXCERPT: usize = 500;

/// A request, built step by step and then sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    /// In upper case.
    pub method: String,
    /// Absolute, `http` or `https`.
    pub url: String,
    /// In the order in which they were added.
    pub headers: Vec<(String, String)>,
    /// The body, where there is one.
    pub body: Option<Vec<u8>>,
    /// Milliseconds for the whole exchange; none for what the call has left.
    pub timeout_ms: Option<u32>,
    /// The name of a credential that the host adds.
    pub credential: Option<String>,
    /// Why the request can't be sent, where building it failed.
    fault: Option<String>,
}

/// An answer, of whatever status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Where the answer came from, after redirects.
    pub url: String,
    /// In the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The body, as it came.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No grant allows the request; the text names the grant that is missing.
    #[error("{0}")]
    Denied(String),
    /// The credential is unknown, not granted, or not meant for this host.
    #[error("{0}")]
    Unauthorized(String),
    /// The request is malformed.
    #[error("the request is invalid: {0}")]
    Invalid(String),
    /// The answer took too long.
    #[error("the request timed out")]
    Timeout,
    /// The answer is larger than this many bytes, all that was left of the call's budget.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
    /// The exchange failed.
    #[error("the request failed: {message}")]
    Failed {
        /// What went wrong.
        message: String,
        /// Whether bytes of the request left the host: a retry may repeat an effect.
        sent: bool,
    },
}

/// A GET request.
pub fn get(url: impl Into<String>) -> Request {
    request("GET", url)
}

/// A HEAD request.
pub fn head(url: impl Into<String>) -> Request {
    request("HEAD", url)
}

/// A POST request.
pub fn post(url: impl Into<String>) -> Request {
    request("POST", url)
}

/// A PUT request.
pub fn put(url: impl Into<String>) -> Request {
    request("PUT", url)
}

/// A PATCH request.
pub fn patch(url: impl Into<String>) -> Request {
    request("PATCH", url)
}

/// A DELETE request.
pub fn delete(url: impl Into<String>) -> Request {
    request("DELETE", url)
}

/// A request with any method.
pub fn request(method: impl Into<String>, url: impl Into<String>) -> Request {
    Request {
        method: method.into(),
        url: url.into(),
        headers: Vec::new(),
        body: None,
        timeout_ms: None,
        credential: None,
        fault: None,
    }
}

impl Request {
    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Lets the host add this credential. The tool never sees it.
    pub fn credential(mut self, name: impl Into<String>) -> Self {
        self.credential = Some(name.into());
        self
    }

    /// Limits the whole exchange to so many milliseconds.
    pub fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = Some(timeout_ms);
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Sets the body to JSON, and the content type with it. A value that can't be JSON makes
    /// [`Request::send`] fail.
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => self.header("content-type", "application/json").body(body),
            Err(error) => Self {
                fault: Some(error.to_string()),
                ..self
            },
        }
    }

    /// Sends it and waits for the answer. An answer with a status of 400 and above is an answer.
    pub fn send(self) -> Result<Response, Error> {
        match self.fault {
            Some(fault) => Err(Error::Invalid(fault)),
            None => host::http::fetch(self),
        }
    }
}

impl Response {
    /// The first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.as_str())
    }

    /// The body as text; bytes that are no UTF-8 become replacement characters.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// The body read as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }

    /// Whether the status is 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The answer if it is a success, else the failure that a tool reports for it: 401 and 403
    /// as unauthorized, 404 as not found, the rest as upstream with the beginning of the body.
    pub fn error_for_status(self) -> Result<Self, crate::Error> {
        if self.is_success() {
            return Ok(self);
        }
        let excerpt: String = self.text().trim().chars().take(MAX_ERROR_EXCERPT).collect();
        Err(match self.status {
            401 | 403 => crate::Error::Unauthorized(format!(
                "{} answered {}: {excerpt}",
                self.url, self.status
            )),
            404 => crate::Error::NotFound(self.url),
            status => crate::Error::Upstream(Upstream {
                status: Some(status),
                retry_after_ms: self.retry_after_ms(),
                message: excerpt,
                sent: true,
            }),
        })
    }

    /// `retry-after` in its form of seconds.
    fn retry_after_ms(&self) -> Option<u32> {
        self.header("retry-after")?
            .trim()
            .parse::<u32>()
            .ok()?
            .checked_mul(1_000)
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Denied(text) => Self::Denied(text),
            Error::Unauthorized(text) => Self::Unauthorized(text),
            Error::Invalid(_) => Self::Failed(message),
            // A request that timed out or whose answer was cut may have had its effect.
            Error::Timeout | Error::TooLarge(_) => Self::Upstream(Upstream {
                message,
                sent: true,
                ..Upstream::default()
            }),
            Error::Failed { message, sent } => Self::Upstream(Upstream {
                message,
                sent,
                ..Upstream::default()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Response, get};
    use crate::{Error, Upstream};

    #[test]
    fn a_busy_upstream_says_when_to_come_back() {
        let response = Response {
            status: 503,
            headers: vec![("Retry-After".to_owned(), "2".to_owned())],
            body: b"busy".to_vec(),
            ..Response::default()
        };
        let expected = Upstream {
            status: Some(503),
            message: "busy".to_owned(),
            retry_after_ms: Some(2_000),
            sent: true,
        };
        assert_eq!(response.error_for_status(), Err(Error::Upstream(expected)));
    }

    #[test]
    fn a_body_that_is_no_json_fails_at_sending() {
        let broken = std::collections::BTreeMap::from([(vec![1], 1)]);
        assert!(matches!(
            get("https://example.com").json(&broken).send(),
            Err(super::Error::Invalid(_))
        ));
    }
}
