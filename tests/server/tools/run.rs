//! Source that is run without being saved, and saved tools that are called.

use bulkhead_domain::Timestamp;
use serde_json::{Value, json};

use super::{detail, python, saved};
use crate::support::{TestServer, has_python};

/// Runs source that must be taken; gives the message.
async fn run(server: &TestServer, body: Value) -> Value {
    let run = server.post("/v1/tools/run", &body).await;
    assert_eq!(run.status, 200, "{run:?}");
    run.body
}

/// Runs a Python function without parameters.
async fn run_python(server: &TestServer, body: &str) -> Value {
    run(
        server,
        json!({ "source_code": python("f()", body), "args": {} }),
    )
    .await
}

async fn run_typescript(server: &TestServer, source: &str, args: Value) -> Value {
    run(
        server,
        json!({ "source_code": source, "args": args, "source_type": "typescript" }),
    )
    .await
}

#[tokio::test]
async fn the_answer_is_the_contract_s_message() {
    let server = TestServer::start().await;
    let source = "function f(a: number) { console.log('seen', a); return a + 1 }";
    let body = json!({ "source_code": source, "args": { "a": 1 }, "source_type": "typescript", "name": "f" });
    let mut message = run(&server, body).await;
    let date = message["date"].take();
    let date = date.as_str().unwrap();
    assert!(date.len() == 25 && date.ends_with("+00:00"), "{date}");
    let date: Timestamp = date.parse().unwrap();
    assert!((Timestamp::now().micros() - date.micros()).abs() < 60_000_000);
    let expected = json!({
        "id": "null", "date": null, "name": "f", "message_type": "tool_return_message",
        "otid": null, "sender_id": null, "step_id": null, "is_err": null, "seq_id": null,
        "run_id": null, "tool_return": "2", "status": "success", "tool_call_id": "null",
        "stdout": ["seen 1\n"], "stderr": [], "tool_returns": null,
    });
    assert_eq!(message, expected);
}

#[tokio::test]
async fn python_values_are_shown_as_python_shows_them() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    for (value, shown) in [
        ("'text'", "text"),
        ("None", "None"),
        ("True", "True"),
        ("1.50", "1.5"),
        ("[1, 'a', None]", "[1, 'a', None]"),
        ("{'a': 1, 'b': None}", "{'a': 1, 'b': None}"),
        ("(1, 2)", "[1, 2]"),
    ] {
        let message = run_python(&server, &format!("return {value}")).await;
        assert_eq!(message["tool_return"], shown, "{value}");
        assert_eq!(
            (&message["status"], &message["name"]),
            (&json!("success"), &Value::Null)
        );
    }
}

#[tokio::test]
async fn an_exception_is_a_result_that_says_what_was_printed_and_where_it_was() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let message = run_python(&server, "print('before')\n    raise ValueError('boom')").await;
    assert_eq!(message["status"], "error");
    assert_eq!(
        message["tool_return"],
        "Error executing function None: ValueError: boom"
    );
    assert_eq!(message["stdout"], json!(["before\n"]));
    let [stderr] = message["stderr"].as_array().unwrap().as_slice() else {
        panic!("{message}")
    };
    let stderr = stderr.as_str().unwrap();
    assert!(
        stderr.starts_with("Traceback (most recent call last):"),
        "{stderr}"
    );
    assert!(
        stderr.contains("raise ValueError('boom')") && stderr.contains("line 5"),
        "{stderr}"
    );
    let body =
        json!({ "source_code": python("f()", "raise KeyError('k')"), "args": {}, "name": "f" });
    let named = run(&server, body).await;
    assert_eq!(
        named["tool_return"],
        "Error executing function f: KeyError: 'k'"
    );
    let long = run_python(&server, "raise ValueError('y' * 5_000)").await;
    assert_eq!(long["tool_return"].as_str().unwrap().len(), 1_000);
    let exited = run_python(&server, "import sys; sys.exit(3)").await;
    assert_eq!(exited["tool_return"], "Error executing function None: : ");
}

