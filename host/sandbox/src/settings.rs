//! Every size of the sandbox, with its reason.

use std::{path::PathBuf, time::Duration};

use bulkhead_policy::Limits;
use serde::Serialize;

use crate::CacheKey;

const MIB: u64 = 1 << 20;

/// Sizes of a sandbox. `Default` suits a laptop and a small server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Calls that run at once; further calls wait. More than cores, because calls that wait for
    /// the network hold a slot too. Four times as many, 256 at most, may run beside them that
    /// asked agents.
    pub slots: usize,
    /// Calls that may wait for a slot; one more is refused at once.
    pub queue: usize,
    /// How long a call may wait for a slot.
    pub queue_timeout: Duration,
    /// What a call may ask for at most.
    pub ceiling: Limits,
    /// Bytes of a component. A language runtime with its standard library has 20 to 40 MB.
    pub max_component_bytes: u64,
    /// How long compiling may take. Python's runtime takes about 10 s on two cores.
    pub compile_timeout: Duration,
    /// Components that are compiled at once; one leaves the other core to calls.
    pub compile_jobs: usize,
    /// Where compiled artifacts are kept; none to keep them in memory only.
    pub cache_dir: Option<PathBuf>,
    /// The key of this installation by which artifacts are authenticated. Without one,
    /// nothing is read from a cache folder.
    pub cache_key: Option<CacheKey>,
    /// Bytes of all artifacts; the least recently used go first.
    pub cache_max_bytes: u64,
    /// Whether instances come from preallocated slots. Falls back to allocation on demand
    /// where the address space is too small.
    pub pooling: bool,
    /// Bytes of linear memory that stay resident in an idle slot, so that the next call needs
    /// no page fault for them.
    pub keep_resident_bytes: usize,
    /// Fuel after which a running guest lets other tasks of its thread run.
    pub yield_interval: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            slots: 64,
            queue: 16_384,
            queue_timeout: Duration::from_secs(30),
            ceiling: Limits {
                fuel: 100_000_000_000,
                timeout_ms: 600_000,
                memory_bytes: 512 * MIB,
                table_elements: 1_000_000,
                input_bytes: 8 * MIB,
                output_bytes: 8 * MIB,
                log_bytes: MIB,
                event_bytes: 8 * MIB,
                http_requests: 1_000,
                http_request_bytes: 64 * MIB,
                http_response_bytes: 256 * MIB,
                folder_bytes: 1_024 * MIB,
            },
            max_component_bytes: 64 * MIB,
            compile_timeout: Duration::from_secs(60),
            compile_jobs: 1,
            cache_dir: None,
            cache_key: None,
            cache_max_bytes: 2_048 * MIB,
            pooling: true,
            keep_resident_bytes: 1 << 20,
            yield_interval: 100_000,
        }
    }
}

/// How busy a sandbox is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Slots in all.
    pub slots: usize,
    /// Calls that run. Those that asked agents need no slot any more and count nevertheless.
    pub running: usize,
    /// Calls that wait for a slot.
    pub waiting: usize,
    /// Whether instances come from preallocated slots.
    pub pooling: bool,
}
