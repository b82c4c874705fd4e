//! Runs the tools of agents in the sandbox, and says how they ended in the words of the contract.

use std::sync::{Arc, Weak};

use bulkhead_agent::{Executed, Invocation, Tools, pack};
use bulkhead_domain::{Outcome, Part, Receipt, Timestamp, ToolReturn, ToolStatus};
use bulkhead_sandbox::{Failure, Lineage};
use bulkhead_store::{ComponentTool, McpTool, ToolType};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::memory::Found;
use crate::{
    app::App,
    calls::{Behalf, CallRequest},
    contract::Refusal,
    mcp::call::McpCall,
    source::{
        code,
        returned::{Returned, limited},
        run::Request,
    },
};

/// Runs tools in the sandbox of a server.
pub(crate) struct SandboxTools(Weak<App>);

impl SandboxTools {
    /// Runs tools in the sandbox of this server, as long as it is there.
    pub(crate) fn of(app: &Arc<App>) -> Self {
        Self(Arc::downgrade(app))
    }
}

impl Tools for SandboxTools {
    fn call(&self, call: Invocation) -> BoxFuture<'_, Executed> {
        Box::pin(async move {
            let Some(app) = self.0.upgrade() else {
                return executed(&call, refused(&call, "the server is shutting down"));
            };
            let ended = match (&call.tool.component, &call.tool.mcp) {
                (Some(component), _) => run_component(&app, &call, component).await,
                (None, Some(mcp)) => Ok(run_mcp(&app, &call, mcp.clone()).await),
                (None, None) => run_source(&app, &call).await,
            };
            let ended = ended.unwrap_or_else(|refusal| refused(&call, &reason(&refusal)));
            executed(&call, ended)
        })
    }
}

/// How a call ended.
struct Ended {
    returned: Returned,
    /// Text and images, where there are images.
    parts: Option<Vec<Part>>,
    receipt: Option<Receipt>,
}

async fn run_component(
    app: &Arc<App>,
    call: &Invocation,
    component: &ComponentTool,
) -> Result<Ended, Refusal> {
    let plan = app.registry.plan(&component.component, &component.tool);
    let plan = plan.await?;
    let lineage = Lineage::default();
    let cancel = app.calls.token();
    let request = CallRequest {
        input: Value::Object(call.arguments.clone()).to_string().into(),
        limits: plan.limits.clone(),
        authority: plan.authority(&lineage),
        agent_id: Some(call.agent.id.to_string()),
        idempotency_key: Some(call.idempotency_key.clone()),
        events: None,
        cancel: cancel.clone(),
        lineage,
        behalf: behalf(call),
    };
    let report = until(app.call(&plan, request), &call.cancel, &cancel).await;
    let mut returned = Returned::of(&report, Some(&call.tool.name));
    match &report.result {
        Ok(_) if returned.value.is_null() => returned.value = Value::from(returned.text.as_str()),
        Ok(_) => {}
        Err(failure) => reword(&mut returned, call, failure),
    }
    Ok(Ended {
        returned,
        parts: None,
        receipt: Some(report.receipt),
    })
}

async fn run_mcp(app: &Arc<App>, call: &Invocation, mcp: McpTool) -> Ended {
    let cancel = app.calls.token();
    let running = app.call_mcp(McpCall {
        tool: Arc::clone(&call.tool),
        mcp,
        arguments: call.arguments.clone(),
        agent_id: Some(call.agent.id.to_string()),
        idempotency_key: Some(call.idempotency_key.clone()),
        cancel: cancel.clone(),
        // It is stored with the step, in one transaction; a call by hand belongs to none.
        keeps_receipt: call.step_id.is_some(),
    });
    let report = until(running, &call.cancel, &cancel).await;
    Ended {
        returned: report.returned,
        parts: report.parts,
        receipt: Some(report.receipt),
    }
}

async fn run_source(app: &Arc<App>, call: &Invocation) -> Result<Ended, Refusal> {
    let tool = &call.tool;
    let arguments = Value::Object(call.arguments.clone());
    let is_code = tool.name == code::NAME && tool.tool_type == ToolType::LettaBuiltin;
    let mut request = if is_code {
        let (language, text) = code::input(&arguments).map_err(Refusal::bad_request)?;
        let job = bulkhead_sandbox::Job::Run;
        Request::new(tool.name.clone(), language, text, job)
    } else {
        Request::of_tool(tool, &arguments)?
    };
    if !app.wait_for_runtime(request.language, &call.cancel).await {
        let text = "Cancelled: the call was cancelled before its language was ready; nothing ran";
        return Ok(refused(call, text));
    }
    let cancel = app.calls.token();
    let secrets = app.store.secrets_of(&[call.agent.id]).await?;
    let secrets = secrets.into_values().flatten();
    request.variables = secrets.map(|secret| (secret.key, secret.value)).collect();
    let found = agent(app, call, &mut request).await?;
    request.agent_id = Some(call.agent.id.to_string());
    request.idempotency_key = Some(call.idempotency_key.clone());
    request.behalf = behalf(call);
    request.cancel = Some(cancel.clone());
    let report = until(app.call_source(request), &call.cancel, &cancel).await?;
    let mut returned = if is_code {
        code::returned(&report)
    } else {
        Returned::of_source(&report, Some(&tool.name))
    };
    if let Some(found) = found.filter(|_| report.report.result.is_ok())
        && let Err(error) = found.write(&*call.memory, &report.memory).await
    {
        returned = Returned {
            stdout: returned.stdout,
            stderr: returned.stderr,
            ..failed(call, &error)
        };
    }
    Ok(Ended {
        returned,
        parts: None,
        receipt: Some(report.report.receipt),
    })
}

