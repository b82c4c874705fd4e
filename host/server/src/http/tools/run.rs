//! Source that is run, or read, and not saved.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use bulkhead_domain::Timestamp;
use bulkhead_sandbox::{Job, Language};
use serde::Deserialize;
use serde_json::{Value, json};

use super::save::{check_npm, check_size, language};
use crate::{
    contract::{Body, Refusal, body::Schema},
    http::AppState,
    source::{
        returned::{Returned, limited},
        run::Request,
    },
};

/// Characters of a result, where no tool says otherwise.
const RETURN_CHARS: usize = 50_000;

/// The body of a run.
#[derive(Deserialize)]
pub(super) struct ToolRunFromSource {
    source_code: String,
    args: Value,
    #[serde(default)]
    env_vars: BTreeMap<String, String>,
    name: Option<String>,
    source_type: Option<String>,
    args_json_schema: Option<Value>,
    json_schema: Option<Value>,
    pip_requirements: Option<Value>,
    npm_requirements: Option<Value>,
}

impl Schema for ToolRunFromSource {
    const NAME: &str = "ToolRunFromSource";
}

/// Runs a function of source.
pub(super) async fn run(
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
            let named = body.name.as_ref().map(|name| json!({ "name": name }));
            let derived = app
                .derive(language, &body.source_code, args.as_ref())
                .await?;
            let function = match named {
                Some(named) => {
                    app.check_source(language, &body.source_code, &named)
                        .await?
                }
                None => derived.function,
            };
            (function, derived.json_schema)
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
    // Ids are the word null, as clients know it.
    json!({
        "id": "null", "date": Timestamp::now(), "name": name, "message_type": "tool_return_message",
        "otid": null, "sender_id": null, "step_id": null, "is_err": null, "seq_id": null, "run_id": null,
        "tool_return": text, "status": status, "tool_call_id": "null",
        "stdout": returned.stdout, "stderr": returned.stderr, "tool_returns": null,
    })
}

/// The arguments in the order of the schema, required ones first.
pub(crate) fn order(json_schema: &Value) -> Vec<String> {
    let parameters = &json_schema["parameters"];
    let required = parameters["required"].as_array().into_iter().flatten();
    let mut order: Vec<String> = required
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    for name in parameters["properties"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
    {
        if !order.contains(name) {
            order.push(name.clone());
        }
    }
    order
}

/// The body of a question for a schema.
#[derive(Deserialize)]
pub(super) struct CodeInput {
    code: String,
    source_type: Option<String>,
}

impl Schema for CodeInput {
    const NAME: &str = "CodeInput";
}

/// The function that a model would be offered.
pub(super) async fn generate_schema(
    State(app): State<AppState>,
    Body(body): Body<CodeInput>,
) -> Result<Json<Value>, Refusal> {
    let language: Language = language(body.source_type.as_deref())?;
    check_size(&body.code)?;
    let derived = app.derive(language, &body.code, None).await?;
    Ok(Json(derived.json_schema))
}
