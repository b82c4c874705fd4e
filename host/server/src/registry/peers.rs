//! Calls from one tool to another, by way of the registry and the same path as any call.

use std::sync::Arc;

use bulkhead_domain::{FuelByPhase, Outcome};
use bulkhead_sandbox::{
    Failure,
    services::{PeerError, PeerReply, PeerRequest, PeersService},
};
use futures::future::BoxFuture;

use bulkhead_store::{ToolRecord, ToolType};

use super::{builtin::is_builtin, plan::Plan};
use crate::{
    app::App,
    calls::{Behalf, CallRequest},
    http::error::{self, Rejection},
    source,
};

/// The other tools that a call may reach, on behalf of the same agent.
pub(crate) struct Peers {
    pub(crate) app: Arc<App>,
    /// The caller's component.
    pub(crate) caller: String,
    pub(crate) agent_id: Option<String>,
    /// What the caller reaches of its agent.
    pub(crate) behalf: Behalf,
}

impl PeersService for Peers {
    fn call(&self, request: PeerRequest) -> BoxFuture<'_, PeerReply> {
        Box::pin(async move {
            let refused = |error| PeerReply {
                result: Err(error),
                fuel: FuelByPhase::default(),
            };
            match self.source_tool(&request.name).await {
                Ok(Some(tool)) => self
                    .call_source(&tool, request)
                    .await
                    .unwrap_or_else(refused),
                Ok(None) => match self.find(&request.name).await {
                    Ok(plan) => self.call_planned(&plan, request).await,
                    Err(error) => refused(error),
                },
                Err(error) => refused(error),
            }
        })
    }
}

impl Peers {
    /// The tool from source with this name. No tool of a component has the same: the list of all
    /// tools gives each name once.
    async fn source_tool(&self, name: &str) -> Result<Option<ToolRecord>, PeerError> {
        if name.contains('/') {
            return Ok(None);
        }
        let found = self.app.store.tool_by_name(name).await;
        let found = found.map_err(|error| refusal(&error.into()))?;
        Ok(found.filter(|tool| tool.component.is_none() && tool.tool_type == ToolType::Custom))
    }

    async fn call_source(
        &self,
        tool: &ToolRecord,
        request: PeerRequest,
    ) -> Result<PeerReply, PeerError> {
        let input: serde_json::Value = serde_json::from_str(&request.input).map_err(|error| {
            let message = format!("the input is not valid JSON: {error}");
            PeerError::Stopped(Outcome::InvalidInput, message)
        })?;
        let call = source::run::Request::of_tool(tool, &input);
        let mut call = call.map_err(|_| PeerError::Unknown)?;
        call.agent_id.clone_from(&self.agent_id);
        call.behalf = self.behalf.clone();
        call.caller = Some(source::run::Caller {
            lineage: request.lineage,
            limits: request.limits,
            cancel: request.cancel,
        });
        let report = self.app.call_source(call).await;
        let report = report.map_err(|error| refusal(&error))?.report;
        Ok(PeerReply {
            fuel: report.receipt.fuel,
            result: report.result.map_err(failure),
        })
    }

    /// The tool that `component/tool`, or a tool's bare name, means.
    async fn find(&self, name: &str) -> Result<Arc<Plan>, PeerError> {
        if let Some((component, tool)) = name.split_once('/') {
            return self
                .app
                .registry
                .plan(component, tool)
                .await
                .map_err(|error| refusal(&error));
        }
        let index = self
            .app
            .registry
            .tool_index()
            .await
            .map_err(|error| refusal(&error))?;
        let components = index.components.get(name).map_or(&[][..], Vec::as_slice);
        let Some(component) = meant(components, &self.caller) else {
            return Err(match components {
                [] => PeerError::Unknown,
                several => PeerError::Unavailable(format!(
                    "several components have a tool {name}; call it as component/{name}, with one of {}",
                    several.join(", ")
                )),
            });
        };
        self.app
            .registry
            .plan(component, name)
            .await
            .map_err(|error| refusal(&error))
    }

    async fn call_planned(&self, plan: &Plan, request: PeerRequest) -> PeerReply {
        let call = CallRequest {
            input: request.input.into(),
            limits: plan.limits.within(&request.limits),
            authority: plan.authority(&request.lineage),
            agent_id: self.agent_id.clone(),
            idempotency_key: None,
            events: None,
            cancel: request.cancel,
            lineage: request.lineage,
            behalf: self.behalf.clone(),
        };
        let report = self.app.call(plan, call).await;
        PeerReply {
            fuel: report.receipt.fuel,
            result: report.result.map_err(failure),
        }
    }
}

/// Which of the components that have a tool its bare name means: a built-in one, so that
/// nothing that is pushed shadows it; else the caller's own; else the only one there is.
fn meant<'a>(components: &'a [String], caller: &str) -> Option<&'a String> {
    let first = |is_meant: &dyn Fn(&str) -> bool| components.iter().find(|name| is_meant(name));
    first(&is_builtin)
        .or_else(|| first(&|name| name == caller))
        .or(match components {
            [only] => Some(only),
            _ => None,
        })
}

fn refusal(rejection: &Rejection) -> PeerError {
    let kind = rejection.kind();
    let unknown = [
        &error::UNKNOWN_COMPONENT,
        &error::UNKNOWN_TOOL,
        &error::INVALID_PARAMETER,
    ];
    if unknown.contains(&kind) {
        return PeerError::Unknown;
    }
    PeerError::Unavailable(rejection.message().to_owned())
}

fn failure(failure: Failure) -> PeerError {
    match (failure.outcome, failure.tool_error) {
        (Outcome::ToolError, Some(error)) => PeerError::Tool(error),
        (Outcome::UnknownTool, _) => PeerError::Unknown,
        (outcome, _) => PeerError::Stopped(outcome, failure.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hostile guest 29: names that shadow built-ins.
    #[test]
    fn a_bare_name_means_the_built_in_then_the_callers_own_then_the_only_one() {
        for (components, expected) in [
            (&["a", "own", "web_search"][..], Some("web_search")),
            (&["web_search_", "web_search"], Some("web_search")),
            (&["a", "own", "z"], Some("own")),
            (&["a"], Some("a")),
            (&["a", "z"], None),
            (&[], None),
        ] {
            let components: Vec<_> = components.iter().map(ToString::to_string).collect();
            let found = meant(&components, "own").map(String::as_str);
            assert_eq!(found, expected, "{components:?}");
        }
    }
}
