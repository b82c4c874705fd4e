//! What is kept of a run whose model, or whose server, failed; on both databases.

use serde_json::{Value, json};

use crate::{
    both::on_both,
    clients::read,
    consistency::{agrees, ended, state},
    live::Live,
    messages::{Event, agent, events, outline, path, say, send, stop, text},
    support::TestServer,
};

/// The failures of the offline model: what the run keeps as its kind, why it ended, and a part of
/// what exactly happened.
const FAILURES: [(&str, &str, &str, &str); 10] = [
    ("timeout", "llm_timeout", "llm_api_error", "TIMEOUT: "),
    (
        "rate_limit",
        "llm_rate_limit",
        "llm_api_error",
        "RATE_LIMIT_EXCEEDED: ",
    ),
    (
        "authentication",
        "llm_authentication",
        "llm_api_error",
        "UNAUTHENTICATED: ",
    ),
    (
        "server",
        "llm_error",
        "llm_api_error",
        "INTERNAL_SERVER_ERROR: ",
    ),
    (
        "overloaded",
        "llm_error",
        "llm_api_error",
        "INTERNAL_SERVER_ERROR: ",
    ),
    (
        "connection",
        "llm_error",
        "llm_api_error",
        "INTERNAL_SERVER_ERROR: ",
    ),
    (
        "bad_request",
        "llm_error",
        "llm_api_error",
        "INVALID_ARGUMENT: ",
    ),
    (
        "credits",
        "llm_error",
        "llm_api_error",
        "PAYMENT_REQUIRED: ",
    ),
    (
        "invalid",
        "llm_error",
        "invalid_llm_response",
        "INTERNAL_SERVER_ERROR: ",
    ),
    (
        "empty",
        "llm_empty_response",
        "invalid_llm_response",
        "INTERNAL_SERVER_ERROR: ",
    ),
];

/// By message and in pieces, in the foreground and in the background.
const WAYS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

async fn streamed(server: &TestServer, agent: &str, input: &str, way: (bool, bool)) -> Vec<Event> {
    let body = json!({ "input": input, "stream_tokens": way.0, "background": way.1 });
    Live::open(server, agent, &body).await.end().await
}

/// Fails unless a stream failed before it said anything, and its run keeps what the stream told.
async fn keeps_its_failure(
    server: &TestServer,
    seen: &[Event],
    error_type: &str,
    reason: &str,
) -> Value {
    let expected = [
        "ping".to_owned(),
        format!("stop_reason \"{reason}\""),
        format!("error: error_message \"{error_type}\""),
        "[DONE]".to_owned(),
    ];
    assert_eq!(outline(seen), expected);
    let run = ended(server, text(&seen[0].1["run_id"])).await;
    assert_eq!(
        (&run["status"], &run["stop_reason"]),
        (&json!("failed"), &json!(reason)),
        "{run}"
    );
    let error = &run["metadata"]["error"];
    assert_eq!(*error, seen[2].1);
    assert_eq!(
        (&error["error_type"], &error["run_id"]),
        (&json!(error_type), &run["id"])
    );
    run
}

/// Has the database refuse to store messages, as one does whose disk is full.
async fn refuse_messages(server: &TestServer) {
    let sqlite = "CREATE TRIGGER refuse BEFORE INSERT ON messages
        BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    let postgres = "CREATE FUNCTION refuse() RETURNS trigger AS $$
        BEGIN RAISE EXCEPTION 'the disk is full'; END $$ LANGUAGE plpgsql;
        CREATE TRIGGER refuse BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION refuse()";
    let is_sqlite = server.database().url().starts_with("sqlite");
    server
        .database()
        .script(if is_sqlite { sqlite } else { postgres })
        .await;
}

async fn take_messages(server: &TestServer) {
    let is_sqlite = server.database().url().starts_with("sqlite");
    let table = if is_sqlite { "" } else { " ON messages" };
    server
        .database()
        .script(&format!("DROP TRIGGER refuse{table}"))
        .await;
}

