//! Whether a provider takes a key: it is asked.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_llm::{ErrorKind, catalog::Provider};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{keyed, read::find, save::possible};
use crate::{
    agents::models,
    app::App,
    contract::{Refusal, body::Schema, document::Refusals},
    http::{AppState, components::Message, missing, query::Path},
};

/// What is to be checked.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ProviderCheck {
    /// openai, anthropic, google_ai …
    provider_type: String,
    #[serde(skip)]
    #[allow(dead_code, reason = "it stands for a key in the document of the API")]
    api_key: String,
    /// where it is, where that is not where its type has it
    base_url: Option<String>,
}

impl Schema for ProviderCheck {
    const NAME: &str = "ProviderCheck";
}

/// Asks a provider whether it takes a key.
#[utoipa::path(
    post,
    path = "/v1/providers/check",
    operation_id = "check_provider",
    tag = "providers",
    request_body = ProviderCheck,
    responses(
        (status = OK, body = Message, description = "it does"),
        (status = UNAUTHORIZED, description = "it does not"),
        Refusals,
    )
)]
pub(crate) async fn check(
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<Message>, Refusal> {
    let (body, keys) = keyed::read::<ProviderCheck>(request).await?;
    let provider = possible(&body.provider_type, &keys.api_key, body.base_url.as_deref())?;
    asked(&app, &provider).await
}

/// Asks a stored provider whether it takes its key.
#[utoipa::path(
    post,
    path = "/v1/providers/{provider_id}/check",
    operation_id = "check_existing_provider",
    tag = "providers",
    params(("provider_id" = String, Path, description = "the provider's id")),
    responses(
        (status = OK, body = Message, description = "it does"),
        (status = UNAUTHORIZED, description = "it does not"),
        Refusals,
    )
)]
pub(crate) async fn check_stored(
    State(app): State<AppState>,
    Path(provider_id): Path<String>,
) -> Result<Json<Message>, Refusal> {
    let record = find(&app, &provider_id).await?;
    let keys = app.store.provider_keys(&record.id).await?;
    let keys = keys.ok_or_else(|| missing::object("Provider", record.id))?;
    let provider = models::provider(&record, keys)
        .map_err(|error| Refusal::bad_request(format!("INVALID_ARGUMENT: {error}")))?;
    asked(&app, &provider).await
}

/// What the provider said. That it could not be asked is no sign of a good key either, and clients
/// know one status for a check that failed.
async fn asked(app: &App, provider: &Provider) -> Result<Json<Message>, Refusal> {
    let kind = &provider.provider_type;
    match app.models.catalog().check(provider).await {
        Ok(()) => Ok(Json(Message {
            message: format!("Valid api key for provider_type={kind}"),
        })),
        Err(error) => {
            let refuses = matches!(
                error.kind,
                ErrorKind::Authentication | ErrorKind::PermissionDenied
            );
            let what = match refuses {
                true => "Invalid API key for",
                false => "No answer to check the API key of",
            };
            let detail = format!("{what} provider_type={kind}: {error}");
            let body = json!({ "detail": detail });
            Err(Refusal::with(StatusCode::UNAUTHORIZED, body))
        }
    }
}
