//! `bulkhead:tool/http`: requests through the egress rules.

use std::time::Duration;

use bulkhead_domain::HostCallOutcome;
use bulkhead_egress::{EgressError, Request};

use super::wit::http::{Failure, Host, HttpError, Request as WitRequest, Response as WitResponse};
use crate::state::CallState;

impl Host for CallState {
    async fn fetch(
        &mut self,
        request: WitRequest,
    ) -> wasmtime::Result<Result<WitResponse, HttpError>> {
        let target = format!("{} {}", request.method, without_query(&request.url));
        let bytes = request.body.as_ref().map_or(0, Vec::len);
        self.breathe(bytes).await;
        let begun = self.recorder.begin("http", "fetch", Some(&target), bytes);
        // The call's own deadline is the longest that any request may take.
        let asked = request
            .timeout_ms
            .map(|millis| Duration::from_millis(millis.into()));
        let remaining = self.context.remaining();
        let answer = self
            .session
            .fetch(Request {
                method: request.method,
                url: request.url,
                headers: request.headers,
                body: request.body.map(Into::into),
                timeout: Some(asked.map_or(remaining, |asked| asked.min(remaining))),
                credential: request.credential,
            })
            .await;
        Ok(match answer {
            Ok(response) => {
                self.recorder
                    .end(begun, response.body.len(), HostCallOutcome::Ok);
                Ok(WitResponse {
                    status: response.status,
                    url: response.url,
                    headers: response.headers,
                    body: response.body.to_vec(),
                })
            }
            Err(error) => {
                let denial = denial(&error);
                let outcome = match denial {
                    Some(_) => HostCallOutcome::Denied,
                    None => HostCallOutcome::Failed,
                };
                self.recorder.end(begun, 0, outcome);
                if let Some((capability, message)) = denial {
                    self.recorder.deny(capability, message);
                }
                Err(to_guest(error))
            }
        })
    }
}

/// What the receipt says of a refusal; none for other errors.
pub(super) fn denial(error: &EgressError) -> Option<(&'static str, String)> {
    match error {
        EgressError::Denied { .. } => Some(("http", error.to_string())),
        EgressError::Unauthorized(_) => Some(("credential", error.to_string())),
        EgressError::SecretInRequest { .. } => Some(("http", error.to_string())),
        _ => None,
    }
}

fn to_guest(error: EgressError) -> HttpError {
    match error {
        EgressError::Denied { .. } | EgressError::SecretInRequest { .. } => {
            HttpError::Denied(error.to_string())
        }
        EgressError::Unauthorized(message) => HttpError::Unauthorized(message),
        EgressError::Invalid(message) => HttpError::Invalid(message),
        EgressError::Timeout => HttpError::Timeout,
        EgressError::TooLarge { limit } => HttpError::TooLarge(limit),
        EgressError::Failed { message, sent } => HttpError::Failed(Failure { message, sent }),
        other => HttpError::Failed(Failure {
            message: other.to_string(),
            sent: true,
        }),
    }
}

/// A URL without what may hold secrets: user info, query, fragment.
pub(super) fn without_query(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_query;

    #[test]
    fn a_target_shows_neither_user_info_nor_query() {
        assert_eq!(
            without_query("https://u:p@h.example/a?k=v#f"),
            "https://h.example/a"
        );
        assert_eq!(without_query("https://h.example?k=v"), "https://h.example");
        assert_eq!(without_query("nonsense?x"), "nonsense");
    }
}
