//! When an agent works that looks after another one's memory, on what, and what comes of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{managed, pair};
use crate::{
    both::on_both,
    clients::{read, text},
    consistency::ended,
    messages::{events, memory::with_tools, path, say, send},
    support::TestServer,
};

/// Has an agent of the offline model answer everything like this.
async fn script(server: &TestServer, agent: &str, reply: &str) {
    let metadata = json!({ "metadata": { "script": [{ "reply": reply }] } });
    let answer = server
        .patch(&format!("/v1/agents/{agent}"), &metadata)
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

async fn frequency(server: &TestServer, main: &str, frequency: Value) {
    let group = managed(server, main).await;
    let config = json!({ "manager_type": "sleeptime", "sleeptime_agent_frequency": frequency });
    let path = format!("/v1/groups/{}", text(&group["id"]));
    let answer = server
        .patch(&path, &json!({ "manager_config": config }))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// The one run that an answer says was set going; none where it says nothing.
fn background(answer: &Value) -> Option<String> {
    match &answer["usage"]["run_ids"] {
        Value::Null => None,
        Value::Array(runs) => {
            assert_eq!(runs.len(), 1, "{answer}");
            Some(text(&runs[0]).to_owned())
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn what_is_written_into_a_shared_block_is_in_the_agents_next_prompt() {
    let server = with_tools().await;
    let more = json!({ "memory_blocks": [{ "label": "human", "value": "Bob" }] });
    let (main, other) = pair(&server, more).await;
    let reply = "call memory_rethink with {\"label\": \"human\", \"new_memory\": \"Bob likes tea.\"}\n\
                 then\ncall memory_finish_edits";
    script(&server, &other, reply).await;
    let answer = say(&server, &main, "I like tea, says Bob").await;
    let run_id = background(&answer).expect("it is due at once");
    let run = ended(&server, &run_id).await;
    for (field, expected) in [
        ("status", json!("completed")),
        ("stop_reason", json!("tool_rule")),
        ("background", json!(true)),
        ("agent_id", json!(other)),
    ] {
        assert_eq!(run[field], expected, "{field} of {run}");
    }
    assert_eq!(
        run["metadata"]["run_type"],
        "sleeptime_agent_send_message_async"
    );
    let result = &run["metadata"]["result"];
    let kinds: Vec<_> = result["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| text(&message["message_type"]))
        .collect();
    let step = ["tool_call_message", "tool_return_message"];
    assert_eq!(kinds, [step, step].concat(), "{result}");
    assert_eq!(result["stop_reason"]["stop_reason"], "tool_rule");
    assert_eq!(result["usage"]["step_count"], 2);
    assert!(result["usage"]["total_tokens"].as_i64().unwrap() > 0);

    let block = format!("/v1/agents/{main}/core-memory/blocks/human");
    assert_eq!(read(&server, &block).await["value"], "Bob likes tea.");
    let next = say(&server, &main, "What do I like?").await;
    let step = text(&next["messages"][0]["step_id"]);
    let trace = read(&server, &format!("/v1/steps/{step}/trace")).await;
    assert!(
        trace["request_json"].to_string().contains("Bob likes tea."),
        "{trace}"
    );

    // One message: the task, and what was said.
    let messages = read(&server, &format!("/v1/runs/{run_id}/messages")).await;
    let input: Vec<_> = messages
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["message_type"] == "user_message")
        .collect();
    assert_eq!(input.len(), 1, "{messages}");
    let (reminder, said) = text(&input[0]["content"])
        .split_once("\n\nMessages:\n")
        .unwrap();
    assert!(
        reminder.starts_with("<system-reminder>\n") && reminder.ends_with("</system-reminder>")
    );
    assert!(
        said.contains("[user] I like tea, says Bob\n[assistant] "),
        "{said}"
    );
    assert!(!said.contains("base_instructions"), "{said}");

    // Its events are kept as those of any run in the background.
    let stream = server
        .post(&format!("/v1/runs/{run_id}/stream"), &json!({}))
        .await;
    assert_eq!(
        events(&stream).last().unwrap().1,
        "[DONE]",
        "{}",
        stream.text
    );
}

on_both! {
    async fn it_works_every_so_many_requests_on_what_was_said_since(server) {
        let (main, other) = pair(&server, json!({})).await;
        frequency(&server, &main, json!(3)).await;
        let mut due = Vec::new();
        let mut runs = Vec::new();
        for number in 0..5 {
            let answer = say(&server, &main, &format!("say number {number}")).await;
            let group = managed(&server, &main).await;
            assert_eq!(group["turns_counter"], number % 3);
            let run = background(&answer);
            due.push(run.is_some());
            if let Some(run) = run {
                let newest = read(&server, &path(&main, "?limit=1")).await;
                assert_eq!(group["last_processed_message_id"], newest[0]["id"]);
                assert_eq!(ended(&server, &run).await["status"], "completed");
                runs.push(run);
            }
        }
        assert_eq!(due, [true, false, false, true, false]);
        let said = async |run: &str| {
            let messages = read(&server, &format!("/v1/runs/{run}/messages")).await;
            text(&messages[0]["content"]).to_owned()
        };
        let (first, second) = (said(&runs[0]).await, said(&runs[1]).await);
        assert!(first.contains("number 0"), "{first}");
        for (number, expected) in [(0, false), (1, true), (2, true), (3, true), (4, false)] {
            assert_eq!(second.contains(&format!("number {number}")), expected, "{second}");
        }
        let listed = read(&server, &format!("/v1/runs/?agent_id={other}")).await;
        assert_eq!(listed.as_array().unwrap().len(), 2);
    }

    async fn a_stream_names_the_run_that_it_set_going_where_there_is_one(server) {
        let (main, _) = pair(&server, json!({})).await;
        frequency(&server, &main, Value::Null).await;
        for rest in ["/stream", "/stream"] {
            let body = json!({ "input": "say hello", "stream_tokens": true });
            let answer = server.post(&path(&main, rest), &body).await;
            let events = events(&answer);
            let usage = events.iter().find(|event| event.1["message_type"] == "usage_statistics");
            let run = text(&usage.unwrap().1["run_ids"][0]);
            assert_eq!(ended(&server, run).await["status"], "completed");
        }
        let path = format!("/v1/agents/{main}");
        server.patch(&path, &json!({ "enable_sleeptime": false })).await;
        assert_eq!(background(&say(&server, &main, "say hello").await), None);
        server.patch(&path, &json!({ "enable_sleeptime": true })).await;
        assert!(background(&say(&server, &main, "say hello").await).is_some());
    }

    async fn what_fails_or_is_cancelled_counts_for_nothing(server) {
        let (main, other) = pair(&server, json!({})).await;
        let failed = send(&server, &main, json!({ "input": "fail server" })).await;
        assert_eq!(failed.status, 500, "{failed:?}");
        assert_eq!(managed(&server, &main).await["turns_counter"], -1);
        assert_eq!(read(&server, &format!("/v1/runs/?agent_id={other}")).await, json!([]));
        assert!(background(&say(&server, &main, "say hello").await).is_some());
    }

    async fn two_that_look_after_each_other_come_to_rest(server) {
        let (a, _) = pair(&server, json!({})).await;
        let (b, _) = pair(&server, json!({})).await;
        for (lead, member) in [(&a, &b), (&b, &a)] {
            let group = managed(&server, lead).await;
            let path = format!("/v1/groups/{}", text(&group["id"]));
            let answer = server.patch(&path, &json!({ "agent_ids": [member] })).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            frequency(&server, lead, Value::Null).await;
        }
        let run = background(&say(&server, &a, "say hello").await).unwrap();
        assert_eq!(ended(&server, &run).await["status"], "completed");
        tokio::time::sleep(Duration::from_millis(300)).await;
        let of_a = read(&server, &format!("/v1/runs/?agent_id={a}")).await;
        assert_eq!(of_a.as_array().unwrap().len(), 1, "{of_a}");
    }

    async fn a_deleted_agent_leaves_no_run_of_what_looked_after_its_memory(server) {
        let (main, other) = pair(&server, json!({})).await;
        script(&server, &other, "wait 60s\nsay too late").await;
        let run = background(&say(&server, &main, "say hello").await).unwrap();
        let path = format!("/v1/agents/{main}");
        let deleted = server.delete(&path);
        let deleted = tokio::time::timeout(Duration::from_secs(20), deleted).await;
        assert_eq!(deleted.expect("the run is cancelled").status, 200);
        assert_eq!(server.get(&format!("/v1/runs/{run}")).await.status, 404);
        assert_eq!(server.get(&format!("/v1/agents/{other}")).await.status, 404);
    }

    async fn a_run_that_a_stopped_server_had_is_no_run_that_goes_on(server) {
        let mut server = server;
        let (main, other) = pair(&server, json!({})).await;
        script(&server, &other, "wait 60s\nsay too late").await;
        let run = background(&say(&server, &main, "say hello").await).unwrap();
        server.restart().await;
        let run = ended(&server, &run).await;
        assert!(["cancelled", "failed"].contains(&text(&run["status"])), "{run}");
    }
}