on_both! {
    async fn a_failing_model_is_kept_in_its_run_by_kind(server) {
        let agent = agent(&server, json!({})).await;
        let untouched = read(&server, &path(&agent, "")).await;
        for (kind, error_type, reason, detail) in FAILURES {
            for way in WAYS {
                let seen = streamed(&server, &agent, &format!("fail {kind}"), way).await;
                let run = keeps_its_failure(&server, &seen, error_type, reason).await;
                let told = text(&run["metadata"]["error"]["detail"]);
                assert!(told.starts_with(detail), "{kind}: {told}");
                assert_eq!(run["background"], way.1);
                assert_eq!(state(&server, &agent).await["last_stop_reason"], reason);
            }
        }
        assert_eq!(read(&server, &path(&agent, "")).await, untouched);
        agrees(&server, &agent).await;
        assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
    }

    async fn a_run_for_which_nobody_waits_keeps_its_failure_too(server) {
        let agent = agent(&server, json!({})).await;
        for (kind, error_type, reason, _) in FAILURES {
            let body = json!({ "input": format!("fail {kind}") });
            let run = server.post(&path(&agent, "/async"), &body).await.body;
            let run = ended(&server, text(&run["id"])).await;
            assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!(reason)));
            assert_eq!(run["metadata"]["error"]["error_type"], error_type, "{run}");
            assert_eq!(run["metadata"]["run_type"], "send_message_async");
        }
        agrees(&server, &agent).await;
    }

    async fn a_failure_in_the_middle_is_kept_and_one_that_comes_back_sees_the_same_end(server) {
        let agent = agent(&server, json!({})).await;
        for background in [false, true] {
            let input = "say one two three four five\nfail rate_limit after 2 pieces";
            let seen = streamed(&server, &agent, input, (true, background)).await;
            assert_eq!(
                outline(&seen),
                [
                    "ping",
                    "assistant_message \"one \"",
                    "assistant_message \"two \"",
                    "stop_reason \"llm_api_error\"",
                    "error: error_message \"internal_error\"",
                ]
            );
            let run = ended(&server, text(&seen[0].1["run_id"])).await;
            assert_eq!(run["status"], "failed", "{run}");
            assert_eq!(run["metadata"]["error"]["error_type"], "llm_rate_limit", "{run}");
            assert_eq!(run["metadata"]["error"]["detail"], seen[4].1["detail"]);
            if background {
                let stream = format!("/v1/runs/{}/stream", text(&run["id"]));
                let again = server.post(&stream, &json!({})).await;
                assert_eq!(outline(&events(&again)), outline(&seen));
            }
            agrees(&server, &agent).await;
        }
        assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
    }

    async fn a_failure_inside_is_an_internal_error_that_tells_no_secrets(server) {
        let agent = agent(&server, json!({})).await;
        let untouched = read(&server, &path(&agent, "")).await;
        refuse_messages(&server).await;
        for way in WAYS {
            let seen = streamed(&server, &agent, "empty", way).await;
            let run = keeps_its_failure(&server, &seen, "internal_error", "error").await;
            assert_eq!(run["metadata"]["error"]["detail"], "An unknown error occurred");
            assert!(!run.to_string().contains("disk"), "{run}");
        }
        let whole = send(&server, &agent, json!({ "input": "say hi" })).await;
        assert_eq!(whole.status, 500, "{whole:?}");
        assert!(!whole.text.contains("disk"), "{whole:?}");
        let run = server.post(&path(&agent, "/async"), &json!({ "input": "say hi" })).await.body;
        let run = ended(&server, text(&run["id"])).await;
        assert_eq!(run["metadata"]["error"]["error_type"], "internal_error");
        assert_eq!(state(&server, &agent).await["last_stop_reason"], "error");
        take_messages(&server).await;
        agrees(&server, &agent).await;
        assert_eq!(read(&server, &path(&agent, "")).await, untouched);
        assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
        agrees(&server, &agent).await;
    }
}
