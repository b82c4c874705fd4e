//! Errors of setting up the sandbox and of installing components.

use bulkhead_domain::Problem;

/// The sandbox could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// wasmtime refused its configuration or this machine.
    #[error("the WebAssembly engine could not be set up: {0}")]
    Engine(String),
    /// The checked way out to the network could not be set up.
    #[error("the network egress could not be set up")]
    Egress(#[from] bulkhead_egress::SetupError),
    /// The folder of compiled artifacts can't be used.
    #[error("the cache folder {path} can't be used; check its permissions and free space")]
    Cache {
        /// The folder.
        path: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// A component was not installed. Nothing of it ran with any capability, nothing is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The bytes are no WebAssembly component: empty, truncated, text, a core module.
    #[error("this is no WebAssembly component: {0}")]
    NotAComponent(String),
    /// More bytes than the operator allows.
    #[error("the component has {actual} bytes, more than the {limit} that are allowed")]
    TooLarge {
        /// Its size.
        actual: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// It is a component and not a valid one, or uses a proposal that is not enabled.
    #[error("the component is not valid: {0}")]
    Invalid(String),
    /// It imports something that the host does not provide.
    #[error("the component imports what this host does not provide: {}", .0.join(", "))]
    UnknownImports(Vec<String>),
    /// It exports neither `bulkhead:tool/tools` nor any function on plain values.
    #[error("the component exports no tools: {0}")]
    NoTools(String),
    /// It exports another version of the ABI.
    #[error(
        "the component exports {found}, this host understands {expected}; rebuild it with a current SDK"
    )]
    WrongVersion {
        /// What it exports.
        found: String,
        /// What this host understands.
        expected: String,
    },
    /// Compiling took longer than the operator allows.
    #[error("compiling took longer than {0} s and was given up")]
    CompileTimeout(u64),
    /// Compiling failed inside the compiler.
    #[error("the component could not be compiled: {0}")]
    Compile(String),
    /// Its `describe` did not return within its budget, or trapped.
    #[error("the component's describe did not finish: {0}")]
    Describe(String),
    /// What `describe` returned, or the section of wishes, breaks the rules.
    #[error("the component describes its tools wrongly: {}", problems(.0))]
    Description(Vec<Problem>),
    /// Too much is being compiled at once.
    #[error("too many components are being installed at once; try again in a moment")]
    Busy,
    /// The host failed; the log has the cause.
    #[error("the host failed while it installed the component: {0}")]
    Host(String),
}

impl InstallError {
    /// A stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAComponent(_) => "not_a_component",
            Self::TooLarge { .. } => "component_too_large",
            Self::Invalid(_) => "invalid_component",
            Self::UnknownImports(_) => "unknown_imports",
            Self::NoTools(_) => "no_tools",
            Self::WrongVersion { .. } => "wrong_abi_version",
            Self::CompileTimeout(_) => "compile_timeout",
            Self::Compile(_) => "compile_failed",
            Self::Describe(_) => "describe_failed",
            Self::Description(_) => "invalid_description",
            Self::Busy => "install_busy",
            Self::Host(_) => "host_error",
        }
    }
}

fn problems(problems: &[Problem]) -> String {
    let lines = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.at, problem.message));
    lines.collect::<Vec<_>>().join("; ")
}
