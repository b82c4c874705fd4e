//! Interface `http`.

use super::wit::http::{self, HttpError};
use crate::http::{Error, Request, Response};

pub(crate) fn fetch(request: Request) -> Result<Response, Error> {
    let request = http::Request {
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: request.body,
        timeout_ms: request.timeout_ms,
        credential: request.credential,
    };
    let http::Response {
        status,
        url,
        headers,
        body,
    } = http::fetch(&request).map_err(|error| match error {
        HttpError::Denied(text) => Error::Denied(text),
        HttpError::Unauthorized(text) => Error::Unauthorized(text),
        HttpError::Invalid(text) => Error::Invalid(text),
        HttpError::Timeout => Error::Timeout,
        HttpError::TooLarge(limit) => Error::TooLarge(limit),
        HttpError::Failed(http::Failure { message, sent }) => Error::Failed { message, sent },
    })?;
    Ok(Response {
        status,
        url,
        headers,
        body,
    })
}