#[tokio::test]
async fn arguments_of_wrong_types_are_a_result_that_a_model_can_act_on() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let source = python("f(a: int)", "return a * 2");
    let with = |args: Value| {
        run(
            &server,
            json!({ "source_code": source, "args": args, "name": "f" }),
        )
    };
    assert_eq!(with(json!({ "a": "5" })).await["tool_return"], "10");
    for (args, words) in [
        (json!({ "a": "x" }), "a: Input should be a valid integer"),
        (json!({}), "f needs the argument 'a', which is missing"),
        (
            json!({ "a": 1, "b": 2 }),
            "f takes no argument 'b'; it takes: a",
        ),
    ] {
        let message = with(args).await;
        let text = message["tool_return"].as_str().unwrap();
        assert_eq!(message["status"], "error");
        assert!(
            text.starts_with("Error executing function f: TypeError: ") && text.contains(words),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_name_says_which_function_is_run() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let source = format!(
        "{}{}",
        python("first(a: int)", "return 1"),
        python("last()", "return 2")
    );
    let body = |name: Value| json!({ "source_code": source, "args": {}, "name": name });
    assert_eq!(run(&server, body(Value::Null)).await["tool_return"], "2");
    assert_eq!(run(&server, body(json!("last"))).await["tool_return"], "2");
    let mut first = body(json!("first"));
    first["args"] = json!({ "a": 1 });
    // The schema is that of this function, not of the last one.
    first["args_json_schema"] = json!({ "properties": { "a": { "type": "integer" } } });
    assert_eq!(run(&server, first).await["tool_return"], "1");
    let unknown = server.post("/v1/tools/run", &body(json!("other"))).await;
    let (status, text) = detail(&unknown);
    assert!(
        status == 400 && text.contains("No function 'other' found in source code"),
        "{text}"
    );
}

#[tokio::test]
async fn async_functions_run_when_a_schema_comes_with_them() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    let source = "import asyncio\nasync def f(a):\n    await asyncio.sleep(0)\n    return a + 1";
    let parameters = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    let schema = json!({ "name": "f", "parameters": parameters });
    let body = json!({ "source_code": source, "args": { "a": 1 }, "json_schema": schema });
    assert_eq!(run(&server, body).await["tool_return"], "2");
}

