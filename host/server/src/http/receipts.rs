//! Receipts: what calls did and consumed.

use axum::{extract::State, response::Response};
use bulkhead_domain::Outcome;
use bulkhead_store::{ReceiptFilter, StoreError};
use http::StatusCode;
use serde::{Deserialize, de::IntoDeserializer};

use super::{
    AppState,
    error::{self, ErrorBody, Rejection},
    json,
    query::{Params, Path, parse, parse_optional},
    schema,
};

#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Of the component of this digest.
    digest: Option<String>,
    /// Of this tool.
    tool: Option<String>,
    /// On behalf of this agent.
    agent_id: Option<String>,
    /// That ended so, for example `out_of_fuel`.
    outcome: Option<String>,
    /// Of calls that arrived at this time or later (RFC 3339).
    since: Option<String>,
    /// Of calls that arrived before this time (RFC 3339).
    until: Option<String>,
    /// How many at most; 100 where left out, never more than 1000.
    limit: Option<u32>,
    /// Those that follow this receipt.
    after: Option<String>,
}

/// Receipts, the newest call first; those of all calls that were answered before.
#[utoipa::path(
    get,
    path = "/v1/receipts",
    operation_id = "list_receipts",
    tag = "receipts",
    params(ListQuery),
    responses((status = OK, body = Vec<schema::Receipt>), (status = UNPROCESSABLE_ENTITY, body = ErrorBody))
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Params(query): Params<ListQuery>,
) -> Result<Response, Rejection> {
    let filter = ReceiptFilter {
        digest: parse_optional("digest", query.digest.as_deref())?,
        tool: query.tool,
        agent_id: query.agent_id,
        outcome: query.outcome.as_deref().map(outcome).transpose()?,
        since: parse_optional("since", query.since.as_deref())?,
        until: parse_optional("until", query.until.as_deref())?,
        limit: query.limit,
        after: parse_optional("after", query.after.as_deref())?,
    };
    settle(&app).await?;
    Ok(json::respond(
        StatusCode::OK,
        &app.store.receipts(&filter).await?,
    ))
}

fn outcome(text: &str) -> Result<Outcome, Rejection> {
    let deserializer = IntoDeserializer::<serde::de::value::Error>::into_deserializer(text);
    Outcome::deserialize(deserializer)
        .map_err(|error| Rejection::with(&error::INVALID_PARAMETER, format!("outcome: {error}")))
}

/// The receipt of one call.
#[utoipa::path(
    get,
    path = "/v1/receipts/{id}",
    operation_id = "get_receipt",
    tag = "receipts",
    params(("id" = String, Path, description = "receipt-<uuid>")),
    responses((status = OK, body = schema::Receipt), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, Rejection> {
    let parsed = parse("id", &id)?;
    settle(&app).await?;
    let unknown = || Rejection::with(&error::UNKNOWN_RECEIPT, format!("there is no receipt {id}"));
    let receipt = app.store.receipt(&parsed).await?.ok_or_else(unknown)?;
    Ok(json::respond(StatusCode::OK, &receipt))
}

/// Waits until the receipts of calls that have ended are stored. Those that could not be are
/// in the log; the others can be read nevertheless.
async fn settle(app: &AppState) -> Result<(), Rejection> {
    match app.receipts.flush().await {
        Ok(()) | Err(StoreError::Lost { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
