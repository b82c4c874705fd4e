//! A call of a tool from source: the same way as any call, in a language's runtime.

use std::sync::Arc;

use bulkhead_policy::{FolderRule, Limits};
use bulkhead_sandbox::{
    Call, Environment, EventSink, Job, Language, Lineage, Services, Source, SourceCall,
    SourceReport,
};
use bulkhead_store::SandboxType;

use super::{COMPONENT, packages};
use crate::{app::App, calls::Running, http::error::Rejection, registry::peers::Peers};

/// Limits of tools from source, where no grant says otherwise: they were written for a server that
/// gave them three minutes, a process and no other limit.
pub(crate) fn default_limits() -> Limits {
    Limits {
        fuel: 20_000_000_000,
        timeout_ms: 180_000,
        memory_bytes: 256 << 20,
        log_bytes: 1 << 20,
        event_bytes: 1 << 20,
        output_bytes: 8 << 20,
        ..Limits::default()
    }
}

/// What is to be called.
pub(crate) struct Request {
    pub(crate) language: Language,
    pub(crate) text: Arc<str>,
    /// The function; none for the one that the language's rules choose.
    pub(crate) function: Option<String>,
    /// The name of the tool, under which it has grants and receipts.
    pub(crate) name: String,
    pub(crate) tool_id: Option<String>,
    pub(crate) agent_id: Option<String>,
    pub(crate) job: Job,
    /// JSON text.
    pub(crate) input: Arc<str>,
    /// Variables of the request, which count more than those of the sandbox's configuration.
    pub(crate) variables: Vec<(String, String)>,
    /// What its requirements were resolved to.
    pub(crate) packages: Option<bulkhead_domain::Digest>,
    pub(crate) events: Option<EventSink>,
}

impl App {
    /// Calls source. The call ends, with a receipt, whatever the source does and whether or not
    /// anybody still waits for it.
    pub(crate) async fn call_source(
        self: &Arc<Self>,
        request: Request,
    ) -> Result<SourceReport, Rejection> {
        let runtime = self
            .runtimes
            .get(&self.sandbox, request.language)
            .await?
            .clone();
        let allowed = self.registry.allowed(COMPONENT, &request.name).await?;
        let folders = request.packages.map(|set| FolderRule {
            host: self.packages.folder(&set).display().to_string(),
            guest: packages::GUEST_FOLDER.to_owned(),
            write: false,
            quota_bytes: None,
        });
        let environment = Environment {
            variables: self.variables(&request).await?,
            packages: folders.iter().map(|folder| folder.guest.clone()).collect(),
            agent: None,
            peers: Vec::new(),
        };
        let cancel = self.calls.token();
        let lineage = Lineage::default();
        let authority =
            allowed.source_authority(&lineage, &request.name, folders.into_iter().collect());
        let capabilities = authority.capabilities();
        let services = Services {
            state: capabilities.state.then(|| Arc::clone(&self.state)),
            peers: (!capabilities.peers.is_empty()).then(|| {
                Arc::new(Peers {
                    app: Arc::clone(self),
                    caller: COMPONENT.to_owned(),
                    agent_id: request.agent_id.clone(),
                }) as _
            }),
            env: Arc::clone(&self.env),
            ..Services::default()
        };
        let call = SourceCall {
            source: Source {
                language: request.language,
                text: request.text,
                function: request.function,
            },
            job: request.job,
            environment,
            call: Call {
                tool: request.name,
                input: request.input,
                limits: allowed.limits(&default_limits()),
                authority,
                services,
                agent_id: request.agent_id,
                idempotency_key: None,
                events: request.events,
                cancel: cancel.clone(),
                lineage,
            },
        };
        let sandbox = self.sandbox.clone();
        let running: Running<SourceReport> = self.tracked(
            cancel,
            async move { sandbox.call_source(&runtime, call).await },
            |report| &report.report.receipt,
        );
        Ok(running.await)
    }

    /// The variables that source sees: the sandbox's configuration, then the request's; those that
    /// say who it is can't be set by either.
    async fn variables(&self, request: &Request) -> Result<Vec<(String, String)>, Rejection> {
        let own = [
            ("LETTA_TOOL_ID", request.tool_id.clone()),
            ("LETTA_AGENT_ID", request.agent_id.clone()),
        ];
        let configured = self.store.sandbox_variables_of(SandboxType::Local).await?;
        let mut variables: std::collections::BTreeMap<_, _> = configured
            .into_iter()
            .map(|(name, value)| (name, value.to_string()))
            .collect();
        variables.extend(request.variables.iter().cloned());
        for (name, value) in own {
            match value {
                Some(value) => variables.insert(name.to_owned(), value),
                None => variables.remove(name),
            };
        }
        Ok(variables.into_iter().collect())
    }
}
