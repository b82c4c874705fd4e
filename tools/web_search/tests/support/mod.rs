//! Calls the tool as the server does, with a mocked host.

use bulkhead_sdk::http::{Request, Response};
use bulkhead_sdk::serde_json::{self, Value};
use bulkhead_sdk::{Error, Output, json, mock};

/// A success with this body.
pub fn found(body: &str) -> Response {
    answer(200, &[], body)
}

/// An answer.
pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
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
pub fn search(
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
pub fn by(
    provider: &str,
    input: Value,
    response: Response,
) -> (Result<Output, Error>, Vec<Request>) {
    search(&[("BULKHEAD_SEARCH_PROVIDER", provider)], input, response)
}

/// The input of a search that uses every parameter.
pub fn everything() -> Value {
    json!({
        "query": "tide pools", "num_results": 3, "category": "news", "include_text": true,
        "include_domains": ["https://Wikipedia.org/", "*.shore.example"], "exclude_domains": ["bad.example"],
        "start_published_date": "2024-01-01", "end_published_date": "2024-12-31T00:00:00Z", "user_location": "us",
    })
}

/// The body of a request as JSON.
pub fn body(request: &Request) -> Value {
    serde_json::from_slice(request.body.as_deref().expect("a body")).expect("JSON")
}

/// The structured output, which the text repeats.
pub fn structured(result: Result<Output, Error>) -> Value {
    let output = result.expect("an answer");
    let structured = output.structured.clone().expect("structured output");
    assert_eq!(
        serde_json::from_str::<Value>(&output.text()).expect("JSON"),
        structured
    );
    structured
}
