//! Bodies of requests, checked before they are read.

use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Refusal, check};
use crate::http::{
    error::{self, Rejection},
    json,
};

/// What a body is read as.
pub(crate) trait Schema: DeserializeOwned {
    /// Its name in `bodies.json`.
    const NAME: &str;
}

/// A JSON body, checked and converted as the contract says, then read as `T`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: Schema, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let bytes = json::read(request).await?;
        read(&json::parse(&bytes)?).map(Self)
    }
}

/// A value as `T`.
pub(crate) fn read<T: Schema>(value: &Value) -> Result<T, Refusal> {
    let checked = check::check(T::NAME, value).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(check::Fault::repr).collect();
        Refusal::invalid(&faults, &[])
    })?;
    serde_json::from_value(checked).map_err(|refused| {
        Rejection::with(
            &error::INVALID_BODY,
            format!("the body is malformed: {refused}"),
        )
        .into()
    })
}
