//! Tools that arrive as source text, and the runtimes that run them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use bulkhead_domain::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Call, Report, interfaces::RuntimeEntry, state::CallState};

/// Bytes of one source. A person writes less by far; parsing takes time for each.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// The runtime of one or more languages, ready to run source. Cheap to clone.
#[derive(Clone)]
pub struct Runtime(pub(crate) Arc<InstalledRuntime>);

pub(crate) struct InstalledRuntime {
    pub(crate) digest: Digest,
    pub(crate) entry: RuntimeEntry<CallState>,
}

impl Runtime {
    /// The SHA-256 of its bytes.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("digest", &self.0.digest)
            .finish_non_exhaustive()
    }
}

/// A language of source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python, as CPython runs it.
    Python,
    /// JavaScript.
    JavaScript,
    /// TypeScript: its types are removed, not checked.
    TypeScript,
}

/// Source text.
#[derive(Debug, Clone)]
pub struct Source {
    /// What it is written in.
    pub language: Language,
    /// The text, of at most [`MAX_SOURCE_BYTES`].
    pub text: Arc<str>,
    /// The function that is the tool; none: the one that the language's rules choose.
    pub function: Option<String>,
}

/// Why source can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong, and where.
    pub message: String,
    /// The line, counted from one.
    pub line: Option<u32>,
    /// The parameter.
    pub parameter: Option<String>,
}

/// What can be read in source without running it.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The function's name.
    pub name: String,
    /// What its documentation says; empty without one.
    pub description: String,
    /// JSON Schema of an object with its arguments, or why there is none.
    pub schema: Result<Value, Fault>,
    /// What a caller passes, in the order of the signature, and whether it must.
    pub parameters: Vec<(String, bool)>,
    /// Whether it takes arguments beyond these.
    pub open: bool,
}

/// What source finds around it.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The variables, all of them.
    pub variables: Vec<(String, String)>,
    /// Folders of the guest with packages, searched in this order.
    pub packages: Vec<String>,
    /// JSON of the agent on whose behalf it runs.
    pub agent: Option<String>,
    /// Names of tools that it may call like functions.
    pub peers: Vec<String>,
}

/// What to do with source.
#[derive(Debug, Clone)]
pub enum Job {
    /// Call its function with the call's input.
    Call {
        /// Names of the arguments in the order of the tool's schema.
        order: Vec<String>,
    },
    /// Run it as a script; the input does not matter.
    Run,
}

/// A call of source.
#[derive(Debug)]
pub struct SourceCall {
    /// The source.
    pub source: Source,
    /// What to do with it.
    pub job: Job,
    /// What it finds around it.
    pub environment: Environment,
    /// Everything else; `tool` is the name in the receipt.
    pub call: Call,
}

/// An exception that source raised and did not catch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// For example `ValueError`.
    pub kind: String,
    /// Its text.
    pub message: String,
    /// The lines of the source that led to it.
    pub traceback: String,
}

/// What a call of source gave.
#[derive(Debug, Clone)]
pub struct SourceReport {
    /// Its result, receipt and log.
    pub report: Report,
    /// What it raised, where that is why there is no output.
    pub exception: Option<Exception>,
    /// Memory blocks that it changed, if it returned: label to new value.
    pub memory: BTreeMap<String, String>,
}
