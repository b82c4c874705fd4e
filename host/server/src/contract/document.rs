//! What routes of the contract have in common in the document of the API.
#![allow(
    dead_code,
    reason = "types that stand for JSON in the document of the API"
)]

use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

/// A refusal of the V1 API.
#[derive(Serialize, ToSchema)]
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
    /// something else has what must be unique, a name for example, or the agent belongs to a project
    /// of the platform, which decides on that
    #[response(status = 409)]
    Conflict(Detail),
    /// the request does not have the form; every place where it does not is in the text
    #[response(status = 422)]
    Unprocessable(Detail),
}

/// A failure of a model, or of the one who serves it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelFailure {
    error: ModelFault,
}

/// What failed.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelFault {
    /// Stable, for programs: `llm_error`, `llm_rate_limit` and others.
    r#type: String,
    /// What it means, for people.
    message: String,
    /// What exactly happened.
    detail: String,
}

/// A call that waits for somebody's word.
#[derive(Serialize, ToSchema)]
pub(crate) struct PendingApproval {
    /// `PENDING_APPROVAL`.
    code: String,
    /// What to do.
    message: String,
    /// The message that asks.
    pending_request_id: String,
}

/// Why an agent takes no message now.
#[derive(Serialize, ToSchema)]
pub(crate) struct Occupied {
    detail: OccupiedDetail,
    /// The run that goes on, where that is why.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
}

/// A text, or the call that waits.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum OccupiedDetail {
    Text(String),
    PendingApproval(PendingApproval),
}

/// A refusal of this server, or what a model's provider answered it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum RunRefusal {
    Detail(Detail),
    ModelFailure(ModelFailure),
}

/// How routes of the contract refuse that ask a model; instead of [`Refusals`].
#[derive(IntoResponses)]
pub(crate) enum RunRefusals {
    /// what is asked for can't be done, or the provider says so of what it was asked
    #[response(status = 400)]
    BadRequest(RunRefusal),
    /// there is no token that counts, or the provider takes the server's key for none
    #[response(status = 401)]
    Unauthorized(RunRefusal),
    /// the account at the provider is empty
    #[response(status = 402)]
    InsufficientCredits(ModelFailure),
    /// there is no such thing
    #[response(status = 404)]
    NotFound(Detail),
    /// the agent is occupied, paused or terminated, or belongs to a project that counts what it costs
    #[response(status = 409)]
    Conflict(Occupied),
    /// the request does not have the form; every place where it does not is in the text
    #[response(status = 422)]
    Unprocessable(Detail),
    /// too many runs go on, or the provider says that of its requests
    #[response(status = 429)]
    TooMany(RunRefusal),
    /// the model or this server failed
    #[response(status = 500)]
    Failed(RunRefusal),
    /// the provider, the database or this server has no room now; try again in a moment
    #[response(status = 503)]
    Unavailable(Detail),
    /// the provider did not answer in time
    #[response(status = 504)]
    Timeout(ModelFailure),
}
