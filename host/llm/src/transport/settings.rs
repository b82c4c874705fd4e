//! How long a provider is waited for.

use std::time::Duration;

/// Time-outs and waits of requests to providers. The defaults suit hosted providers and local
/// servers that load a model first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Until a connection stands, TLS included. 10 s.
    pub connect_timeout: Duration,
    /// Until a whole answer that is not streamed is there, or until a streamed one begins; repeats
    /// and the waits between them included. 600 s: what vendors' own clients wait.
    pub answer_timeout: Duration,
    /// Between two pieces of a stream, keep-alive comments included. 120 s: reasoning models are
    /// silent for about a minute at times.
    pub silence_timeout: Duration,
    /// A whole stream, from its request to its end. An hour: longer than any answer that fits into
    /// a model's limits, so that comments alone keep no request alive for ever.
    pub stream_timeout: Duration,
    /// Before the first repeat of a request; doubled for each further one. 500 ms.
    pub backoff: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_mins(10),
            silence_timeout: Duration::from_mins(2),
            stream_timeout: Duration::from_hours(1),
            backoff: Duration::from_millis(500),
        }
    }
}
