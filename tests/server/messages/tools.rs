//! What tools give, and what becomes of calls that go wrong.

use serde_json::{Value, json};

use super::{agent, calls, kinds, path, say, send, stop, text, tool, tool_with};
use crate::support::{TestServer, has_python};

#[tokio::test]
async fn a_call_that_goes_wrong_is_a_result_that_lets_the_model_go_on() {
    let server = TestServer::start().await;
    let fails = tool(
        &server,
        "fails",
        "console.log('before'); throw new RangeError('too far')",
    )
    .await;
    let agent = agent(&server, json!({ "tool_ids": [fails] })).await;
    for (input, expected) in [
        (
            "call fails",
            "Error executing function fails: RangeError: too far",
        ),
        (
            "call nobody",
            "[ToolConstraintError] Cannot call nobody, valid tools include: ['fails'].",
        ),
        (
            "call fails with no json",
            "Error executing function fails: InvalidArguments: the arguments are not a JSON object",
        ),
        (
            "call fails with [1]",
            "Error executing function fails: InvalidArguments: the arguments are not a JSON object",
        ),
    ] {
        let answer = say(&server, &agent, input).await;
        assert_eq!(
            kinds(&answer["messages"]),
            [
                "tool_call_message",
                "tool_return_message",
                "assistant_message"
            ],
            "{input}"
        );
        let returned = &answer["messages"][1];
        assert_eq!(returned["status"], "error", "{input}");
        let text = text(&returned["tool_return"]);
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(stop(&answer), "end_turn", "{input}");
        if input == "call fails" {
            assert_eq!(returned["stdout"], json!(["before\n"]));
            assert!(
                super::text(&returned["stderr"][0]).contains("RangeError"),
                "{returned}"
            );
        } else {
            assert_eq!(returned["stdout"], Value::Null, "{input}");
        }
    }
}

#[tokio::test]
async fn what_the_host_stopped_is_told_as_such() {
    let server = TestServer::start().await;
    let loops = tool(&server, "loops", "while (true) {}").await;
    server
        .grant(json!({ "component": "source", "tool": "loops", "capabilities": {}, "limits": { "fuel": 50_000_000 } }))
        .await;
    let agent = agent(&server, json!({ "tool_ids": [loops] })).await;
    let answer = say(&server, &agent, "call loops").await;
    let (_, text) = calls(&answer)[0];
    assert!(
        text.starts_with("Error executing function loops: OutOfFuel: "),
        "{text}"
    );
    let step = super::text(&answer["messages"][0]["step_id"]);
    let receipts = server.get(&format!("/v1/steps/{step}/receipts")).await;
    assert_eq!(
        receipts.body[0]["receipt"]["outcome"], "out_of_fuel",
        "{receipts:?}"
    );
}

#[tokio::test]
async fn a_long_result_is_cut_at_the_limit_of_its_tool() {
    let server = TestServer::start().await;
    let long = tool_with(
        &server,
        "long",
        "return 'x'.repeat(1000)",
        json!({ "return_char_limit": 10 }),
    )
    .await;
    let agent = agent(&server, json!({ "tool_ids": [long] })).await;
    let answer = say(&server, &agent, "call long").await;
    let expected = "xxxxxxxxxx... [NOTE: function output was truncated since it exceeded the character limit (1000 > 10)]";
    assert_eq!(calls(&answer), [("long", expected)]);
}

#[tokio::test]
async fn a_limit_counts_characters_and_cuts_none_in_half() {
    let server = TestServer::start().await;
    // Two, three and four bytes each; the last one is beyond the limit.
    let body = "return 'é€🦀'.repeat(4)";
    let limit = |limit: i64| json!({ "return_char_limit": limit });
    let whole = tool_with(&server, "whole", body, limit(12)).await;
    let cut = tool_with(&server, "cut", body, limit(11)).await;
    let object = "return { crab: '🦀🦀🦀🦀' }";
    let object = tool_with(&server, "object", object, limit(12)).await;
    let tools = json!({ "tool_ids": [whole, cut, object] });
    let agent = agent(&server, tools).await;
    let note = |all: usize, limit: usize| {
        format!(
            "... [NOTE: function output was truncated since it exceeded the character limit \
             ({all} > {limit})]"
        )
    };
    for (call, expected) in [
        ("whole", "é€🦀".repeat(4)),
        ("cut", "é€🦀".repeat(3) + "é€" + &note(12, 11)),
        ("object", "{\"crab\":\"🦀🦀🦀".to_owned() + &note(15, 12)),
    ] {
        let answer = say(&server, &agent, &format!("call {call}\nthen\nsay Done.")).await;
        assert_eq!(calls(&answer), [(call, &*expected)]);
    }
}

