//! The receipt of a call, as it is written while the call goes on.

use std::time::Instant;

use bulkhead_domain::{
    Digest, FuelByPhase, Outcome, Receipt, Timestamp,
    id::{CallId, ReceiptId},
};
use bulkhead_mcp::{ToolResult, Trail};
use bulkhead_store::ToolRecord;
use serde_json::Value;

use super::call::{McpCall, Stopped};

/// A receipt that is being written.
pub(super) struct Draft {
    pub(super) receipt: Receipt,
    began: Instant,
    pub(super) trail: Trail,
}

impl Draft {
    pub(super) fn new(call: &McpCall) -> Self {
        let call_id = CallId::random();
        let key = call.idempotency_key.clone();
        let input = Value::Object(call.arguments.clone()).to_string();
        let receipt = Receipt {
            id: ReceiptId::random(),
            call_id,
            idempotency_key: key.unwrap_or_else(|| call_id.to_string()),
            // Nothing of it runs here: what the server said of it, as it was called.
            digest: definition(&call.tool),
            source: None,
            tool: call.tool.name.clone(),
            agent_id: call.agent_id.clone(),
            input_hash: Digest::of(input.as_bytes()),
            // Of nothing, until it is known what the call may do.
            grant_hash: Digest::of(b""),
            output_hash: None,
            outcome: Outcome::HostError,
            detail: None,
            fuel: FuelByPhase::default(),
            peak_memory_bytes: 0,
            wall_us: 0,
            queue_us: 0,
            started_at: Timestamp::now(),
            host_calls: Vec::new(),
            host_calls_omitted: 0,
            denials: Vec::new(),
        };
        Self {
            receipt,
            began: Instant::now(),
            trail: Trail::default(),
        }
    }

    pub(super) fn of_result(mut self, result: &ToolResult) -> Receipt {
        self.receipt.outcome = match result.is_error {
            true => Outcome::ToolError,
            false => Outcome::Ok,
        };
        let output = (!result.is_error).then(|| Digest::of(result.text().as_bytes()));
        self.receipt.output_hash = output;
        self.finish()
    }

    pub(super) fn of_failure(mut self, stopped: Stopped) -> Receipt {
        self.receipt.outcome = stopped.outcome;
        self.receipt.detail = stopped.detail;
        self.receipt.denials.extend(stopped.denied);
        self.finish()
    }

    fn finish(mut self) -> Receipt {
        let (host_calls, omitted) = self.trail.host_calls();
        self.receipt.host_calls = host_calls;
        self.receipt.host_calls_omitted = omitted;
        let wall = self.began.elapsed().as_micros();
        self.receipt.wall_us = u64::try_from(wall).unwrap_or(u64::MAX);
        self.receipt
    }
}

/// SHA-256 of what the server said of a tool.
fn definition(tool: &ToolRecord) -> Digest {
    let schema = tool.json_schema.as_ref().unwrap_or(&Value::Null);
    Digest::of(schema.to_string().as_bytes())
}
