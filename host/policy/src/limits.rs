//! The limits of one call. Each is a named constant with its reason beside it.

use serde::{Deserialize, Serialize};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// About one second of native work: far above any well-behaved tool, far below an annoyance.
pub const DEFAULT_FUEL: u64 = 1_000_000_000;
/// A tool that waits for the network should answer within a chat's patience.
pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// Room for a language runtime with its working set.
pub const DEFAULT_MEMORY_BYTES: u64 = 128 * MIB;
/// Entries of all tables; a large C++ program has some ten thousand functions.
pub const DEFAULT_TABLE_ELEMENTS: u64 = 100_000;
/// More than any model reads; a tool that has more should page.
pub const DEFAULT_OUTPUT_BYTES: u64 = MIB;
/// Input that a model or a client can sensibly produce.
pub const DEFAULT_INPUT_BYTES: u64 = MIB;
/// Log lines, stdout and stderr together.
pub const DEFAULT_LOG_BYTES: u64 = 64 * KIB;
/// Progress messages and partial output together.
pub const DEFAULT_EVENT_BYTES: u64 = 256 * KIB;
/// Requests of one call; a crawler is a job, not a call.
pub const DEFAULT_HTTP_REQUESTS: u64 = 64;
/// Bytes of all answers of one call.
pub const DEFAULT_HTTP_RESPONSE_BYTES: u64 = 32 * MIB;
/// Bytes of all request bodies of one call.
pub const DEFAULT_HTTP_REQUEST_BYTES: u64 = 8 * MIB;
/// Bytes that one call may write to one folder.
pub const DEFAULT_FOLDER_BYTES: u64 = 64 * MIB;

/// The limits of one call. `Default` gives the defaults above; [`Limits::within`] clamps what a
/// caller asks for to what the operator allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Units of fuel, about one WebAssembly instruction each, for instantiation and call.
    pub fuel: u64,
    /// Wall-clock milliseconds, host calls included, waiting for a slot not included.
    pub timeout_ms: u64,
    /// Bytes of all linear memories together.
    pub memory_bytes: u64,
    /// Entries of all tables together.
    pub table_elements: u64,
    /// Bytes of the input text.
    pub input_bytes: u64,
    /// Bytes of the result's text and blobs; what is over is cut and marked.
    pub output_bytes: u64,
    /// Bytes of log lines, stdout and stderr; what is over is dropped and marked.
    pub log_bytes: u64,
    /// Bytes of progress and partial output; what is over is dropped and marked.
    pub event_bytes: u64,
    /// Requests of one call.
    pub http_requests: u64,
    /// Bytes of all request bodies of one call.
    pub http_request_bytes: u64,
    /// Bytes of all answers of one call.
    pub http_response_bytes: u64,
    /// Bytes that one call may write to one folder that names no quota.
    pub folder_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: DEFAULT_FUEL,
            timeout_ms: DEFAULT_TIMEOUT_MS,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            table_elements: DEFAULT_TABLE_ELEMENTS,
            input_bytes: DEFAULT_INPUT_BYTES,
            output_bytes: DEFAULT_OUTPUT_BYTES,
            log_bytes: DEFAULT_LOG_BYTES,
            event_bytes: DEFAULT_EVENT_BYTES,
            http_requests: DEFAULT_HTTP_REQUESTS,
            http_request_bytes: DEFAULT_HTTP_REQUEST_BYTES,
            http_response_bytes: DEFAULT_HTTP_RESPONSE_BYTES,
            folder_bytes: DEFAULT_FOLDER_BYTES,
        }
    }
}

impl Limits {
    /// The smaller of each limit: what a caller asks for, within what the operator allows.
    #[must_use]
    pub fn within(&self, ceiling: &Self) -> Self {
        Self {
            fuel: self.fuel.min(ceiling.fuel),
            timeout_ms: self.timeout_ms.min(ceiling.timeout_ms),
            memory_bytes: self.memory_bytes.min(ceiling.memory_bytes),
            table_elements: self.table_elements.min(ceiling.table_elements),
            input_bytes: self.input_bytes.min(ceiling.input_bytes),
            output_bytes: self.output_bytes.min(ceiling.output_bytes),
            log_bytes: self.log_bytes.min(ceiling.log_bytes),
            event_bytes: self.event_bytes.min(ceiling.event_bytes),
            http_requests: self.http_requests.min(ceiling.http_requests),
            http_request_bytes: self.http_request_bytes.min(ceiling.http_request_bytes),
            http_response_bytes: self.http_response_bytes.min(ceiling.http_response_bytes),
            folder_bytes: self.folder_bytes.min(ceiling.folder_bytes),
        }
    }
}
