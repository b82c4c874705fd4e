//! Why a server gave no answer.

use bulkhead_egress::EgressError;

/// Characters that are shown of a text of a server.
const EXCERPT_MAX: usize = 400;

/// Why a server gave no answer, or none that can be used. No variant holds a secret or an unbounded
/// text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// It could not be reached or greeted; what was asked was not sent.
    #[error("{0}")]
    Connect(Box<Self>),
    /// The request did not leave, or its connection failed.
    #[error("{0}")]
    Request(#[from] EgressError),
    /// It took longer than it may.
    #[error("no answer came within {0} seconds")]
    Timeout(u64),
    /// It answered with a status that means failure.
    #[error("it answered with the status {status}{text}")]
    Status {
        /// The status.
        status: u16,
        /// What it said, after a colon; or nothing.
        text: String,
    },
    /// It sends on to another origin, for which nobody registered it.
    #[error("it redirects to {0}; register that address if it is meant")]
    Redirect(String),
    /// Its answer is larger than this client takes.
    #[error("its answer is larger than {0} bytes")]
    TooLarge(u64),
    /// What it says is not the protocol.
    #[error("its answer is not what the protocol says: {0}")]
    Protocol(String),
    /// It answered a request with an error of its own.
    #[error("it answered with the error {code}: {message}")]
    Refused {
        /// The code, as JSON-RPC has it.
        code: i64,
        /// Its words.
        message: String,
    },
    /// It no longer knows the session, and did nothing.
    #[error("it no longer knows the session")]
    SessionExpired,
    /// As many operations go on as there may at once.
    #[error("too many requests to MCP servers go on at once; try again later")]
    Busy,
}

impl McpError {
    /// A protocol error with the host's own words.
    pub(crate) fn protocol(text: impl Into<String>) -> Self {
        Self::Protocol(text.into())
    }

    /// The same error, of a server that could not be greeted.
    pub(crate) fn connecting(self) -> Self {
        match self {
            Self::Connect(_) | Self::Busy => self,
            other => Self::Connect(Box::new(other)),
        }
    }

    /// What happened in the host's own words, without those of the server.
    pub fn host_words(&self) -> String {
        match self {
            Self::Connect(inner) => inner.host_words(),
            Self::Status { status, .. } => format!("the server answered with the status {status}"),
            Self::Redirect(_) => "the server redirects to another origin".to_owned(),
            Self::Protocol(_) => "the server's answer is not what the protocol says".to_owned(),
            Self::Refused { code, .. } => format!("the server answered with the error {code}"),
            other => other.to_string(),
        }
    }

    /// Whether what was asked was not sent, so that it can be asked again without a second effect.
    pub fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Connect(_)
                | Self::Busy
                | Self::Request(
                    EgressError::Denied { .. }
                        | EgressError::Unauthorized(_)
                        | EgressError::Invalid(_)
                        | EgressError::Failed { sent: false, .. },
                )
        )
    }

    /// Why the egress let nothing out, where it is that.
    pub fn denial(&self) -> Option<String> {
        match self {
            Self::Connect(inner) => inner.denial(),
            Self::Request(error @ EgressError::Denied { .. }) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Whether time ran out.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Connect(inner) => inner.is_timeout(),
            Self::Request(EgressError::Timeout) | Self::Timeout(_) => true,
            _ => false,
        }
    }

    /// Whether a limit on bytes was reached.
    pub fn is_too_large(&self) -> bool {
        match self {
            Self::Connect(inner) => inner.is_too_large(),
            Self::TooLarge(_)
            | Self::Request(
                EgressError::TooLarge { .. }
                | EgressError::RequestTooLarge { .. }
                | EgressError::TooManyRequests { .. },
            ) => true,
            _ => false,
        }
    }

    /// Whether it said something that is not the protocol.
    pub fn is_protocol(&self) -> bool {
        match self {
            Self::Connect(inner) => inner.is_protocol(),
            Self::Protocol(_) | Self::Redirect(_) => true,
            _ => false,
        }
    }
}

/// The beginning of a text of a server, without control characters.
pub(crate) fn excerpt(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut excerpt: String = visible.take(EXCERPT_MAX).collect();
    if text.chars().nth(EXCERPT_MAX).is_some() {
        excerpt.push('…');
    }
    excerpt
}
