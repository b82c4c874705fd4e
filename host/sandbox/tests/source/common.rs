//! What the tests of source share: one sandbox with both runtimes, and a short way to call.

use std::sync::{Arc, OnceLock};

use bulkhead_domain::Outcome;
use bulkhead_policy::{Capabilities, Limits};
use bulkhead_sandbox::{
    Authority, CacheKey, Call, Description, Environment, EventSink, Exception, Failure, Fault, Job,
    Language, Runtime, Sandbox, Services, Settings, Source, SourceCall, SourceReport,
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

/// Set where tests of Python must run, such as in continuous integration.
const REQUIRE_PYTHON: &str = "BULKHEAD_REQUIRE_PYTHON";

/// Few slots, and compiled runtimes kept between runs: compiling CPython takes seconds.
pub(crate) fn settings() -> Settings {
    Settings {
        slots: 8,
        cache_dir: Some(concat!(env!("CARGO_TARGET_TMPDIR"), "/source-cache").into()),
        cache_key: Some(CacheKey::new([1; 32])),
        ..Settings::default()
    }
}

/// The sandbox of all tests of this program: a call that harms it harms the others.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(settings()).expect("the engine starts"))
}

/// The bytes of the Python runtime. None, with a notice, where it could not be made.
pub(crate) fn python_bytes() -> Option<&'static [u8]> {
    match bulkhead_tools::PYTHON {
        Ok(bytes) => Some(bytes),
        Err(reason) if std::env::var_os(REQUIRE_PYTHON).is_some() => panic!("{reason}"),
        Err(reason) => {
            eprintln!("skipped, without the Python runtime: {reason}");
            None
        }
    }
}

/// Whether tests of Python can run.
pub(crate) fn has_python() -> bool {
    python_bytes().is_some()
}

/// The runtime of a language.
pub(crate) async fn runtime(language: Language) -> &'static Runtime {
    static PYTHON: OnceCell<Runtime> = OnceCell::const_new();
    static JAVASCRIPT: OnceCell<Runtime> = OnceCell::const_new();
    let (cell, bytes) = match language {
        Language::Python => (&PYTHON, python_bytes().expect("the test asked before")),
        Language::JavaScript | Language::TypeScript => (&JAVASCRIPT, bulkhead_tools::JAVASCRIPT),
    };
    let install = || async {
        let installed = sandbox().install_runtime(bytes).await;
        installed.expect("the runtime installs")
    };
    cell.get_or_init(install).await
}

/// A tool, and what it finds around it.
pub(crate) struct Tool {
    source: Source,
    grant: Value,
    pub(crate) environment: Environment,
    pub(crate) limits: Limits,
    pub(crate) services: Services,
    pub(crate) events: Option<EventSink>,
    pub(crate) order: Vec<String>,
}

impl Tool {
    fn new(language: Language, text: &str) -> Self {
        let source = Source {
            language,
            text: text.into(),
            function: None,
        };
        Self {
            source,
            grant: json!({}),
            environment: Environment::default(),
            limits: Limits::default(),
            services: Services::default(),
            events: None,
            order: Vec::new(),
        }
    }

    pub(crate) fn python(text: &str) -> Self {
        Self::new(Language::Python, text)
    }

    pub(crate) fn javascript(text: &str) -> Self {
        Self::new(Language::JavaScript, text)
    }

    pub(crate) fn typescript(text: &str) -> Self {
        Self::new(Language::TypeScript, text)
    }

    pub(crate) fn language(&self) -> Language {
        self.source.language
    }

    /// The function that is the tool.
    pub(crate) fn named(mut self, function: &str) -> Self {
        self.source.function = Some(function.to_owned());
        self
    }

    pub(crate) fn granted(mut self, grant: Value) -> Self {
        self.grant = grant;
        self
    }

