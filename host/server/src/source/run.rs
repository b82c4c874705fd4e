//! A call of a tool from source: the same way as any call, in a language's runtime.

use std::{collections::BTreeSet, sync::Arc};

use bulkhead_domain::Digest;
use bulkhead_policy::{FolderRule, Limits, capabilities::ANY};
use bulkhead_sandbox::{
    Call, Environment, EventSink, Job, Language, Lineage, Services, Source, SourceCall,
    SourceReport,
};
use bulkhead_store::{PAGE_MAX, SandboxType, ToolFilter};
use tokio_util::sync::CancellationToken;

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
    pub(crate) packages: Option<Digest>,
    pub(crate) events: Option<EventSink>,
    /// Where another call made this one: what it inherits, what is left of that one's budget, and
    /// what ends with it.
    pub(crate) caller: Option<Caller>,
}

/// The call that makes a call.
pub(crate) struct Caller {
    pub(crate) lineage: Lineage,
    pub(crate) limits: Limits,
    pub(crate) cancel: CancellationToken,
}

impl Request {
    /// A request of which nothing else is said.
    pub(crate) fn new(name: String, language: Language, text: String, job: Job) -> Self {
        Self {
            language,
            text: text.into(),
            function: None,
            name,
            tool_id: None,
            agent_id: None,
            job,
            input: "{}".into(),
            variables: Vec::new(),
            packages: None,
            events: None,
            caller: None,
        }
    }
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
        let packages = folders.iter().map(|folder| folder.guest.clone()).collect();
        let variables = self.variables(&request).await?;
        let defaults = allowed.limits(&default_limits());
        let (lineage, limits, cancel) = match request.caller {
            Some(Caller {
                lineage,
                limits,
                cancel,
            }) => (lineage, defaults.within(&limits), cancel),
            None => (Lineage::default(), defaults, self.calls.token()),
        };
        let authority =
            allowed.source_authority(&lineage, &request.name, folders.into_iter().collect());
        let capabilities = authority.capabilities();
        let environment = Environment {
            variables,
            packages,
            agent: None,
            peers: self.functions(&capabilities.peers).await?,
        };
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
                limits,
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

    /// The tools that source may call like functions: those that are granted, where the name of one
    /// can be that of a function.
    async fn functions(&self, granted: &BTreeSet<String>) -> Result<Vec<String>, Rejection> {
        let names = if granted.contains(ANY) {
            let filter = ToolFilter {
                limit: Some(PAGE_MAX),
                ..ToolFilter::default()
            };
            let tools = self.store.tools(&filter).await?;
            tools.into_iter().map(|tool| tool.name).collect()
        } else {
            Vec::from_iter(granted.iter().cloned())
        };
        let is_function = |name: &String| {
            !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        Ok(names.into_iter().filter(is_function).collect())
    }

    /// The variables that source sees: the sandbox's configuration, then the request's; those that
    /// say who it is can't be set by either.
    async fn variables(&self, request: &Request) -> Result<Vec<(String, String)>, Rejection> {
        let own = [
            ("LETTA_TOOL_ID", request.tool_id.clone()),
            ("LETTA_AGENT_ID", request.agent_id.clone()),
            // There are no projects here, and nobody may claim one.
            ("LETTA_PROJECT_ID", None),
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
