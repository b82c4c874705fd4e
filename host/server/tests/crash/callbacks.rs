//! Whoever wants to be told of a run's end is told of the end of one whose server was killed, by the
//! next server.

use std::time::Duration;

use axum::{Json, Router, extract::State, routing::post};
use bulkhead_store::testing::{Kind, TestDatabase};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc};

use crate::program::Program;

/// Many times what it takes from the start of a server to its report, the silence included after
/// which a run counts as abandoned.
const TOLD: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_killed_server_s_run_is_reported_once_on_sqlite() {
    reported(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_killed_server_s_run_is_reported_once_on_postgres() {
    if let Some(database) = TestDatabase::create(Kind::Postgres).await {
        reported(Some(database)).await;
    }
}

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

async fn reported(database: Option<TestDatabase>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (url, mut reports) = receiver().await;
    let mut program = Program::new(database);
    program.start().await;
    let client = program.client();
    let body = json!({ "model": "bulkhead/scripted", "include_base_tools": false });
    let agent = client.post("/v1/agents/", &body).await;
    let messages = format!(
        "/v1/agents/{}/messages/async",
        agent["id"].as_str().unwrap()
    );
    let body = json!({ "input": "wait 60s\nsay late", "callback_url": url });
    let begun = client.post(&messages, &body).await;
    program.kill();
    assert!(reports.try_recv().is_err(), "it did not end");

    program.start().await;
    let client = program.client();
    let report = tokio::time::timeout(TOLD, reports.recv()).await;
    let report = report.expect("somebody tells of the end").unwrap();
    assert_eq!(
        (&report["run_id"], &report["status"]),
        (&begun["id"], &json!("failed"))
    );
    assert!(report["completed_at"].is_string(), "{report}");
    let why = report["metadata"]["error"]["detail"].as_str().unwrap();
    assert!(
        why.contains("server that worked on this run ended"),
        "{report}"
    );
    let path = format!("/v1/runs/{}", begun["id"].as_str().unwrap());
    let noted = async {
        loop {
            let run = client.get(&path).await;
            if !run["callback_sent_at"].is_null() {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let noted = tokio::time::timeout(TOLD, noted).await;
    let noted = noted.expect("the report is noted");
    assert_eq!(noted["callback_status_code"], 200, "{noted}");
    assert_eq!(noted["status"], "failed", "{noted}");

    // Whoever starts later has nothing to report.
    program.kill();
    program.start().await;
    tokio::time::sleep(program.silence() + Duration::from_secs(1)).await;
    assert!(reports.try_recv().is_err(), "it is told once");
}