    pub(crate) fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.environment.variables = variables.iter().map(own).collect();
        self
    }

    pub(crate) fn agent(mut self, agent: &Value) -> Self {
        self.environment.agent = Some(agent.to_string());
        self
    }

    pub(crate) fn peers(mut self, names: &[&str]) -> Self {
        self.environment.peers = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    pub(crate) fn events(mut self, sink: EventSink) -> Self {
        self.events = Some(sink);
        self
    }

    /// Limits that end a hostile call soon.
    pub(crate) fn tight(mut self) -> Self {
        self.limits = Limits {
            fuel: 500_000_000,
            timeout_ms: 10_000,
            ..Limits::default()
        };
        self
    }

    /// Calls it.
    pub(crate) async fn call(self, input: Value) -> SourceReport {
        self.call_text(input.to_string()).await
    }

    /// Calls it with whatever text as its input.
    pub(crate) async fn call_text(self, input: String) -> SourceReport {
        let order = self.order.clone();
        self.start(sandbox(), Job::Call { order }, input).await
    }

    /// Runs it as a script.
    pub(crate) async fn run(self) -> SourceReport {
        self.start(sandbox(), Job::Run, "{}".to_owned()).await
    }

    async fn start(self, sandbox: &Sandbox, job: Job, input: String) -> SourceReport {
        let runtime = runtime(self.source.language).await;
        let call = self.into_call(job, input);
        sandbox.call_source(runtime, call).await
    }

    pub(crate) fn into_call(self, job: Job, input: String) -> SourceCall {
        let grant: Capabilities = serde_json::from_value(self.grant).expect("a valid grant");
        let authority: Arc<Authority> =
            Authority::for_source(&grant, None, Vec::new(), "test", Vec::new());
        let mut call = Call::new("test", input)
            .with_authority(authority)
            .with_limits(self.limits)
            .with_services(self.services);
        call.events = self.events;
        SourceCall {
            source: self.source,
            job,
            environment: self.environment,
            call,
        }
    }

    /// What can be read in it without running it.
    pub(crate) async fn describe(self) -> Result<Description, Fault> {
        self.try_describe().await.expect("the runtime answers")
    }

    /// As [`Tool::describe`], where the runtime may be stopped over it.
    pub(crate) async fn try_describe(self) -> Result<Result<Description, Fault>, Failure> {
        let runtime = runtime(self.source.language).await;
        sandbox().describe_source(runtime, &self.source).await
    }
}

pub(crate) fn outcome(report: &SourceReport) -> Outcome {
    report.report.receipt.outcome
}

/// The value of a call that returned.
#[track_caller]
pub(crate) fn value(report: SourceReport) -> Value {
    let output = report.report.result;
    let output = output.unwrap_or_else(|failure| panic!("{failure}: {:?}", report.exception));
    output.structured.expect("a value as JSON")
}

/// The exception of a call that raised one.
#[track_caller]
pub(crate) fn raised(report: SourceReport) -> Exception {
    let result = report.report.result;
    report
        .exception
        .unwrap_or_else(|| panic!("nothing was raised: {result:?}"))
}

/// What is wrong with the input of a call that did not run for it, as place and message.
#[track_caller]
pub(crate) fn problems(report: SourceReport) -> Vec<(String, String)> {
    let failure = report.report.result.expect_err("the input is refused");
    let problems = failure.problems.into_iter();
    problems
        .map(|problem| (problem.at, problem.message))
        .collect()
}

/// The lines of the log at one level.
pub(crate) fn lines(report: &SourceReport, level: bulkhead_sandbox::LogLevel) -> Vec<&str> {
    let log = report.report.log.iter();
    log.filter(|line| line.level == level)
        .map(|line| line.message.as_str())
        .collect()
}

/// Calls in both languages still work: nothing that happened before harmed them.
pub(crate) async fn the_next_call_is_unharmed() {
    let javascript = Tool::javascript("function add(a, b) { return [a + b, [].flat().length] }");
    let report = javascript.call(json!({"a": 2, "b": 3})).await;
    assert_eq!(value(report), json!([5, 0]));
    if has_python() {
        let python = Tool::python("def add(a: int, b: int):\n    return [a + b, len('abc')]\n");
        let report = python.call(json!({"a": 2, "b": 3})).await;
        assert_eq!(value(report), json!([5, 3]));
    }
}