#[tokio::test]
async fn an_object_is_given_to_the_model_as_json() {
    let server = TestServer::start().await;
    let object = tool(&server, "object", "return { a: 1, b: null }").await;
    let agent = agent(&server, json!({ "tool_ids": [object] })).await;
    let answer = say(&server, &agent, "call object").await;
    assert_eq!(calls(&answer), [("object", r#"{"a":1,"b":null}"#)]);
    let context = server
        .get(&format!("/v1/agents/{agent}/context"))
        .await
        .body;
    let messages = context["messages"].as_array().unwrap();
    let packed = messages
        .iter()
        .find(|message| message["role"] == "tool")
        .unwrap();
    let packed = text(&packed["tool_returns"][0]["func_response"]);
    let packed: Value = serde_json::from_str(packed).unwrap();
    assert_eq!(packed["message"], json!({ "a": 1, "b": null }));
    assert_eq!(packed["status"], "OK");
}

#[tokio::test]
async fn parallel_calls_share_one_message_of_calls_and_one_of_results() {
    let server = TestServer::start().await;
    let twice = tool(&server, "twice", "return a + a").await;
    let more = json!({ "tool_ids": [twice], "parallel_tool_calls": true });
    let agent = agent(&server, more).await;
    let input = "call twice with {\"a\":\"x\"}\ncall twice with {\"a\":\"y\"}\nthen\nsay Done.";
    let answer = say(&server, &agent, input).await;
    let messages = &answer["messages"];
    assert_eq!(
        kinds(messages),
        [
            "tool_call_message",
            "tool_return_message",
            "assistant_message"
        ]
    );
    assert_eq!(messages[0]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(results(messages), ["xx", "yy"]);
    let step = text(&messages[0]["step_id"]);
    let receipts = server.get(&format!("/v1/steps/{step}/receipts")).await;
    assert_eq!(receipts.body.as_array().unwrap().len(), 2);
    // So it is with another model, unless that one is told otherwise.
    let body = json!({ "input": input, "override_model": "bulkhead/scripted" });
    let other = send(&server, &agent, body).await.body;
    assert_eq!(results(&other["messages"]), ["xx", "yy"]);
    let off = json!({ "provider_type": "openai", "parallel_tool_calls": false });
    for (settings, expected) in [(Value::Null, &["xx", "yy"][..]), (off, &["xx"])] {
        let body = json!({ "model": "bulkhead/scripted", "model_settings": settings });
        let made = server
            .post(&format!("/v1/conversations/?agent_id={agent}"), &body)
            .await;
        let path = format!("/v1/conversations/{}/messages", text(&made.body["id"]));
        let body = json!({ "input": input, "streaming": false });
        let answer = server.post(&path, &body).await.body;
        assert_eq!(results(&answer["messages"]), expected);
    }
}

/// What the calls of the first reply gave.
fn results(messages: &Value) -> Vec<&str> {
    let returns = messages[1]["tool_returns"].as_array().unwrap().iter();
    returns.map(|one| text(&one["tool_return"])).collect()
}

#[tokio::test]
async fn of_several_calls_only_the_first_counts_where_parallel_calls_are_off() {
    let server = TestServer::start().await;
    let twice = tool(&server, "twice", "return a + a").await;
    let agent = agent(&server, json!({ "tool_ids": [twice] })).await;
    let input = "call twice with {\"a\":\"x\"}\ncall twice with {\"a\":\"y\"}\nthen\nsay Done.";
    let answer = say(&server, &agent, input).await;
    assert_eq!(calls(&answer), [("twice", "xx")]);
}

#[tokio::test]
async fn a_tool_sees_the_secrets_of_its_agent_and_who_it_is() {
    let server = TestServer::start().await;
    let body = "return process.env.WORD + ' ' + process.env.LETTA_AGENT_ID";
    let reads = tool(&server, "reads", body).await;
    let secrets = json!({ "WORD": "sesame", "LETTA_AGENT_ID": "agent-forged" });
    let agent = agent(&server, json!({ "tool_ids": [reads], "secrets": secrets })).await;
    let answer = say(&server, &agent, "call reads").await;
    assert_eq!(
        calls(&answer),
        [("reads", format!("sesame {agent}").as_str())]
    );
}

#[tokio::test]
async fn a_tool_in_python_changes_the_memory_of_its_agent() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let source = "def note(agent_state, line: str):\n    \"\"\"Notes a line.\n\n    Args:\n        line: The line.\n    \"\"\"\n    old = agent_state.memory.get_block('human').value\n    agent_state.memory.update_block_value(label='human', value=old + '\\n' + line)\n    return agent_state.name\n";
    let saved = server
        .post("/v1/tools/", &json!({ "source_code": source }))
        .await;
    assert_eq!(saved.status, 200, "{saved:?}");
    let more = json!({
        "tool_ids": [saved.body["id"]],
        "memory_blocks": [{ "label": "human", "value": "Bob" }],
    });
    let agent = agent(&server, more).await;
    let answer = say(&server, &agent, "call note with {\"line\":\"likes tea\"}").await;
    assert_eq!(calls(&answer), [("note", "Ada")]);
    let block = format!("/v1/agents/{agent}/core-memory/blocks/human");
    assert_eq!(server.get(&block).await.body["value"], "Bob\nlikes tea");
    let system = &server.get(&path(&agent, "?order=asc&limit=1")).await.body[0];
    assert!(text(&system["content"]).contains("likes tea"), "{system}");
}

#[tokio::test]
async fn of_two_tools_that_change_one_block_at_once_the_slower_one_is_told_and_undoes_nothing() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let source = "def note(agent_state, line: str):\n    \"\"\"Notes a line.\n\n    Args:\n        line: The line.\n    \"\"\"\n    import time\n    print('noting')\n    memory = agent_state.memory\n    old = memory.get_block('human').value\n    time.sleep(0.5)\n    memory.update_block_value(label='human', value=old + '\\n' + line)\n    memory.update_block_value(label='log', value=line)\n    return line\n";
    let body = json!({ "source_code": source, "enable_parallel_execution": true });
    let saved = server.post("/v1/tools/", &body).await;
    assert_eq!(saved.status, 200, "{saved:?}");
    let more = json!({
        "tool_ids": [saved.body["id"]], "parallel_tool_calls": true,
        "memory_blocks": [
            { "label": "human", "value": "Bob" }, { "label": "log", "value": "-" },
        ],
    });
    let agent = agent(&server, more).await;
    let input =
        "call note with {\"line\":\"tea\"}\ncall note with {\"line\":\"coffee\"}\nthen\nsay Done.";
    let answer = say(&server, &agent, input).await;
    let returns = answer["messages"][1]["tool_returns"].as_array().unwrap();
    let (won, lost): (Vec<_>, Vec<_>) = returns
        .iter()
        .partition(|returned| returned["status"] == "success");
    assert_eq!((won.len(), lost.len()), (1, 1), "{answer}");
    assert_eq!(
        lost[0]["tool_return"],
        "Error executing function note: MemoryError: block human: somebody else changed it while the \
         tool ran; look at it again and repeat the change (nothing was written)"
    );
    assert_eq!(lost[0]["stdout"], json!(["noting\n"]));
    let line = text(&won[0]["tool_return"]);
    for (label, expected) in [("human", format!("Bob\n{line}")), ("log", line.to_owned())] {
        let block = format!("/v1/agents/{agent}/core-memory/blocks/{label}");
        assert_eq!(server.get(&block).await.body["value"], expected, "{label}");
    }
}
