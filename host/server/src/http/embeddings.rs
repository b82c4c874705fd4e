//! `/v1/embeddings`: what is stored to search by meaning.

use axum::{Json, extract::State};
use http::HeaderMap;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};
use crate::contract::{Refusal, document::Refusals};

/// The header that names the unit.
const UNIT: &str = "storage-unit";
/// The units, each 1024 times the one before it.
const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
const UNIT_DEFAULT: &str = "GB";

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![routes!(total)]
}

/// How much room the vectors of all passages take.
#[utoipa::path(
    get,
    path = "/v1/embeddings/total_storage_size",
    operation_id = "get_total_storage_size",
    tag = "embeddings",
    params(("storage-unit" = Option<String>, Header, description = "B, KB, MB, GB or TB; GB where left out")),
    responses((status = OK, body = f64, content_type = "application/json", description = "the size in that unit"), Refusals)
)]
pub(crate) async fn total(
    State(app): State<AppState>,
    headers: HeaderMap,
) -> Result<Json<f64>, Refusal> {
    let unit = headers.get(UNIT).map(http::HeaderValue::to_str);
    let unit = unit.and_then(Result::ok).unwrap_or(UNIT_DEFAULT);
    let power = UNITS.iter().position(|known| *known == unit);
    let power = power.ok_or_else(|| {
        let units = UNITS.join(", ");
        Refusal::bad_request(format!(
            "INVALID_ARGUMENT: Invalid storage unit: {unit}. Must be one of {units}"
        ))
    })?;
    let bytes = app.store.embedding_bytes().await?;
    #[allow(
        clippy::cast_precision_loss,
        reason = "sizes for people to read, far below 2^53 bytes"
    )]
    let size = (0..power).fold(bytes as f64, |size, _| size / 1024.0);
    Ok(Json(size))
}
