//! Parameters of path and query, with typed refusals.

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::error::{self, Rejection};

/// The query as `T`. Not named as axum's is, since utoipa would describe its fields twice.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        query.map(|query| Self(query.0)).map_err(|refused| {
            let message = std::error::Error::source(&refused).map(ToString::to_string);
            let message = message.unwrap_or_else(|| refused.body_text());
            Rejection::with(
                &error::INVALID_PARAMETER,
                format!("the query is malformed: {message}"),
            )
        })
    }
}

/// The path's parameters as `T`.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|path| Self(path.0)).map_err(|refused| {
            Rejection::with(
                &error::INVALID_PARAMETER,
                format!("the path is malformed: {}", refused.body_text()),
            )
        })
    }
}

/// A part of the path or the query as an id, a digest, a point in time.
pub(crate) fn parse<T>(name: &str, text: &str) -> Result<T, Rejection>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|refused: T::Err| {
        Rejection::with(&error::INVALID_PARAMETER, format!("{name}: {refused}"))
    })
}

/// As [`parse`], for what may be left out.
pub(crate) fn parse_optional<T>(name: &str, text: Option<&str>) -> Result<Option<T>, Rejection>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    text.map(|text| parse(name, text)).transpose()
}
