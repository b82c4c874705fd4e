//! Calling a tool that is in the list, wherever it comes from.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use bulkhead_sandbox::{Job, Lineage};
use bulkhead_store::ToolRecord;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{list, run::order, view::Detail};
use crate::{
    app::App,
    calls::CallRequest,
    contract::{Body, Refusal, body::Schema},
    http::AppState,
    source::{
        code, language,
        returned::{Returned, limited},
        run::Request,
    },
};

/// The body of a call.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ToolCall {
    #[serde(default)]
    #[schema(value_type = Object)]
    args: Map<String, Value>,
}

impl Schema for ToolCall {
    const NAME: &str = "ToolCall";
}

/// Calls a tool and answers with its result and the receipt.
#[utoipa::path(
    post,
    path = "/v1/tools/{tool_id}/call",
    operation_id = "call_listed_tool",
    tag = "tools",
    params(("tool_id" = String, Path, description = "the tool's id")),
    request_body = ToolCall,
    responses(
        (status = OK, body = Object, description = "status, func_return, tool_return, stdout, stderr and the receipt"),
        (status = BAD_REQUEST, body = Detail, description = "the source or the schema is wrong, in the words of the contract"),
        (status = NOT_FOUND, body = Detail, description = "there is no such tool"),
        (status = UNPROCESSABLE_ENTITY, body = Detail, description = "the request does not have the form"),
    )
)]
pub(crate) async fn call(
    State(app): State<AppState>,
    Path(tool_id): Path<String>,
    Body(body): Body<ToolCall>,
) -> Result<Json<Value>, Refusal> {
    let tool = list::find(&app, &tool_id).await?;
    let limit = usize::try_from(tool.return_char_limit).unwrap_or(usize::MAX);
    let (returned, receipt) = execute(&app, tool, Value::Object(body.args)).await?;
    let status = returned.status();
    Ok(Json(json!({
        "status": status,
        "func_return": returned.value,
        "tool_return": limited(returned.text, limit, true),
        "stdout": returned.stdout,
        "stderr": returned.stderr,
        "receipt": receipt,
    })))
}

async fn execute(
    app: &Arc<App>,
    tool: ToolRecord,
    args: Value,
) -> Result<(Returned, Value), Refusal> {
    let name = tool.name.clone();
    if let Some(component) = &tool.component {
        let plan = app
            .registry
            .plan(&component.component, &component.tool)
            .await?;
        let lineage = Lineage::default();
        let request = CallRequest {
            input: args.to_string().into(),
            limits: plan.limits.clone(),
            authority: plan.authority(&lineage),
            agent_id: None,
            idempotency_key: None,
            events: None,
            cancel: app.calls.token(),
            lineage,
        };
        let report = app.call(&plan, request).await;
        return Ok((Returned::of(&report, Some(&name)), json!(report.receipt)));
    }
    let is_code = name == code::NAME && tool.tool_type == bulkhead_store::ToolType::LettaBuiltin;
    let request = if is_code {
        let (language, text) = code::input(&args).map_err(Refusal::bad_request)?;
        Request::new(name.clone(), language, text, Job::Run)
    } else {
        Request::of_tool(&tool, &args)?
    };
    let report = app.call_source(request).await?;
    let returned = if is_code {
        code::returned(&report)
    } else {
        Returned::of_source(&report, Some(&name))
    };
    Ok((returned, json!(report.report.receipt)))
}

impl Request {
    /// A call of a tool that was saved from source.
    pub(crate) fn of_tool(tool: &ToolRecord, args: &Value) -> Result<Self, Refusal> {
        let (Some(text), Some(language)) =
            (&tool.source_code, language(tool.source_type.as_deref()))
        else {
            return Err(Refusal::bad_request(format!(
                "the tool '{}' has no source that this server can run",
                tool.name
            )));
        };
        let schema = tool.json_schema.clone().unwrap_or(Value::Null);
        // The source may name the function otherwise than the schema names the tool.
        let function = tool
            .metadata
            .as_ref()
            .and_then(|metadata| metadata["function"].as_str());
        let job = Job::Call {
            order: order(&schema),
        };
        let mut request = Self::new(tool.name.clone(), language, text.clone(), job);
        request.function = Some(function.unwrap_or(&tool.name).to_owned());
        request.tool_id = Some(tool.id.clone());
        request.packages = tool.packages;
        request.input = args.to_string().into();
        Ok(request)
    }
}
