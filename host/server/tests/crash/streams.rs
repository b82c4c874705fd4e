//! What must hold of the stream of a run in the background, whoever comes back to it.

use serde_json::{Value, json};

use crate::program::Client;

/// Reads a run's stream from the beginning: it has an end, says once why the run ended, and says
/// the same as the run.
pub(crate) async fn check(client: &Client, run_id: &str) {
    let path = format!("/v1/runs/{run_id}");
    let request = client.request(reqwest::Method::POST, &format!("{path}/stream"));
    let answer = request.json(&json!({})).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{run_id}");
    let text = answer.text().await.unwrap();
    let run = client.get(&path).await;
    let mut last = 0;
    let mut reasons = Vec::new();
    for event in text.trim_end().split("\n\n") {
        let data = event.lines().find_map(|line| line.strip_prefix("data: "));
        let data = data.unwrap_or_else(|| panic!("half an event: {event:?} in {text}"));
        if data == "[DONE]" {
            continue;
        }
        let event: Value = serde_json::from_str(data).unwrap();
        if let Some(number) = event["seq_id"].as_u64() {
            assert!(number > last, "{run_id}: {text}");
            last = number;
        }
        if event["message_type"] == "stop_reason" {
            reasons.push(event["stop_reason"].clone());
        }
    }
    let reason = match reasons.as_slice() {
        // What became of a request for approval came after the end of the stream.
        [asked] if asked == "requires_approval" && run["stop_reason"] == "cancelled" => asked,
        _ => &run["stop_reason"],
    };
    assert_eq!(reasons, std::slice::from_ref(reason), "{run}: {text}");
}
