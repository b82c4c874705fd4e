//! Calls the tool as the server does, with a mocked host.

use bulkhead_sdk::http::{Request, Response};
use bulkhead_sdk::serde_json::Value;
use bulkhead_sdk::{Error, Output, mock};

/// A success with this body.
pub(crate) fn found(body: &str) -> Response {
    answer(200, &[], body)
}

/// An answer.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Response {
        status,
        headers: headers.collect(),
        body: body.into(),
        ..Response::default()
    }
}

/// What a search with this environment makes of the answer, and what it asked for.
pub(crate) fn search(
    env: &[(&str, &str)],
    input: Value,
    response: Response,
) -> (Result<Output, Error>, Vec<Request>) {
    let mut host = mock::Host::new().http(move |_| Ok(response.clone()));
    for (name, value) in env {
        host = host.env(*name, *value);
    }
    let host = host.install();
    let result = mock::call(tool_web_search::TOOLS, "web_search", input);
    (result, host.requests())
}

/// A search by a provider at its vendor's.
pub(crate) fn by(
    provider: &str,
    input: Value,
    response: Response,
) -> (Result<Output, Error>, Vec<Request>) {
    search(&[("BULKHEAD_SEARCH_PROVIDER", provider)], input, response)
}
