//! What routes of the contract have in common in the document of the API.
#![allow(
    dead_code,
    reason = "types that stand for JSON in the document of the API"
)]

use utoipa::{IntoResponses, ToSchema};

/// A refusal of the V1 API.
#[derive(ToSchema)]
pub(crate) struct Detail {
    /// What was wrong.
    detail: String,
}

/// How routes of the contract refuse; name it among a route's `responses`.
#[derive(IntoResponses)]
pub(crate) enum Refusals {
    /// what is asked for can't be done, in the words of the contract
    #[response(status = 400)]
    BadRequest(Detail),
    /// there is no such thing
    #[response(status = 404)]
    NotFound(Detail),
    /// something else has what must be unique, a name for example
    #[response(status = 409)]
    Conflict(Detail),
    /// the request does not have the form; every place where it does not is in the text
    #[response(status = 422)]
    Unprocessable(Detail),
}
