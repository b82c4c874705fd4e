//! The shapes of the lower rooms' types in the OpenAPI document. Those rooms know nothing of
//! OpenAPI; a test compares every shape here with what serde writes.

#![expect(dead_code, reason = "only their schemas are used")]

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What kind of component it is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Native,
    Plain,
}

/// Bytes as they are.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
pub(crate) struct Bytes(Vec<u8>);

/// An interface that a component imports.
#[derive(ToSchema)]
pub(crate) struct Import {
    /// For example `bulkhead:tool/http@0.1.0`.
    name: String,
    /// Whether it can reach, learn or change anything beyond the call's own input and output.
    effect: bool,
}

/// What a tool says of itself.
#[derive(ToSchema)]
pub(crate) struct ToolInfo {
    /// Unique within its component.
    name: String,
    /// What it does, for the model.
    description: String,
    /// JSON Schema 2020-12 of the input.
    input_schema: Value,
    /// JSON Schema 2020-12 of the structured output.
    output_schema: Option<Value>,
    annotations: Annotations,
}

/// Hints for clients and approval policies; never a grant.
#[derive(ToSchema)]
pub(crate) struct Annotations {
    /// A name for people.
    title: Option<String>,
    /// Changes nothing outside of itself.
    read_only: bool,
    /// May delete or overwrite.
    destructive: bool,
    /// Repeating the call with the same input has no further effect.
    idempotent: bool,
    /// Reaches an open set of outside systems.
    open_world: bool,
}

/// What is wished for, granted or passed on. What is left out is not allowed.
#[derive(ToSchema)]
pub(crate) struct Capabilities {
    /// Requests that may leave, by any one of these rules.
    #[schema(required = false)]
    http: Vec<HttpRule>,
    /// Names of credentials that the host may add to requests.
    #[schema(required = false)]
    credentials: Vec<String>,
    /// Names of credentials that the guest may read.
    #[schema(required = false)]
    reveal: Vec<String>,
    /// Small durable state of its own.
    #[schema(required = false)]
    state: bool,
    /// The agent's memory blocks.
    memory: Option<MemoryRule>,
    /// The agent's archive and conversation.
    #[schema(required = false)]
    recall: bool,
    /// Files attached to the agent.
    #[schema(required = false)]
    files: bool,
    /// Ids of agents that it may write to; `*` for any.
    #[schema(required = false)]
    agents: Vec<String>,
    /// Names of other tools that it may call; `*` for any.
    #[schema(required = false)]
    peers: Vec<String>,
    /// Names of environment variables that it may see; `*` for any.
    #[schema(required = false)]
    env: Vec<String>,
    /// Folders of the host that it may see.
    #[schema(required = false)]
    folders: Vec<FolderRule>,
}

/// Which requests may leave: `[scheme://]host[:port][/path]`, or an object.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum HttpRule {
    /// For example `https://api.example.com/v1`.
    Shorthand(String),
    Rule(HttpRuleObject),
}

/// Allows the requests that match all of its parts.
#[derive(Serialize, ToSchema)]
pub(crate) struct HttpRuleObject {
    /// Exact, `*.example.com` for one leading label, `*` for any.
    host: String,
    /// `http` or `https`; both where left out.
    scheme: Option<String>,
    /// The scheme's default where left out.
    port: Option<u16>,
    /// Methods in upper case; any where left out.
    methods: Option<Vec<String>>,
    /// What the path begins with.
    #[schema(required = false)]
    path: String,
    /// Ranges of non-public addresses that this rule opens.
    #[schema(required = false)]
    private: Vec<String>,
    /// Bytes that one call may send under this rule.
    max_request_bytes: Option<u64>,
    /// Bytes that one call may receive under this rule.
    max_response_bytes: Option<u64>,
}

/// Where in a request a secret goes.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Placement {
    /// `authorization: Bearer SECRET`.
    Bearer,
    /// A header of its own.
    Header {
        name: String,
        /// What stands before the secret.
        #[schema(required = false)]
        prefix: String,
    },
    /// A parameter of the query.
    Query { name: String },
    /// The password of `authorization: Basic …`.
    Basic { user: String },
}

/// Which memory blocks, and whether they may be changed.
#[derive(ToSchema)]
pub(crate) struct MemoryRule {
    /// Labels of blocks; `*` for any.
    labels: Vec<String>,
    write: bool,
}

