//! On a database that servers share, by another server than the one that works on the run.

use std::time::{Duration, Instant};

use bulkhead_store::testing::Kind;
use serde_json::json;

use super::{busy_agent, cancel, ends_cancelled, is_cancelled};
use crate::{live::Live, support::TestServer};

/// Many times what it takes a server to see that its run was cancelled by another one.
const SEEN: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_run_is_cancelled_by_whichever_server_is_asked() {
    let Some(server) = TestServer::start_kind(Kind::Postgres).await else {
        return;
    };
    let other = server.beside().await;
    let agent = busy_agent(&server).await;
    for input in ["wait 60s\nsay late", "call spin"] {
        let mut stream = Live::open(&server, &agent, &json!({ "input": input })).await;
        let run = stream.run().await;
        if input == "call spin" {
            stream.until("tool_call_message").await;
        }
        let asked = Instant::now();
        assert_eq!(cancel(&other, &agent).await, json!({ &run: "cancelled" }));
        ends_cancelled(&stream.end().await);
        assert!(asked.elapsed() < SEEN, "{:?}", asked.elapsed());
        is_cancelled(&server, &agent, &run).await;
    }
}
