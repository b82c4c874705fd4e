//! `run_code`: scripts in fresh runtimes, with granted tools as functions in scope.

use std::time::Duration;

use serde_json::{Value, json};

use super::{javascript, python, saved};
use crate::support::{Answer, TestServer, has_python};

/// A server with its own tools, and the path at which `run_code` is called.
async fn with_run_code() -> (TestServer, String) {
    let server = TestServer::start_with(|config| config.builtin_tools = true).await;
    let listing = async {
        loop {
            let listed = server.get("/v1/tools/?name=run_code").await;
            if let Some(id) = listed.body[0]["id"].as_str() {
                return format!("/v1/tools/{id}/call");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let listed = tokio::time::timeout(Duration::from_secs(60), listing).await;
    let path = listed.expect("run_code is listed after the start");
    (server, path)
}

async fn run(server: &TestServer, path: &str, language: &str, code: &str) -> Answer {
    let args = json!({ "language": language, "code": code });
    let ran = server.post(path, &json!({ "args": args })).await;
    assert_eq!(ran.status, 200, "{ran:?}");
    ran
}

#[tokio::test]
async fn a_script_gives_its_last_value_and_what_it_printed_and_leaves_nothing() {
    let (server, path) = with_run_code().await;
    let mut scripts = vec![
        (
            "js",
            "globalThis.kept = 1; console.log('hey'); 2 * 21",
            "typeof kept",
        ),
        (
            "ts",
            "const n: number = 42; (globalThis as any).kept = 1; console.log('hey'); n",
            "typeof kept",
        ),
    ];
    if has_python() {
        scripts.push((
            "python",
            "import math\nmath.kept = 1\nprint('hey')\n6 * 7",
            "import math\n'undefined' if not hasattr(math, 'kept') else 'kept'",
        ));
    }
    for (language, script, witness) in scripts {
        let ran = run(&server, &path, language, script).await;
        assert_eq!(ran.body["status"], "success", "{ran:?}");
        let expected = json!({ "results": ["42"], "logs": { "stdout": ["hey\n"], "stderr": [] } });
        assert_eq!(ran.body["func_return"], expected, "{language}");
        let text: Value = serde_json::from_str(ran.body["tool_return"].as_str().unwrap()).unwrap();
        assert_eq!(text, expected);
        assert!(ran.body["receipt"]["source"].is_string());
        let next = run(&server, &path, language, witness).await;
        let kept = next.body["func_return"]["results"][0].as_str().unwrap();
        assert!(kept.contains("undefined"), "{language}: {kept}");
    }
}

#[tokio::test]
async fn an_exception_is_a_result_and_what_the_host_stops_is_an_error() {
    let (server, path) = with_run_code().await;
    let thrown = run(&server, &path, "js", "throw new RangeError('too far')").await;
    assert_eq!(thrown.body["status"], "success");
    let error = &thrown.body["func_return"]["error"];
    assert_eq!(
        (&error["name"], &error["value"]),
        (&json!("RangeError"), &json!("too far"))
    );
    let limits = json!({ "component": "source", "tool": "run_code", "capabilities": {}, "limits": { "fuel": 50_000_000 } });
    server.grant(limits).await;
    let stopped = run(&server, &path, "js", "for (;;);").await;
    assert_eq!(stopped.body["status"], "error");
    assert_eq!(stopped.body["receipt"]["outcome"], "out_of_fuel");
    let args = json!({ "language": "r", "code": "1" });
    let refused = server.post(&path, &json!({ "args": args })).await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.body["detail"]
            .as_str()
            .unwrap()
            .contains("python, js and ts")
    );
}

#[tokio::test]
async fn granted_tools_are_functions_and_spend_the_same_budget() {
    let (server, path) = with_run_code().await;
    saved(&server, &javascript("give")).await;
    let ungranted = run(&server, &path, "js", "await give({ a: 3 })").await;
    assert_eq!(
        ungranted.body["func_return"]["error"]["name"],
        "ReferenceError"
    );
    let id = server
        .grant(json!({ "component": "source", "tool": "run_code", "capabilities": { "peers": ["give", "add_one"] } }))
        .await;
    let mut scripts = vec![
        ("js", "await give({ a: 3 }) + 1"),
        ("ts", "const n = await give({ a: 3 }); n + 1"),
    ];
    if has_python() {
        saved(
            &server,
            &json!({ "source_code": python("add_one(a: int)", "return a + 1") }),
        )
        .await;
        scripts.push(("python", "add_one(a=give(a=2)) + 1"));
    }
    for (language, script) in scripts {
        let ran = run(&server, &path, language, script).await;
        assert_eq!(ran.body["func_return"]["results"], json!(["4"]), "{ran:?}");
        let receipt = &ran.body["receipt"];
        assert_eq!(receipt["host_calls"][0]["interface"], "peers");
        let inner = server.get("/v1/receipts?tool=give&limit=1").await;
        let spent = |receipt: &Value| receipt["fuel"]["call"].as_u64().unwrap();
        assert!(
            spent(receipt) > spent(&inner.body[0]),
            "the caller pays: {receipt}"
        );
    }
    server.delete(&format!("/v1/grants/{id}")).await;
    let revoked = run(&server, &path, "js", "await give({ a: 3 })").await;
    assert_eq!(
        revoked.body["func_return"]["error"]["name"],
        "ReferenceError"
    );
}

#[tokio::test]
async fn a_grant_for_any_tool_follows_what_is_saved_and_deleted() {
    let (server, path) = with_run_code().await;
    server
        .grant(json!({ "component": "source", "tool": "run_code", "capabilities": { "peers": ["*"] } }))
        .await;
    let kinds = "typeof give + ' ' + typeof take";
    let seen = async || {
        let ran = run(&server, &path, "js", kinds).await;
        ran.body["func_return"]["results"][0].clone()
    };
    assert_eq!(seen().await, "undefined undefined");
    let give = saved(&server, &javascript("give")).await;
    assert_eq!(seen().await, "function undefined");
    let give = format!("/v1/tools/{}", give["id"].as_str().unwrap());
    let renamed = server.patch(&give, &javascript("take")).await;
    assert_eq!(renamed.status, 200, "{renamed:?}");
    assert_eq!(seen().await, "undefined function");
    assert_eq!(server.delete(&give).await.status, 200);
    assert_eq!(seen().await, "undefined undefined");
}
