//! A call of a tool from source: the same way as any call, in a language's runtime.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bulkhead_domain::Digest;
use bulkhead_policy::{FolderRule, Limits, capabilities::ANY};
use bulkhead_sandbox::{
    Call, Environment, EventSink, Job, Language, Lineage, Source, SourceCall, SourceReport,
};
use bulkhead_store::ToolRecord;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{COMPONENT, language, packages};
use crate::{
    app::App,
    calls::{Behalf, Running},
    contract::Refusal,
    http::error::Rejection,
    registry::source_plan::SourcePlan,
};

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
    /// JSON of the agent, where source may look at it.
    pub(crate) agent: Option<String>,
    /// Equal across retries of one logical call.
    pub(crate) idempotency_key: Option<String>,
    pub(crate) behalf: Behalf,
    /// Ends the call; none for one that ends by itself or with the server.
    pub(crate) cancel: Option<CancellationToken>,
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
            agent: None,
            idempotency_key: None,
            behalf: Behalf::default(),
            cancel: None,
            job,
            input: "{}".into(),
            variables: Vec::new(),
            packages: None,
            events: None,
            caller: None,
        }
    }

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
        let plan = self.registry.source_plan(&request.name).await?;
        let folders = request.packages.map(|set| FolderRule {
            host: self.packages.folder(&set).display().to_string(),
            guest: packages::GUEST_FOLDER.to_owned(),
            write: false,
            quota_bytes: None,
        });
        let packages = folders.iter().map(|folder| folder.guest.clone()).collect();
        let variables = variables(&plan, &request);
        let defaults = plan.limits(&default_limits());
        let (lineage, limits, cancel) = match request.caller {
            Some(Caller {
                lineage,
                limits,
                cancel,
            }) => (lineage, defaults.within(&limits), cancel),
            None => {
                let cancel = request.cancel.unwrap_or_else(|| self.calls.token());
                (Lineage::default(), defaults, cancel)
            }
        };
        let authority = plan.authority(&lineage, folders.into_iter().collect());
        let capabilities = authority.capabilities();
        let environment = Environment {
            variables,
            packages,
            agent: request.agent,
            peers: self.functions(&capabilities.peers).await?,
        };
        let services = self.services(
            capabilities,
            COMPONENT,
            request.agent_id.as_deref(),
            &request.behalf,
        );
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
                idempotency_key: request.idempotency_key,
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
            request.behalf.keeps_receipt,
        );
        Ok(running.await)
    }

    /// The tools that source may call like functions: those that are granted, where the name of one
    /// can be that of a function.
    async fn functions(&self, granted: &BTreeSet<String>) -> Result<Vec<String>, Rejection> {
        let names = if granted.contains(ANY) {
            self.registry.tool_names().await?.names.clone()
        } else {
            Vec::from_iter(granted.iter().cloned())
        };
        let is_function = |name: &String| {
            !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        Ok(names.into_iter().filter(is_function).collect())
    }
}

/// The variables that source sees: the sandbox's configuration, then the request's; those that say
/// who it is can't be set by either.
fn variables(plan: &SourcePlan, request: &Request) -> Vec<(String, String)> {
    let own = [
        ("LETTA_TOOL_ID", request.tool_id.as_deref()),
        ("LETTA_AGENT_ID", request.agent_id.as_deref()),
        // There are no projects here, and nobody may claim one.
        ("LETTA_PROJECT_ID", None),
    ];
    let given = request.variables.iter();
    let given = given.map(|(name, value)| (name.as_str(), value.as_str()));
    let mut variables: BTreeMap<_, _> = plan.variables().chain(given).collect();
    for (name, value) in own {
        match value {
            Some(value) => variables.insert(name, value),
            None => variables.remove(name),
        };
    }
    let variables = variables.into_iter();
    variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
