//! Streams on a socket, and what is said meanwhile.

use serde_json::{Value, json};

use super::{Socket, kinds};
use crate::{
    both::on_both,
    clients::read,
    consistency::{agrees, ended},
    conversations::begun,
    messages::{agent, events, path, text, tool, tool_with},
};

/// What differs from run to run: ids, times, and the tokens of a prompt that has an id in it.
const OF_ONE_RUN: [&str; 9] = [
    "id",
    "otid",
    "date",
    "run_id",
    "step_id",
    "tool_call_id",
    "prompt_tokens",
    "total_tokens",
    "context_tokens",
];

/// The same but for that.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let value = match OF_ONE_RUN.contains(&name.as_str()) && !value.is_null() {
                    true => json!("…"),
                    false => plain(value),
                };
                (name.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}

on_both! {
    async fn a_socket_says_what_a_stream_says_but_for_ids_and_times(server) {
        let twice = tool(&server, "twice", "return a + a").await;
        let said = "think hm hm\nsay Look there:\ncall twice with {\"a\":\"x\"}\nthen\nsay Done.";
        for (input, tokens, background) in [
            (said, false, false),
            (said, true, false),
            (said, true, true),
            ("say a b c d\nfail server after 2 pieces", true, false),
            ("fail rate_limit", false, true),
        ] {
            let body = json!({ "input": input, "stream_tokens": tokens, "background": background });
            let ada = agent(&server, json!({ "tool_ids": [twice] })).await;
            let streamed = events(&server.post(&path(&ada, "/stream"), &body).await);
            let streamed = streamed.iter().map(|(_, data)| plain(data));
            let streamed: Vec<_> = streamed.filter(|data| *data != "[DONE]").collect();

            let ada = agent(&server, json!({ "tool_ids": [twice] })).await;
            let mut socket = Socket::of_agent(&server, &ada).await;
            let mut frame = body.clone();
            frame["type"] = json!("message");
            socket.send(frame).await;
            let mut frames = socket.until("stream_end").await;
            let end = frames.pop().unwrap();
            assert_eq!(end["run_id"], frames[0]["run_id"], "{input}");
            let said: Vec<_> = frames.iter().map(plain).collect();
            assert_eq!(said, streamed, "{body}");
        }
    }

    async fn a_run_is_cancelled_on_its_socket_while_a_tool_computes(server) {
        let spin = tool(&server, "spin", "while (true) {}").await;
        let agent = agent(&server, json!({ "tool_ids": [spin] })).await;
        let mut socket = Socket::of_agent(&server, &agent).await;
        socket.send(json!({ "type": "message", "input": "call spin", "request_id": "1" })).await;
        let run = socket.run().await;
        socket.until("tool_call_message").await;
        socket.send(json!({ "type": "cancel", "request_id": "2" })).await;
        let mut frames = vec![socket.next().await];
        // The answer and the end of the stream come in any order.
        while !["cancelled", "stream_end"].iter().all(|kind| kinds(&frames).contains(kind)) {
            frames.push(socket.next().await);
        }
        let only = |kind: &str| {
            let mut found = frames.iter().filter(|frame| frame["message_type"] == kind);
            let first = found.next().unwrap_or_else(|| panic!("no {kind} in {frames:?}"));
            assert_eq!(found.next(), None);
            first
        };
        let cancelled = only("cancelled");
        assert_eq!(cancelled["runs"], json!({ &run: "cancelled" }));
        assert_eq!(cancelled["request_id"], "2");
        let stopped = only("stop_reason");
        assert_eq!(stopped["stop_reason"], "cancelled");
        assert_eq!(stopped["request_id"], "1");
        assert_eq!(only("stream_end")["run_id"], run);
        assert!(!kinds(&frames).contains(&"usage_statistics"), "{frames:?}");
        assert_eq!(ended(&server, &run).await["status"], "cancelled");
        agrees(&server, &agent).await;

        socket.send(json!({ "type": "cancel", "run_ids": null, "request_id": "3" })).await;
        let nothing = socket.next().await;
        let expected = format!("CONFLICT: No active runs to cancel for agent {agent}");
        let refused = json!({
            "message_type": "refusal", "status": 409, "body": { "detail": expected },
            "request_id": "3",
        });
        assert_eq!(nothing, refused);
        socket.send(json!({ "type": "message", "input": "say hi" })).await;
        let frames = socket.until("stream_end").await;
        assert_eq!(kinds(&frames)[1..], [
            "assistant_message", "stop_reason", "usage_statistics", "stream_end",
        ]);
    }

    async fn a_call_that_waits_is_decided_on_its_socket(server) {
        let more = json!({ "default_requires_approval": true });
        let secret = tool_with(&server, "secret", "return 'the secret ' + a", more).await;
        let agent = agent(&server, json!({ "tool_ids": [secret] })).await;
        let mut socket = Socket::of_agent(&server, &agent).await;
        let input = "call secret with {\"a\":\"x\"}\nthen\nsay Done.";
        socket.send(json!({ "type": "message", "input": input })).await;
        let asked = socket.until("stream_end").await;
        assert_eq!(asked[2]["stop_reason"], "requires_approval", "{asked:?}");
        let call = text(&asked[1]["tool_call"]["tool_call_id"]);
        let wrong = json!({ "type": "approval", "tool_call_id": "another", "approve": true });
        socket.send(json!({ "type": "approval", "approvals": [wrong] })).await;
        let refused = socket.until("stream_end").await;
        let reason = text(&refused[2]["detail"]);
        assert!(reason.starts_with("Invalid tool call IDs."), "{refused:?}");
        let decided = json!({ "type": "approval", "tool_call_id": call, "approve": true });
        socket.send(json!({
            "type": "approval", "approvals": [decided], "request_id": "a",
            "messages": [{ "role": "user", "content": "say Thanks." }],
        })).await;
        let answer = socket.until("stream_end").await;
        assert!(answer.iter().all(|frame| frame["request_id"] == "a"), "{answer:?}");
        assert_eq!(answer[1]["tool_return"], "the secret x");
        assert_eq!(answer[2]["content"], "Thanks.");
        agrees(&server, &agent).await;

        let client_tools = json!([{ "name": "ask", "description": "Asks.", "parameters": {} }]);
        socket.send(json!({
            "type": "message", "input": "call ask\nthen\nsay I see.", "client_tools": client_tools,
        })).await;
        let asked = socket.until("stream_end").await;
        let call = text(&asked[1]["tool_call"]["tool_call_id"]);
        let returned = json!({
            "type": "tool", "tool_call_id": call, "tool_return": "yes", "status": "success",
        });
        socket.send(json!({ "type": "tool_return", "tool_returns": [returned] })).await;
        let answer = socket.until("stream_end").await;
        assert_eq!(answer[1]["tool_return"], "yes");
        assert_eq!(answer[2]["content"], "I see.");
        agrees(&server, &agent).await;
    }

    async fn an_agent_s_messages_wait_for_their_turn_and_answers_say_whose_they_are(server) {
        let agent = agent(&server, json!({})).await;
        let mut socket = Socket::of_agent(&server, &agent).await;
        for (id, input) in [("first", "wait 300ms\nsay one"), ("second", "say two")] {
            let frame = json!({ "type": "message", "input": input, "request_id": id });
            socket.send(frame).await;
        }
        let mut frames = socket.until("stream_end").await;
        frames.extend(socket.until("stream_end").await);
        let of = |id: &str| {
            let frames = frames.iter().filter(|frame| frame["request_id"] == id);
            frames.map(|frame| text(&frame["message_type"])).collect::<Vec<_>>()
        };
        let expected =
            ["ping", "assistant_message", "stop_reason", "usage_statistics", "stream_end"];
        assert_eq!((of("first"), of("second")), (expected.to_vec(), expected.to_vec()));
        let said: Vec<_> = frames.iter().filter_map(|frame| frame["content"].as_str()).collect();
        assert_eq!(said, ["one", "two"]);
        agrees(&server, &agent).await;
    }

    async fn a_conversation_takes_one_message_at_a_time(server) {
        let agent = agent(&server, json!({})).await;
        let conversation = begun(&server, &agent).await;
        let mut socket = Socket::open(&server, &format!("{conversation}/ws")).await;
        socket.send(json!({ "type": "message", "input": "wait 60s\nsay late" })).await;
        let run = socket.run().await;
        socket.send(json!({ "type": "message", "input": "say hi", "request_id": "b" })).await;
        let refused = socket.next().await;
        assert_eq!((&refused["status"], &refused["body"]["run_id"]), (&json!(409), &json!(run)));
        assert_eq!(refused["request_id"], "b");
        socket.send(json!({ "type": "cancel", "run_ids": [run] })).await;
        let mut frames = socket.until("stream_end").await;
        if !kinds(&frames).contains(&"cancelled") {
            frames.push(socket.next().await);
        }
        assert_eq!(ended(&server, &run).await["status"], "cancelled");
        socket.send(json!({ "type": "message", "input": "say now", "streaming": false })).await;
        let frames = socket.until("stream_end").await;
        assert_eq!(frames[1]["content"], "now", "{frames:?}");
        // An agent's own thread by the same route.
        let own = format!("/v1/conversations/default/ws?agent_id={agent}");
        let mut socket = Socket::open(&server, &own).await;
        socket.send(json!({ "type": "message", "input": "say own" })).await;
        let frames = socket.until("stream_end").await;
        let listed = read(&server, &path(&agent, "?conversation_id=default")).await;
        let newest = listed.as_array().unwrap().last().unwrap();
        assert_eq!(newest["id"], frames[1]["id"], "{listed}");
    }
}
