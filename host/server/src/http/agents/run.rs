//! A tool of an agent, called by hand.

use axum::{Json, extract::State};
use bulkhead_domain::{Receipt, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{approvals, find, instance, tools::not_attached};
use crate::{
    contract::{OptionalBody, Refusal, body::Schema, document::Refusals},
    http::{AppState, missing, query::Path, schema, scope, unbroken_contract},
    mcp::call::McpReport,
};

/// The body of a call.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct ToolExecuteRequest {
    #[serde(default)]
    #[schema(value_type = Object)]
    args: Map<String, Value>,
}

impl Schema for ToolExecuteRequest {
    const NAME: &str = "ToolExecuteRequest";
}

/// How a call ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolExecutionResult {
    /// success or error
    #[schema(value_type = String)]
    status: ToolStatus,
    /// the value; null on error
    func_return: Option<Value>,
    /// always null
    agent_state: Option<Value>,
    stdout: Option<Vec<String>>,
    /// what was printed to it; what went wrong, where nothing was
    stderr: Option<Vec<String>>,
    /// always null
    sandbox_config_fingerprint: Option<String>,
    #[schema(value_type = Option<schema::Receipt>)]
    receipt: Option<Receipt>,
}

impl ToolExecutionResult {
    /// How a call of a tool of an MCP server ended. What the tool itself says of its failure is its
    /// value, as clients know it.
    pub(crate) fn of_mcp(report: McpReport) -> Self {
        let returned = report.returned;
        let status = match returned.success {
            true => ToolStatus::Success,
            false => ToolStatus::Error,
        };
        Self {
            status,
            func_return: Some(Value::from(returned.text)),
            agent_state: None,
            stdout: None,
            stderr: None,
            sandbox_config_fingerprint: None,
            receipt: Some(report.receipt),
        }
    }
}

/// Calls a tool on an agent's behalf, whether or not its calls wait for approval. 403 for a user of the
/// platform where they wait by a decision of the installation.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/tools/{tool_name}/run",
    operation_id = "run_tool_for_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("tool_name" = String, Path, description = "the tool's name"),
    ),
    request_body = ToolExecuteRequest,
    responses((status = OK, body = ToolExecutionResult, description = "how it ended"), Refusals)
)]
pub(crate) async fn run(
    State(app): State<AppState>,
    Path((agent_id, tool_name)): Path<(String, String)>,
    OptionalBody(body): OptionalBody<ToolExecuteRequest>,
) -> Result<Json<ToolExecutionResult>, Refusal> {
    let agent = find::id(&agent_id)?;
    instance::expect_not_counted(&app, agent).await?;
    let args = body.unwrap_or_default().args;
    if scope::only().is_some() {
        // An agent that is not there is told apart below.
        let tool = app.store.tool_of_agent(&agent, &tool_name).await;
        if let Some(tool) = tool.map_err(missing::stored)? {
            if !scope::sees(&tool) {
                return Err(not_attached(&agent, &tool_name));
            }
            approvals::expect_undecided(&tool)?;
        }
    }
    let executed = unbroken_contract(async move {
        let executed = app.engine.run_tool(agent, &tool_name, args).await?;
        executed.ok_or_else(|| not_attached(&agent, &tool_name))
    });
    let executed = executed.await?;
    let returned = executed.returned;
    let has_failed = returned.status == ToolStatus::Error;
    let is_silent = returned.stderr.as_ref().is_none_or(Vec::is_empty);
    Ok(Json(ToolExecutionResult {
        status: returned.status,
        func_return: match has_failed {
            true => None,
            false => Some(executed.value.unwrap_or(Value::Null)),
        },
        agent_state: None,
        stdout: returned.stdout,
        stderr: match has_failed && is_silent {
            true => Some(vec![returned.text]),
            false => returned.stderr,
        },
        sandbox_config_fingerprint: None,
        receipt: executed.receipt,
    }))
}
