//! Calling a tool: the route that everything else is for.

use axum::{
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_domain::{Outcome, Output, Problem, Receipt, ToolError};
use bulkhead_policy::Capabilities;
use bulkhead_sandbox::{Lineage, LogLine, Report};
use http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    AppState,
    error::{self, ErrorBody, Rejection},
    events, json,
    query::Path,
    schema,
};
use crate::{
    LimitsPatch,
    calls::{Behalf, CallRequest},
    registry::plan::Plan,
};

/// Bytes of an agent's id and of an idempotency key: any id that is in use fits an index.
const ID_MAX: usize = 256;

/// What to call a tool with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallBody<'a> {
    /// The tool's input; `{}` where left out.
    #[serde(borrow)]
    #[schema(value_type = Option<serde_json::Value>)]
    input: Option<&'a RawValue>,
    /// The agent on whose behalf.
    agent_id: Option<String>,
    /// Equal across retries of one logical call.
    idempotency_key: Option<String>,
    /// In the place of the grants' limits, within what the operator allows.
    limits: Option<LimitsPatch>,
    /// Passes on only this much of what is granted.
    #[schema(value_type = Option<schema::Capabilities>)]
    narrow: Option<Capabilities>,
    /// Whether to answer with server-sent events: `progress`, `emit`, `log` and `truncated` as
    /// they happen, then `result`.
    #[serde(default)]
    stream: bool,
}

/// How a call ended.
#[derive(Serialize, ToSchema)]
#[schema(as = CallResult)]
pub(crate) struct CallView<'a> {
    #[schema(value_type = schema::Outcome)]
    outcome: Outcome,
    /// What the tool gave, where the outcome is ok.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Output>)]
    output: Option<&'a Output>,
    /// The text of the output: what a model reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    text: Option<String>,
    /// Why there is no output.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<CallErrorView<'a>>,
    #[schema(value_type = schema::Receipt)]
    receipt: &'a Receipt,
    #[schema(value_type = Vec<schema::LogLine>)]
    log: &'a [LogLine],
    /// Whether lines were dropped for the limit.
    log_truncated: bool,
}

/// Why a call gave no output.
#[derive(Serialize, ToSchema)]
#[schema(as = CallError)]
pub(crate) struct CallErrorView<'a> {
    /// The outcome once more.
    #[schema(value_type = schema::Outcome)]
    code: Outcome,
    /// What was wrong and what to do, for people and models.
    message: &'a str,
    /// What is wrong with the input, where that is the reason.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<schema::Problem>, required = false)]
    problems: &'a [Problem],
    /// The tool's own failure, where it returned one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::ToolError>)]
    tool_error: Option<&'a ToolError>,
}

impl<'a> From<&'a Report> for CallView<'a> {
    fn from(report: &'a Report) -> Self {
        let output = report.result.as_ref().ok();
        let error = report.result.as_ref().err().map(|failure| CallErrorView {
            code: failure.outcome,
            message: &failure.message,
            problems: &failure.problems,
            tool_error: failure.tool_error.as_ref(),
        });
        Self {
            outcome: report.receipt.outcome,
            output,
            text: output.map(Output::text),
            error,
            receipt: &report.receipt,
            log: &report.log,
            log_truncated: report.log_truncated,
        }
    }
}