/// A call to its end, which comes soon after somebody asks for it.
async fn until<T>(
    running: impl Future<Output = T>,
    asked: &CancellationToken,
    cancel: &CancellationToken,
) -> T {
    tokio::pin!(running);
    tokio::select! {
        biased;
        ended = &mut running => ended,
        () = asked.cancelled() => {
            cancel.cancel();
            running.await
        }
    }
}

fn behalf(call: &Invocation) -> Behalf {
    Behalf {
        memory: Some(Arc::clone(&call.memory)),
        recall: Some(Arc::clone(&call.recall)),
        files: Some(Arc::clone(&call.files)),
        agents: Some(Arc::clone(&call.agents)),
        // It is stored with the step, in one transaction; a call by hand belongs to none.
        keeps_receipt: call.step_id.is_some(),
    }
}

/// Lets source find its agent, where its text names it at all; gives the memory as it finds that.
async fn agent(
    app: &App,
    call: &Invocation,
    request: &mut Request,
) -> Result<Option<Found>, Refusal> {
    if !["agent_state", "agent_id"]
        .iter()
        .any(|name| request.text.contains(name))
    {
        return Ok(None);
    }
    let id = call.agent.id;
    let mut agent = json!(*call.agent);
    if let Some(fields) = agent.as_object_mut() {
        fields.remove("tool_rules");
        fields.remove("recompiled_at");
    }
    let stored = app.store.blocks_of(&[id]).await?;
    let mut blocks: Vec<Value> = stored
        .into_values()
        .flatten()
        .map(|block| json!(block))
        .collect();
    // A conversation may have blocks of its own in their place.
    let found = Found::of(&*call.memory).await;
    let found = found.map_err(Refusal::bad_request)?;
    for block in &mut blocks {
        if let Some(value) = block["label"].as_str().and_then(|label| found.value(label)) {
            block["value"] = value.into();
        }
    }
    let secrets = request.variables.iter();
    let secrets: Vec<_> = secrets
        .map(|(key, value)| json!({ "key": key, "value": value, "agent_id": id }))
        .collect();
    agent["memory"] = json!({ "agent_type": call.agent.agent_type, "blocks": blocks });
    agent["tool_exec_environment_variables"] = json!(secrets);
    agent["secrets"] = json!(secrets);
    let tags = app.store.tags_of(&[id]).await?;
    agent["tags"] = json!(tags.into_values().next().unwrap_or_default());
    request.agent = Some(agent.to_string());
    Ok(Some(found))
}

/// Puts the words of a component's failure into the form that a model can act on.
fn reword(returned: &mut Returned, call: &Invocation, failure: &Failure) {
    let speaks_itself =
        call.tool.tool_type != ToolType::Custom && call.tool.tool_type != ToolType::LettaBuiltin;
    match failure.outcome {
        // The tools of agents have texts of their own that clients know.
        Outcome::ToolError if speaks_itself && failure.problems.is_empty() => {
            returned.text.clone_from(&failure.message);
        }
        Outcome::InvalidInput if !failure.problems.is_empty() => {
            let problems = failure.problems.iter().map(|problem| {
                let at = match problem.at.as_str() {
                    "" => "/",
                    at => at,
                };
                format!("{at}: {}", problem.message)
            });
            let problems: Vec<_> = problems.collect();
            let text = format!(
                "InvalidArguments: the arguments do not match the schema of the tool: {}",
                problems.join("; ")
            );
            *returned = failed(call, &text);
        }
        _ => {}
    }
}

fn failed(call: &Invocation, text: &str) -> Returned {
    Returned::error(Some(&call.tool.name), text)
}

/// A call that could not begin.
fn refused(call: &Invocation, reason: &str) -> Ended {
    Ended {
        returned: failed(call, reason),
        parts: None,
        receipt: None,
    }
}

fn reason(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Native(rejection) => rejection.message().to_owned(),
        Refusal::Contract(_, body) => match &body["detail"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
    }
}

/// As clients and the model are told of it: cut at the tool's limit, and packed.
fn executed(call: &Invocation, ended: Ended) -> Executed {
    let Ended {
        returned,
        parts,
        receipt,
    } = ended;
    let limit = usize::try_from(call.tool.return_char_limit).unwrap_or(usize::MAX);
    let status = match returned.success {
        true => ToolStatus::Success,
        false => ToolStatus::Error,
    };
    let is_object = returned.success && returned.value.is_object();
    let (text, message) = if is_object && call.tool.component.is_none() {
        let whole = returned.value.to_string();
        if whole.chars().count() > limit {
            let cut = limited(whole, limit, true);
            (cut.clone(), Value::from(cut))
        } else {
            (returned.text, returned.value.clone())
        }
    } else {
        let text = limited(returned.text, limit, true);
        (text.clone(), Value::from(text))
    };
    let prints = call.tool.tool_type == ToolType::Custom;
    let parts = parts.map(|images| {
        let first = Some(Part::text(text.as_str())).filter(|_| !text.is_empty());
        first.into_iter().chain(images).collect()
    });
    Executed {
        returned: ToolReturn {
            tool_call_id: call.tool_call_id.clone(),
            name: call.tool.name.clone(),
            status,
            packed: pack::tool_return(status, &message, Timestamp::now(), &call.agent.timezone),
            text,
            stdout: prints.then_some(returned.stdout),
            stderr: prints.then_some(returned.stderr),
            parts,
            receipt_id: receipt.as_ref().map(|receipt| receipt.id),
        },
        value: returned.success.then_some(returned.value),
        receipt,
    }
}
