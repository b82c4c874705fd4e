//! Calls from one tool to another, by way of the registry and the same path as any call.

use std::sync::Arc;

use bulkhead_domain::{FuelByPhase, Outcome};
use bulkhead_sandbox::{
    Failure,
    services::{PeerError, PeerReply, PeerRequest, PeersService},
};
use futures::future::BoxFuture;

use super::plan::Plan;
use crate::{
    app::App,
    calls::CallRequest,
    http::error::{self, Rejection},
};

/// The other tools that a call may reach, on behalf of the same agent.
pub(crate) struct Peers {
    pub(crate) app: Arc<App>,
    pub(crate) agent_id: Option<String>,
}

impl PeersService for Peers {
    fn call(&self, request: PeerRequest) -> BoxFuture<'_, PeerReply> {
        Box::pin(async move {
            match self.find(&request.name).await {
                Ok(plan) => self.call_planned(&plan, request).await,
                Err(error) => PeerReply {
                    result: Err(error),
                    fuel: FuelByPhase::default(),
                },
            }
        })
    }
}

impl Peers {
    /// The tool that `component/tool`, or a tool's name that only one component has, means.
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
        match index.components.get(name).map_or(&[][..], Vec::as_slice) {
            [] => Err(PeerError::Unknown),
            [component] => self
                .app
                .registry
                .plan(component, name)
                .await
                .map_err(|error| refusal(&error)),
            several => Err(PeerError::Unavailable(format!(
                "several components have a tool {name}; call it as component/{name}, with one of {}",
                several.join(", ")
            ))),
        }
    }

    async fn call_planned(&self, plan: &Plan, request: PeerRequest) -> PeerReply {
        let call = CallRequest {
            input: request.input.into(),
            limits: plan.limits.within(&request.limits),
            authority: Arc::clone(&plan.authority),
            agent_id: self.agent_id.clone(),
            idempotency_key: None,
            events: None,
            cancel: request.cancel,
            chain: request.chain,
        };
        let report = self.app.call(plan, call).await;
        PeerReply {
            fuel: report.receipt.fuel,
            result: report.result.map_err(failure),
        }
    }
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