/// A folder of the host that a guest sees.
#[derive(ToSchema)]
pub(crate) struct FolderRule {
    /// Absolute path on the host; empty in a wish.
    #[schema(required = false)]
    host: String,
    /// Absolute path in the guest.
    guest: String,
    #[schema(required = false)]
    write: bool,
    /// Bytes that one call may write.
    quota_bytes: Option<u64>,
}

/// How two sets of capabilities differ.
#[derive(ToSchema)]
pub(crate) struct Diff {
    added: Vec<Change>,
    removed: Vec<Change>,
}

/// One capability that one set has and the other does not cover.
#[derive(ToSchema)]
pub(crate) struct Change {
    /// For example `http`.
    capability: String,
    /// What of it, for people.
    value: String,
}

/// One thing that is wrong.
#[derive(ToSchema)]
pub(crate) struct Problem {
    /// JSON Pointer (RFC 6901); empty for the whole.
    at: String,
    message: String,
}

/// How a call ended, as the host saw it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Ok,
    ToolError,
    Denied,
    InvalidInput,
    UnknownTool,
    OutOfFuel,
    DeadlineExceeded,
    OutOfMemory,
    LimitExceeded,
    Trap,
    Exited,
    InvalidOutput,
    Cancelled,
    Overloaded,
    HostError,
}

/// What a call that succeeded gives back.
#[derive(ToSchema)]
pub(crate) struct Output {
    /// What the model reads.
    content: Vec<Content>,
    /// JSON that matches the tool's output schema.
    structured: Option<Value>,
    /// Whether the host cut the content to its limit.
    truncated: bool,
}

/// One part of a result.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Content {
    Text {
        text: String,
    },
    Blob {
        /// For example `image/png`.
        media_type: String,
        /// Base64.
        data: String,
    },
    Link {
        uri: String,
        title: Option<String>,
    },
}

/// A tool's own failure.
#[derive(ToSchema)]
pub(crate) struct ToolError {
    /// `invalid_input`, `unauthorized`, `denied`, `not_found`, `conflict`, `upstream` or
    /// `failed`.
    kind: String,
    /// A text; for `invalid_input` a list of problems, for `upstream` an object.
    detail: Value,
}

/// What one call did and consumed.
#[derive(ToSchema)]
pub(crate) struct Receipt {
    /// `receipt-<uuid>`.
    id: String,
    /// `call-<uuid>`.
    call_id: String,
    /// Equal across retries of one logical call.
    idempotency_key: String,
    /// The component that ran.
    digest: String,
    /// SHA-256 of the source text, where that component is a runtime that ran source.
    #[schema(required = false)]
    source: Option<String>,
    /// The tool that was called.
    tool: String,
    /// The agent on whose behalf.
    agent_id: Option<String>,
    /// SHA-256 of the input text as the guest got it.
    input_hash: String,
    /// SHA-256 of the effective grant in canonical JSON.
    grant_hash: String,
    /// SHA-256 of the output as JSON.
    output_hash: Option<String>,
    outcome: Outcome,
    /// What the host says of an outcome other than ok.
    detail: Option<String>,
    fuel: FuelByPhase,
    /// The largest sum of all memories and tables.
    peak_memory_bytes: u64,
    /// From the slot's acquisition to the end, in microseconds.
    wall_us: u64,
    /// Waiting for a slot, in microseconds.
    queue_us: u64,
    /// When the call arrived (RFC 3339).
    started_at: String,
    /// Calls from the guest to the host, in order.
    host_calls: Vec<HostCall>,
    /// How many further host calls were not recorded one by one.
    host_calls_omitted: u64,
    /// What the host refused, each once.
    denials: Vec<Denial>,
}

/// Fuel by phase.
#[derive(ToSchema)]
pub(crate) struct FuelByPhase {
    instantiate: u64,
    call: u64,
}

/// One call from the guest to the host.
#[derive(ToSchema)]
pub(crate) struct HostCall {
    /// For example `http`.
    interface: String,
    /// For example `fetch`.
    function: String,
    /// What it was about; no query, no secret.
    target: Option<String>,
    bytes_in: u64,
    bytes_out: u64,
    /// `ok`, `failed` or `denied`.
    outcome: String,
    wall_us: u64,
}

/// Something that the host refused for want of a grant.
#[derive(ToSchema)]
pub(crate) struct Denial {
    capability: String,
    /// What was refused and which grant would allow it.
    message: String,
}

/// A line of a call's log.
#[derive(ToSchema)]
pub(crate) struct LogLine {
    /// `debug`, `info`, `stdout`, `stderr`, `warn` or `error`.
    level: String,
    message: String,
}

#[cfg(test)]
mod tests;
