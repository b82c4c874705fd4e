//! Notices and results as JSON text, in the forms that clients and models know.

use bulkhead_domain::{Timestamp, ToolStatus};
use serde::Serialize;
use serde_json::{Value, json};

use crate::clock;

/// What a model is told where the run may not end yet or goes on by itself.
const HIDDEN: &str = "[This is an automated system message hidden from the user] ";

/// JSON, indented by two; keys in the order of the type.
pub(crate) fn indented(value: &impl Serialize) -> String {
    // Only maps with keys that are no text fail, and there are none here.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[derive(Serialize)]
struct PackedReturn<'a> {
    status: &'a str,
    message: &'a Value,
    time: String,
}

/// What a model reads of a tool's result: `status` (`OK` or `Failed`), `message` and `time`.
pub fn tool_return(status: ToolStatus, message: &Value, at: Timestamp, timezone: &str) -> String {
    indented(&PackedReturn {
        status: match status {
            ToolStatus::Success => "OK",
            ToolStatus::Error => "Failed",
        },
        message,
        time: clock::for_model(at, timezone),
    })
}

#[derive(Serialize)]
struct Heartbeat<'a> {
    r#type: &'a str,
    reason: String,
    time: String,
}

/// A notice that lets the model go on.
pub(crate) fn heartbeat(reason: &str, at: Timestamp, timezone: &str) -> String {
    indented(&Heartbeat {
        r#type: "heartbeat",
        reason: format!("{HIDDEN}{reason}"),
        time: clock::for_model(at, timezone),
    })
}

#[derive(Serialize)]
struct Login<'a> {
    r#type: &'a str,
    last_login: &'a str,
    time: String,
}

/// The first message of agents of the older types.
pub(crate) fn login(at: Timestamp, timezone: &str) -> String {
    indented(&Login {
        r#type: "login",
        last_login: "Never (first login)",
        time: clock::for_model(at, timezone),
    })
}

/// What stands in the context for messages that were taken out of it.
pub(crate) fn summary(
    message: &str,
    at: Timestamp,
    timezone: &str,
    stats: Option<&CompactionStats>,
) -> String {
    let mut alert = json!({
        "type": "system_alert",
        "message": message,
        "time": clock::for_model(at, timezone),
    });
    if let Some(stats) = stats {
        alert["compaction_stats"] = json!(stats);
    }
    indented(&alert)
}

/// What a compaction changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct CompactionStats {
    /// Why it was done.
    pub trigger: String,
    /// Estimated tokens of the context before.
    pub context_tokens_before: Option<i64>,
    /// And after.
    pub context_tokens_after: Option<i64>,
    /// Tokens that fit.
    pub context_window: i64,
    /// Messages in the context before, the system message included.
    pub messages_count_before: i64,
    /// And after.
    pub messages_count_after: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_packed_as_clients_know_it() {
        let at = Timestamp::from_micros(1_795_293_487_000_000);
        assert_eq!(
            tool_return(ToolStatus::Success, &json!("4"), at, "UTC"),
            "{\n  \"status\": \"OK\",\n  \"message\": \"4\",\n  \"time\": \"2026-11-21 08:38:07 PM UTC+0000\"\n}"
        );
        assert!(
            heartbeat("x", at, "UTC")
                .starts_with("{\n  \"type\": \"heartbeat\",\n  \"reason\": \"[This is")
        );
    }
}
