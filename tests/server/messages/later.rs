//! Messages for which nobody waits.

use std::time::Duration;

use axum::{Json, Router, extract::State, routing::post};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc};

use super::{agent, detail, kinds, path, say, stop, text};
use crate::support::TestServer;

/// A receiver of reports on loopback.
async fn receiver() -> (String, mpsc::UnboundedReceiver<Value>) {
    let (sender, reports) = mpsc::unbounded_channel();
    let receive = async |State(sender): State<mpsc::UnboundedSender<Value>>,
                         Json(body): Json<Value>| {
        sender.send(body).unwrap();
    };
    let router = Router::new()
        .route("/done", post(receive))
        .with_state(sender);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/done", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, reports)
}

#[tokio::test]
async fn a_run_is_answered_at_once_and_its_end_is_reported() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let (url, mut reports) = receiver().await;
    let body = json!({ "input": "wait 100ms\nsay hi", "callback_url": url });
    let run = server.post(&path(&agent, "/async"), &body).await.body;
    assert_eq!(
        (&run["status"], &run["background"]),
        (&json!("created"), &json!(true))
    );
    assert_eq!(run["metadata"]["run_type"], "send_message_async");
    let report = tokio::time::timeout(Duration::from_secs(10), reports.recv()).await;
    let report = report.unwrap().unwrap();
    assert_eq!(
        (&report["run_id"], &report["status"]),
        (&run["id"], &json!("completed"))
    );
    let noted = async {
        loop {
            let run = server
                .get(&format!("/v1/runs/{}", text(&run["id"])))
                .await
                .body;
            if !run["callback_sent_at"].is_null() {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let noted = tokio::time::timeout(Duration::from_secs(10), noted)
        .await
        .unwrap();
    assert_eq!(noted["callback_status_code"], 200);
    assert_eq!(
        (&noted["status"], &noted["stop_reason"]),
        (&json!("completed"), &json!("end_turn"))
    );
    let messages = server
        .get(&format!("/v1/runs/{}/messages", text(&run["id"])))
        .await;
    assert_eq!(kinds(&messages.body), ["user_message", "assistant_message"]);
}

#[tokio::test]
async fn a_receiver_that_is_not_there_does_not_hurt_the_run() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let body = json!({ "input": "say hi", "callback_url": "http://127.0.0.1:9/done" });
    let run = server.post(&path(&agent, "/async"), &body).await.body;
    let noted = async {
        loop {
            let run = server
                .get(&format!("/v1/runs/{}", text(&run["id"])))
                .await
                .body;
            if !run["callback_error"].is_null() {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let noted = tokio::time::timeout(Duration::from_secs(10), noted)
        .await
        .unwrap();
    assert_eq!(noted["status"], "completed");
    assert_eq!(noted["callback_status_code"], Value::Null);
}

#[tokio::test]
async fn so_many_requests_to_an_agent_wait_and_more_are_refused() {
    let server = TestServer::start().await;
    let busy = agent(&server, json!({})).await;
    let other = agent(&server, json!({})).await;
    let body = json!({ "input": "wait 60s\nsay late" });
    for _ in 0..100 {
        let run = server.post(&path(&busy, "/async"), &body).await;
        assert_eq!(run.status, 200, "{run:?}");
    }
    let expected = "RATE_LIMIT_EXCEEDED: 100 requests to this agent go on or wait for their turn \
                    already. Please send this one again when some have ended.";
    for rest in ["/async", "/stream", ""] {
        let refused = server.post(&path(&busy, rest), &body).await;
        assert_eq!(detail(&refused), (429, expected), "{rest}");
    }
    assert_eq!(stop(&say(&server, &other, "say hi").await), "end_turn");
    let cancelled = server.post(&path(&busy, "/cancel"), &json!({})).await;
    let runs = cancelled.body.as_object().unwrap();
    assert_eq!(runs.len(), 100, "those that were refused are no runs");
    assert!(
        runs.values().all(|status| status == "cancelled"),
        "{runs:?}"
    );
    assert_eq!(stop(&say(&server, &busy, "say hi").await), "end_turn");
}
