//! What is kept of a run whose model, or whose server, failed; on both databases.

use std::time::Duration;

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

/// Has the database refuse to store rows of a table, as one does whose disk is full.
async fn refuse(server: &TestServer, table: &str) {
    let script = match server.database().url().starts_with("sqlite") {
        true => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON {table}
            BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        ),
        false => format!(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger AS $$
            BEGIN RAISE EXCEPTION 'the disk is full'; END $$ LANGUAGE plpgsql;
            CREATE TRIGGER refuse BEFORE INSERT ON {table}
            FOR EACH ROW EXECUTE FUNCTION refuse()"
        ),
    };
    server.database().script(&script).await;
}

/// Has the database store them again.
async fn take(server: &TestServer, table: &str) {
    let is_sqlite = server.database().url().starts_with("sqlite");
    let on = if is_sqlite {
        String::new()
    } else {
        format!(" ON {table}")
    };
    server
        .database()
        .script(&format!("DROP TRIGGER refuse{on}"))
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
        refuse(&server, "messages").await;
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
        take(&server, "messages").await;
        agrees(&server, &agent).await;
        assert_eq!(read(&server, &path(&agent, "")).await, untouched);
        assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
        agrees(&server, &agent).await;
    }

    async fn a_run_whose_events_cannot_be_stored_ends_and_its_client_is_told(server) {
        let agent = agent(&server, json!({})).await;
        refuse(&server, "run_events").await;
        let body = json!({ "input": "say one two", "background": true, "stream_tokens": true });
        let seen = Live::open(&server, &agent, &body).await.end().await;
        let expected = [
            "stop_reason \"end_turn\"",
            "error: error_message \"stream_incomplete\"",
            "[DONE]",
        ];
        assert_eq!(outline(&seen), expected);
        let run = ended(&server, text(&seen[1].1["run_id"])).await;
        assert_eq!(run["status"], "completed", "{run}");
        take(&server, "run_events").await;
        let again = format!("/v1/runs/{}/stream", text(&run["id"]));
        let again = server.post(&again, &json!({})).await;
        assert_eq!(outline(&events(&again)), expected);
        agrees(&server, &agent).await;
        assert_eq!(stop(&say(&server, &agent, "say Fine.").await), "end_turn");
    }

    async fn a_stream_of_which_a_part_could_not_be_stored_says_so_at_its_end(server) {
        let agent = agent(&server, json!({})).await;
        let body = json!({
            "input": "pause 200ms\nsay a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4",
            "background": true, "stream_tokens": true,
        });
        let mut live = Live::open(&server, &agent, &body).await;
        let run = live.run().await;
        live.until("assistant_message").await;
        refuse(&server, "run_events").await;
        // Longer than all tries to store what comes now, and shorter than the run.
        tokio::time::sleep(Duration::from_secs(4)).await;
        take(&server, "run_events").await;
        let seen = outline(&live.end().await);
        assert_eq!(seen[..2], ["ping", "assistant_message \"a \""]);
        let end = [
            "error: error_message \"stream_incomplete\"",
            "stop_reason \"end_turn\"",
            "usage_statistics",
            "[DONE]",
        ];
        assert_eq!(seen[seen.len() - end.len()..], end, "{seen:?}");
        // What was told has no gap.
        let told = &seen[1..seen.len() - end.len()];
        let letters: Vec<_> = ('a'..='z').map(String::from).collect();
        for (told, letter) in told.iter().zip(letters) {
            assert_eq!(*told, format!("assistant_message \"{letter} \""));
        }
        assert_eq!(ended(&server, &run).await["status"], "completed");
        agrees(&server, &agent).await;
    }
}
