//! Calls the tool as the server does, with a mocked host.

use bulkhead_sdk::http::Response;
use bulkhead_sdk::{Error, json, mock};

/// An answer with these headers.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Response {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Response {
        status,
        url: "https://example.com/dir/page".to_owned(),
        headers: headers.collect(),
        body: body.into(),
    }
}

/// What the tool makes of an answer.
pub(crate) fn fetch_with(
    response: Response,
    input: bulkhead_sdk::serde_json::Value,
) -> Result<String, Error> {
    let _host = mock::Host::new()
        .http(move |_| Ok(response.clone()))
        .install();
    let output = mock::call(tool_fetch_webpage::TOOLS, "fetch_webpage", input)?;
    Ok(output.text())
}

/// What the tool makes of an answer, with default parameters.
pub(crate) fn fetch(response: Response) -> Result<String, Error> {
    fetch_with(response, json!({ "url": "https://example.com/dir/page" }))
}

/// What the tool makes of a page.
pub(crate) fn page(html: &str) -> String {
    fetch(answer(
        200,
        &[("Content-Type", "text/html; charset=utf-8")],
        html,
    ))
    .expect("a page")
}
