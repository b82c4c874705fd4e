//! The receipt of a call: what ran, under which grant, what it consumed and what it reached for.

use serde::{Deserialize, Serialize};

use crate::{Digest, Outcome, Timestamp, id::CallId, id::ReceiptId};

/// What one call did and consumed. Enough to bill by and to audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Identifies this receipt.
    pub id: ReceiptId,
    /// Identifies the call.
    pub call_id: CallId,
    /// Equal across retries of one logical call.
    pub idempotency_key: String,
    /// The component that ran.
    pub digest: Digest,
    /// SHA-256 of the source text, where that component is a runtime that ran source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Digest>,
    /// The tool that was called.
    pub tool: String,
    /// The agent on whose behalf, where there was one.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// SHA-256 of the input text as the guest got it.
    pub input_hash: Digest,
    /// SHA-256 of the effective grant (wish ∩ grant ∩ narrowing), canonical JSON.
    pub grant_hash: Digest,
    /// SHA-256 of the output as JSON, where there was one.
    #[serde(default)]
    pub output_hash: Option<Digest>,
    /// How it ended.
    pub outcome: Outcome,
    /// What the host says of an outcome other than ok; never guest text.
    #[serde(default)]
    pub detail: Option<String>,
    /// Fuel that was consumed.
    pub fuel: FuelByPhase,
    /// The largest sum of all linear memories and tables of the call, in bytes.
    pub peak_memory_bytes: u64,
    /// From the slot's acquisition to the end, in microseconds.
    pub wall_us: u64,
    /// Waiting for a slot, in microseconds.
    pub queue_us: u64,
    /// When the call arrived.
    pub started_at: Timestamp,
    /// Calls from the guest to the host, in order, up to the host's limit on records.
    pub host_calls: Vec<HostCall>,
    /// How many further host calls were made and not recorded one by one.
    #[serde(default)]
    pub host_calls_omitted: u64,
    /// What the host refused, each once.
    #[serde(default)]
    pub denials: Vec<Denial>,
}

/// Fuel by phase. A unit is about one WebAssembly instruction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuelByPhase {
    /// Start functions and initialisers.
    pub instantiate: u64,
    /// The call itself.
    pub call: u64,
}

impl FuelByPhase {
    /// All fuel of the call.
    pub fn total(&self) -> u64 {
        self.instantiate.saturating_add(self.call)
    }
}

/// One call from the guest to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCall {
    /// The interface, without package or version, for example `http`.
    pub interface: String,
    /// The function, for example `fetch`.
    pub function: String,
    /// What it was about, for example `GET https://example.com`; no query, no secret.
    #[serde(default)]
    pub target: Option<String>,
    /// Bytes from the guest.
    pub bytes_in: u64,
    /// Bytes to the guest.
    pub bytes_out: u64,
    /// How it ended.
    pub outcome: HostCallOutcome,
    /// How long it took, in microseconds.
    pub wall_us: u64,
}

/// How a host call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCallOutcome {
    /// The host did it.
    Ok,
    /// The host tried and it failed.
    Failed,
    /// The host refused for want of a grant.
    Denied,
}

/// Something that the host refused for want of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The capability, for example `http`, `credential`, `state`.
    pub capability: String,
    /// What was refused and which grant would allow it.
    pub message: String,
}