/// Calls a tool. Whatever ended the call once it ran, the status is 200 and `outcome` says how;
/// an error's status means that nothing ran.
#[utoipa::path(
    post,
    path = "/v1/components/{ref}/tools/{tool}/call",
    operation_id = "call_tool",
    tag = "calls",
    params(
        ("ref" = String, Path, description = "the component's digest, or its name for its active version"),
        ("tool" = String, Path, description = "the tool's name"),
    ),
    request_body = CallBody,
    responses(
        (status = OK, content((CallView = "application/json"), (String = "text/event-stream")), description = "the call's end; with stream, or accept: text/event-stream, server-sent events"),
        (status = NOT_FOUND, body = ErrorBody, description = "unknown_component, unknown_tool"),
        (status = CONFLICT, body = ErrorBody, description = "consent_required"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "invalid_body, or invalid_input with every problem"),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody, description = "overloaded, with retry-after"),
    )
)]
pub(crate) async fn call(
    State(app): State<AppState>,
    Path((reference, tool)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Rejection> {
    let wants_events = accepts_events(request.headers());
    let body = json::read(request).await?;
    let body: CallBody<'_> = json::parse(&body)?;
    let stream = body.stream || wants_events;
    let plan = app.registry.plan(&reference, &tool).await?;
    let request = prepare(&app, &plan, body)?;
    if stream {
        // What is wrong with the input is known now, and an ordinary error in either form.
        if !is_wrong(&app, &plan, &request)? {
            return Ok(events::stream(&app, &plan, request));
        }
    }
    let report = app.call(&plan, request).await;
    Ok(respond(report))
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

fn prepare(app: &AppState, plan: &Plan, body: CallBody<'_>) -> Result<CallRequest, Rejection> {
    check_id("/agent_id", body.agent_id.as_deref())?;
    check_id("/idempotency_key", body.idempotency_key.as_deref())?;
    let limits = body.limits.unwrap_or_default();
    check_limits(&limits)?;
    if let Some(narrowing) = &body.narrow {
        narrowing.validate().map_err(invalid_narrowing)?;
    }
    let lineage = body.narrow.map_or_else(Lineage::default, Lineage::narrowed);
    Ok(CallRequest {
        input: body.input.map_or("{}", RawValue::get).into(),
        limits: limits.applied_to(&plan.limits),
        authority: plan.authority(&lineage),
        agent_id: body.agent_id,
        idempotency_key: body.idempotency_key,
        events: None,
        cancel: app.calls.token(),
        lineage,
        behalf: Behalf::default(),
    })
}

/// Whether the sandbox will refuse the input.
fn is_wrong(app: &AppState, plan: &Plan, request: &CallRequest) -> Result<bool, Rejection> {
    let limits = request.limits.within(&app.sandbox.settings().ceiling);
    if request.input.len() as u64 > limits.input_bytes {
        return Ok(true);
    }
    let input = RawValue::from_string(request.input.to_string());
    let input = input.map_err(|error| Rejection::host(&error))?;
    let problems = plan.component.check_input(&plan.tool, &input);
    Ok(problems.is_some_and(|problems| !problems.is_empty()))
}

/// A call that may use nothing at all would only fail later, with a worse message.
fn check_limits(limits: &LimitsPatch) -> Result<(), Rejection> {
    let needed = [
        ("fuel", limits.fuel),
        ("timeout_ms", limits.timeout_ms),
        ("memory_bytes", limits.memory_bytes),
    ];
    let zero = needed.iter().filter(|(_, limit)| *limit == Some(0));
    let problems: Vec<_> = zero
        .map(|(name, _)| Problem {
            at: format!("/limits/{name}"),
            message: "must be at least 1".to_owned(),
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    let message = "no tool can run with a limit of 0";
    Err(Rejection::with(&error::INVALID_BODY, message).problems(problems))
}

fn check_id(at: &str, id: Option<&str>) -> Result<(), Rejection> {
    let is_good = |id: &str| (1..=ID_MAX).contains(&id.len()) && !id.contains(char::is_control);
    if id.is_none_or(is_good) {
        return Ok(());
    }
    let message = format!("has 1 to {ID_MAX} bytes and no control characters");
    Err(Rejection::with(&error::INVALID_BODY, format!("{at} {message}")).at(at, message))
}

fn invalid_narrowing(mut problems: Vec<Problem>) -> Rejection {
    for problem in &mut problems {
        problem.at.insert_str(0, "/narrow");
    }
    Rejection::with(&error::INVALID_BODY, "what the call passes on is malformed").problems(problems)
}

/// The end of a call as an answer: an error where nothing ran.
fn respond(report: Report) -> Response {
    match refusal(&report) {
        Some(rejection) => rejection.receipt(report.receipt).into_response(),
        None => json::respond(StatusCode::OK, &CallView::from(&report)),
    }
}

/// Why nothing ran, where that is so.
fn refusal(report: &Report) -> Option<Rejection> {
    let failure = report.result.as_ref().err()?;
    let kind = match failure.outcome {
        Outcome::InvalidInput => &error::INVALID_INPUT,
        Outcome::UnknownTool => &error::UNKNOWN_TOOL,
        Outcome::Overloaded => &error::OVERLOADED,
        _ => return None,
    };
    Some(Rejection::with(kind, failure.message.as_str()).problems(failure.problems.clone()))
}
