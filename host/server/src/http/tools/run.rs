//! Source that is run, or read, and not saved.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use bulkhead_domain::Timestamp;
use bulkhead_sandbox::{Job, Language};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    save::{check_npm, check_size, language},
    view::Requirement,
};
use crate::{
    contract::{Body, Refusal, body::Schema, document::Refusals},
    http::AppState,
    source::{
        returned::{Returned, limited},
        run::{Request, order},
    },
};

/// Characters of a result, where no tool says otherwise.
const RETURN_CHARS: usize = 50_000;

/// The body of a run.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ToolRunFromSource {
    source_code: String,
    #[schema(value_type = Object)]
    args: Value,
    #[serde(default)]
    env_vars: BTreeMap<String, String>,
    name: Option<String>,
    source_type: Option<String>,
    #[schema(value_type = Option<Object>)]
    args_json_schema: Option<Value>,
    #[schema(value_type = Option<Object>)]
    json_schema: Option<Value>,
    #[schema(value_type = Option<Vec<Requirement>>)]
    pip_requirements: Option<Value>,
    #[schema(value_type = Option<Vec<Requirement>>)]
    npm_requirements: Option<Value>,
}

impl Schema for ToolRunFromSource {
    const NAME: &str = "ToolRunFromSource";
}

/// Runs a function of source.
#[utoipa::path(
    post,
    path = "/v1/tools/run",
    operation_id = "run_tool_from_source",
    tag = "tools",
    request_body = ToolRunFromSource,
    responses(
        (status = OK, body = Object, description = "a tool_return_message"),
        Refusals,
    )
)]
pub(crate) async fn run(
    State(app): State<AppState>,
    Body(body): Body<ToolRunFromSource>,
) -> Result<Json<Value>, Refusal> {
    let language = language(body.source_type.as_deref())?;
    check_size(&body.source_code)?;
    check_npm(body.npm_requirements.as_ref())?;
    let (function, json_schema) = match (body.json_schema, &body.args_json_schema) {
        (Some(schema), _) => {
            let function = app
                .check_source(language, &body.source_code, &schema)
                .await?;
            (function, schema)
        }
        (None, args) => {
            let (text, name) = (&body.source_code, body.name.as_deref());
            let derived = app.derive(language, text, args.as_ref(), name).await?;
            (derived.function, derived.json_schema)
        }
    };
    let packages = app.fetch_packages(body.pip_requirements.as_ref()).await?;
    let name = body.name.clone().unwrap_or_else(|| function.clone());
    let job = Job::Call {
        order: order(&json_schema),
    };
    let mut request = Request::new(name, language, body.source_code, job);
    request.function = Some(function);
    request.input = body.args.to_string().into();
    request.variables = body.env_vars.into_iter().collect();
    request.packages = packages;
    let report = app.call_source(request).await?;
    let returned = Returned::of_source(&report, body.name.as_deref());
    Ok(Json(message(body.name.as_deref(), returned)))
}

/// The message that a run answers with.
fn message(name: Option<&str>, returned: Returned) -> Value {
    let status = returned.status();
    let text = limited(returned.text, RETURN_CHARS, false);
    // To the second, and with this zone: dates of messages have another form than those of objects.
    let now = Timestamp::now().to_string();
    let date = format!("{}+00:00", now.split('.').next().unwrap_or_default());
    // Ids are the word null, as clients know it.
    json!({
        "id": "null", "date": date, "name": name, "message_type": "tool_return_message",
        "otid": null, "sender_id": null, "step_id": null, "is_err": null, "seq_id": null, "run_id": null,
        "tool_return": text, "status": status, "tool_call_id": "null",
        "stdout": returned.stdout, "stderr": returned.stderr, "tool_returns": null,
    })
}

/// The body of a question for a schema.
#[derive(Deserialize, ToSchema)]
pub(crate) struct CodeInput {
    code: String,
    source_type: Option<String>,
}

impl Schema for CodeInput {
    const NAME: &str = "CodeInput";
}

/// The function that a model would be offered.
#[utoipa::path(
    post,
    path = "/v1/tools/generate-schema",
    operation_id = "generate_json_schema",
    tag = "tools",
    request_body = CodeInput,
    responses(
        (status = OK, body = Object, description = "the function that a model would be offered"),
        Refusals,
    )
)]
pub(crate) async fn generate_schema(
    State(app): State<AppState>,
    Body(body): Body<CodeInput>,
) -> Result<Json<Value>, Refusal> {
    let language: Language = language(body.source_type.as_deref())?;
    check_size(&body.code)?;
    let derived = app.derive(language, &body.code, None, None).await?;
    Ok(Json(derived.json_schema))
}
