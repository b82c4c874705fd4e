//! What a guest is told when its request does not succeed.

use std::{borrow::Cow, error::Error};

use crate::Scrubber;

/// Characters of an error's text that come from elsewhere: a URL, a TLS library, a server.
const MAX_EXCERPT_CHARS: usize = 200;

/// Why a request did not succeed. No variant holds a secret or an unbounded text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// No grant allows it.
    #[error("{message}; it takes {missing}")]
    Denied {
        /// What was refused.
        message: String,
        /// The grant that would allow it, as the command line takes it.
        missing: String,
    },
    /// The credential is unknown, not granted, or not meant for this request.
    #[error("{0}")]
    Unauthorized(String),
    /// No request can look like this.
    #[error("{0}")]
    Invalid(String),
    /// Nothing came, or not all of it, within the time for it.
    #[error("the request timed out")]
    Timeout,
    /// The answer is larger than what was left of the budget.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// Bytes that were left.
        limit: u64,
    },
    /// The request's body is larger than what was left of the budget.
    #[error("the request's body is larger than {limit} bytes")]
    RequestTooLarge {
        /// Bytes that were left.
        limit: u64,
    },
    /// The call has made all its requests.
    #[error("the call has made all of its {limit} requests")]
    TooManyRequests {
        /// How many there were.
        limit: u64,
    },
    /// The request holds a secret that is not meant for where it goes.
    #[error("the request holds the secret of the credential `{name}`, which is not meant for it")]
    SecretInRequest {
        /// The credential whose secret it is.
        name: String,
    },
    /// The network or the other side failed.
    #[error("{message}")]
    Failed {
        /// What happened.
        message: String,
        /// Whether bytes of the request left: a retry may repeat an effect.
        sent: bool,
    },
}

impl EgressError {
    /// The same error with every secret masked in its texts.
    pub(crate) fn redacted(mut self, scrubber: &Scrubber) -> Self {
        let texts = match &mut self {
            Self::Denied { message, missing } => [Some(message), Some(missing)],
            Self::Unauthorized(message) | Self::Invalid(message) => [Some(message), None],
            Self::Failed { message, .. } => [Some(message), None],
            Self::Timeout
            | Self::TooLarge { .. }
            | Self::RequestTooLarge { .. }
            | Self::TooManyRequests { .. }
            | Self::SecretInRequest { .. } => [None, None],
        };
        for text in texts.into_iter().flatten() {
            if let Cow::Owned(masked) = scrubber.redact_str(text) {
                *text = masked;
            }
        }
        self
    }
}

/// Why no [`Egress`](crate::Egress) could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// TLS can't be set up.
    #[error("TLS can't be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The user agent is no header value.
    #[error("the user agent is no header value")]
    UserAgent,
}

/// The start of `text`, without control characters, so that it can stand in an error.
pub(crate) fn excerpt(text: &str) -> String {
    let visible = text.chars().filter(|c| !c.is_control());
    let mut excerpt: String = visible.take(MAX_EXCERPT_CHARS).collect();
    if text.chars().nth(MAX_EXCERPT_CHARS).is_some() {
        excerpt.push('…');
    }
    excerpt
}

/// The texts of an error and its sources, as one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    excerpt(&text)
}
