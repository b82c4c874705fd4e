//! When a request is sent once more, and how long that waits.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use uuid::Uuid;

use crate::error::{ErrorKind, LlmError};

/// How often a request is sent at most. What vendors' own clients do.
pub(crate) const MAX_TRIES: u32 = 3;
/// The longest wait that a provider may ask for; a person waits for the answer meanwhile. Longer
/// ones are the caller's to decide.
const MAX_WAIT: Duration = Duration::from_secs(8);

/// A try that gave no answer.
pub(crate) struct Refused {
    pub(crate) error: LlmError,
    /// Whether the same request may succeed a moment later.
    pub(crate) passing: bool,
}

impl Refused {
    /// One that stays.
    pub(crate) fn for_good(error: LlmError) -> Self {
        Self {
            error,
            passing: false,
        }
    }

    /// How long to wait before the next try; none where there is none. `tries` counts those made.
    pub(crate) fn wait(&self, tries: u32, backoff: Duration) -> Option<Duration> {
        if !self.passing || tries >= MAX_TRIES {
            return None;
        }
        match self.error.retry_after {
            Some(asked) => (asked <= MAX_WAIT).then_some(asked),
            None => Some(
                backoff
                    .saturating_mul(2_u32.saturating_pow(tries - 1))
                    .min(MAX_WAIT)
                    .mul_f64(jitter()),
            ),
        }
    }
}

/// Whether a refused request may succeed a moment later.
pub(crate) fn is_passing(status: u16, kind: ErrorKind, headers: &HeaderMap) -> bool {
    // OpenAI and Anthropic say so themselves.
    match header(headers, "x-should-retry") {
        Some("true") => return true,
        Some("false") => return false,
        _ => {}
    }
    // An empty account answers 429 as well; no wait fills it.
    if matches!(
        kind,
        ErrorKind::InsufficientCredits | ErrorKind::ContextWindowExceeded
    ) {
        return false;
    }
    matches!(status, 408 | 409 | 429 | 500..)
}

/// How long the provider asks to wait.
pub(crate) fn asked(headers: &HeaderMap) -> Option<Duration> {
    let number = |name| header(headers, name)?.parse::<f64>().ok();
    let seconds = number("retry-after-ms")
        .map(|milliseconds| milliseconds / 1_000.0)
        .or_else(|| number("retry-after"));
    match seconds {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => httpdate::parse_http_date(header(headers, "retry-after")?)
            .ok()?
            .duration_since(SystemTime::now())
            .ok(),
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Between 0.75 and 1, so that callers who failed together don't come back together.
fn jitter() -> f64 {
    let byte = Uuid::new_v4().into_bytes()[0];
    1.0 - f64::from(byte) / 255.0 / 4.0
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    fn refused(retry_after: Option<Duration>) -> Refused {
        Refused {
            error: LlmError {
                kind: ErrorKind::RateLimit,
                provider: String::new(),
                status: Some(429),
                message: String::new(),
                retry_after,
                partial: false,
            },
            passing: true,
        }
    }

    #[test]
    fn waits_double_and_vary_by_a_quarter() {
        let backoff = Duration::from_millis(500);
        for (tries, least, most) in [(1, 375, 500), (2, 750, 1_000)] {
            let wait = refused(None).wait(tries, backoff).unwrap();
            assert!(
                (least..=most).contains(&wait.as_millis()),
                "{wait:?} after {tries}"
            );
        }
        assert_eq!(refused(None).wait(MAX_TRIES, backoff), None);
    }

    #[test]
    fn a_wait_that_the_provider_asks_for_is_kept_or_left_to_the_caller() {
        let backoff = Duration::from_millis(1);
        let asked_for = |seconds| refused(Some(Duration::from_secs(seconds))).wait(1, backoff);
        assert_eq!(asked_for(8), Some(Duration::from_secs(8)));
        assert_eq!(asked_for(9), None);
    }

    #[test]
    fn waits_come_in_milliseconds_seconds_and_dates() {
        let both = headers(&[("retry-after-ms", "1500"), ("retry-after", "7")]);
        assert_eq!(asked(&both), Some(Duration::from_millis(1_500)));
        let seconds = headers(&[("retry-after", "0.5")]);
        assert_eq!(asked(&seconds), Some(Duration::from_millis(500)));
        let date = headers(&[("retry-after", "Fri, 01 Jan 2100 00:00:00 GMT")]);
        assert!(asked(&date).unwrap() > Duration::from_hours(24));
        for nonsense in ["-1", "soon", "NaN", "Thu, 01 Jan 1970 00:00:00 GMT"] {
            assert_eq!(
                asked(&headers(&[("retry-after", nonsense)])),
                None,
                "{nonsense}"
            );
        }
    }

    #[test]
    fn an_empty_account_is_not_asked_again() {
        let none = HeaderMap::new();
        assert!(is_passing(429, ErrorKind::RateLimit, &none));
        assert!(!is_passing(429, ErrorKind::InsufficientCredits, &none));
        assert!(!is_passing(400, ErrorKind::BadRequest, &none));
        let no = headers(&[("x-should-retry", "false")]);
        assert!(!is_passing(500, ErrorKind::Server, &no));
    }
}