#[tokio::test]
async fn typescript_gets_its_arguments_in_order_and_gives_json() {
    let server = TestServer::start().await;
    let source = "export async function f(a: number, b?: string) { return { a: await Promise.resolve(a), b } }";
    let message = run_typescript(&server, source, json!({ "b": "x", "a": 1 })).await;
    assert_eq!(message["tool_return"], r#"{"a":1,"b":"x"}"#);
    let source = "export function f(a: number): number {\n  throw new RangeError('too far');\n}";
    let message = run_typescript(&server, source, json!({ "a": 1 })).await;
    assert_eq!(
        message["tool_return"],
        "Error executing function None: RangeError: too far"
    );
    assert!(
        message["stderr"][0].as_str().unwrap().contains("tool.ts:2"),
        "{message}"
    );
}

#[tokio::test]
async fn variables_of_the_request_are_there_and_say_nothing_of_who_runs() {
    let server = TestServer::start().await;
    let source = "export function f() { return process.env }";
    let names = ["LETTA_TOOL_ID", "LETTA_AGENT_ID", "LETTA_PROJECT_ID"];
    let mut variables = json!({ "GREETING": "hello", "PATH": "mine" });
    for name in names {
        variables[name] = json!("forged");
    }
    let body = json!({ "source_code": source, "args": {}, "source_type": "typescript", "env_vars": variables });
    let message = run(&server, body).await;
    let seen: Value = serde_json::from_str(message["tool_return"].as_str().unwrap()).unwrap();
    assert_eq!(seen, json!({ "GREETING": "hello", "PATH": "mine" }));
    let message = run_typescript(&server, source, json!({})).await;
    assert_eq!(
        message["tool_return"], "{}",
        "nothing of the server's own, and nothing of the last call"
    );
    if has_python() {
        let source = python("f()", "import os; return dict(os.environ)");
        let body =
            json!({ "source_code": source, "args": {}, "env_vars": { "GREETING": "hello" } });
        assert_eq!(
            run(&server, body).await["tool_return"],
            "{'GREETING': 'hello'}"
        );
    }
}

#[tokio::test]
async fn what_is_too_long_is_whole_for_a_run_and_cut_for_a_tool() {
    let server = TestServer::start().await;
    let source = "export function f() { return 'é'.repeat(60_000) }";
    let message = run_typescript(&server, source, json!({})).await;
    let whole = format!(
        "{}... [NOTE: function output was truncated since it exceeded the character limit: 60000 > 50000]",
        "é".repeat(60_000)
    );
    assert!(message["tool_return"] == whole);
    let schema = json!({ "name": "f", "description": "Long.", "parameters": { "type": "object", "properties": {} } });
    let tool = json!({ "source_code": source, "source_type": "typescript", "json_schema": schema, "return_char_limit": 10 });
    let tool = saved(&server, &tool).await;
    let path = format!("/v1/tools/{}/call", tool["id"].as_str().unwrap());
    let called = server.post(&path, &json!({ "args": {} })).await;
    let cut = format!(
        "{}... [NOTE: function output was truncated since it exceeded the character limit (60000 > 10)]",
        "é".repeat(10)
    );
    assert_eq!(called.body["tool_return"], cut);
}

#[tokio::test]
async fn a_saved_tool_is_called_by_its_id_and_knows_it() {
    let server = TestServer::start().await.with_friendly().await;
    let source = "export function who() { return process.env.LETTA_TOOL_ID }";
    let schema = json!({ "name": "renamed", "parameters": { "type": "object", "properties": {} } });
    let tool = json!({ "source_code": source, "source_type": "typescript", "json_schema": schema });
    let tool = saved(&server, &tool).await;
    let called = server
        .post(
            &format!("/v1/tools/{}/call", tool["id"].as_str().unwrap()),
            &json!({}),
        )
        .await;
    assert_eq!(
        (&called.body["status"], &called.body["func_return"]),
        (&json!("success"), &tool["id"])
    );
    let receipt = &called.body["receipt"];
    assert_eq!(
        (&receipt["tool"], &receipt["outcome"]),
        (&json!("renamed"), &json!("ok")),
        "{receipt}"
    );
    // One of a component in the same way.
    let add = server.get("/v1/tools/?name=add").await.body[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let called = server
        .post(
            &format!("/v1/tools/{add}/call"),
            &json!({ "args": { "left": 2, "right": 3 } }),
        )
        .await;
    assert_eq!(
        called.body["func_return"],
        json!({ "sum": 5 }),
        "{called:?}"
    );
}

#[tokio::test]
async fn source_in_an_argument_is_data() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    for text in [
        "\"; import os #",
        "'''\"\"\"\\",
        "\n    raise SystemExit\n",
        "{a} %s \u{1F600}\u{0}",
    ] {
        let body =
            json!({ "source_code": python("f(a: str)", "return [a]"), "args": { "a": text } });
        let message = run(&server, body).await;
        assert_eq!(message["status"], "success", "{message}");
        let body = json!({ "source_code": "export function f(a: string) { return [a] }", "args": { "a": text }, "source_type": "typescript" });
        let message = run(&server, body).await;
        let shown: Value = serde_json::from_str(message["tool_return"].as_str().unwrap()).unwrap();
        assert_eq!(shown, json!([text]));
    }
}

#[tokio::test]
async fn hostile_source_ends_by_type_and_the_next_run_is_unharmed() {
    let server = TestServer::start_with(|config| config.sandbox.ceiling.fuel = 2_000_000_000).await;
    for (source, kind) in [
        ("export function f() { while (true) {} }", "OutOfFuel"),
        (
            "export function f() { const all = []; while (true) all.push('x'.repeat(1 << 20) + all.length) }",
            "",
        ),
        ("export function f(): number { return f() + 1 }", ""),
    ] {
        let message = run_typescript(&server, source, json!({})).await;
        let text = message["tool_return"].as_str().unwrap();
        assert_eq!(message["status"], "error", "{source}: {text}");
        assert!(
            text.starts_with(&format!("Error executing function None: {kind}")),
            "{source}: {text}"
        );
        let next = run_typescript(&server, "export function f() { return 1 }", json!({})).await;
        assert_eq!(next["tool_return"], "1");
    }
}

#[tokio::test]
async fn what_is_no_run_is_refused() {
    let server = TestServer::start().await;
    for (body, expected) in [
        (
            json!({ "source_code": "x" }),
            "[{'type': 'missing', 'loc': ('body', 'args'), 'msg': 'Field required', 'input': {'source_code': 'x'}}]",
        ),
        (
            json!({ "source_code": "x", "args": [1] }),
            "[{'type': 'dict_type', 'loc': ('body', 'args'), 'msg': 'Input should be a valid dictionary', 'input': [1]}]",
        ),
        (
            json!({ "source_code": "x", "args": {}, "env_vars": { "A": 1 } }),
            "[{'type': 'string_type', 'loc': ('body', 'env_vars', 'A'), 'msg': 'Input should be a valid string', 'input': 1}]",
        ),
        (
            json!({ "source_code": "x", "args": {}, "tags": [] }),
            "[{'type': 'extra_forbidden', 'loc': ('body', 'tags'), 'msg': 'Extra inputs are not permitted', 'input': []}]",
        ),
    ] {
        assert_eq!(
            detail(&server.post("/v1/tools/run", &body).await),
            (422, expected)
        );
    }
}
