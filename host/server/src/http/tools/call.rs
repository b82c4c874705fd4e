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

use super::list;
use crate::{
    app::App,
    calls::{Behalf, CallRequest},
    contract::{Body, Refusal, body::Schema, document::Refusals},
    http::AppState,
    mcp::call::McpCall,
    source::{
        code,
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
        Refusals,
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
            behalf: Behalf::default(),
        };
        let report = app.call(&plan, request).await;
        return Ok((Returned::of(&report, Some(&name)), json!(report.receipt)));
    }
    if let Some(mcp) = tool.mcp.clone() {
        let call = McpCall {
            tool: Arc::new(tool),
            mcp,
            arguments: args.as_object().cloned().unwrap_or_default(),
            agent_id: None,
            idempotency_key: None,
            cancel: app.calls.token(),
            keeps_receipt: false,
        };
        let report = app.call_mcp(call).await;
        return Ok((report.returned, json!(report.receipt)));
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
