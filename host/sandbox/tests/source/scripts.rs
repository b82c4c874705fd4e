//! Scripts that are no tools, and other tools as functions in them.

use std::sync::{Arc, Mutex};

use bulkhead_domain::{FuelByPhase, Outcome, Output, ToolError};
use bulkhead_sandbox::{
    LogLevel, Services,
    services::{PeerError, PeerReply, PeerRequest, PeersService},
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::common::*;

/// What one call of `add` costs its caller.
const COST: u64 = 1_000_000;

/// A caller's tools: `add`, `fail`, `greedy`, which takes all fuel, and `say`, which gives text.
#[derive(Default)]
struct Peers {
    asked: Mutex<Vec<(String, Value, u64)>>,
}

impl Peers {
    fn answer(&self, request: &PeerRequest) -> Result<Output, PeerError> {
        let input: Value = serde_json::from_str(&request.input).unwrap();
        match request.name.as_str() {
            "add" => {
                let sum = input["left"].as_i64().unwrap() + input["right"].as_i64().unwrap();
                Ok(Output {
                    structured: Some(json!({"sum": sum})),
                    ..Output::default()
                })
            }
            "say" => Ok(Output {
                content: vec![bulkhead_domain::Content::Text {
                    text: "just text".to_owned(),
                }],
                ..Output::default()
            }),
            "fail" => Err(PeerError::Tool(ToolError::Failed("it broke".to_owned()))),
            "greedy" => Err(PeerError::Stopped(
                Outcome::OutOfFuel,
                "no fuel is left".to_owned(),
            )),
            _ => Err(PeerError::Unknown),
        }
    }
}

impl PeersService for Peers {
    fn call(&self, request: PeerRequest) -> BoxFuture<'_, PeerReply> {
        let input = serde_json::from_str(&request.input).unwrap();
        let asked = (request.name.clone(), input, request.limits.fuel);
        self.asked.lock().unwrap().push(asked);
        let call = match request.name.as_str() {
            "greedy" => request.limits.fuel,
            _ => COST,
        };
        let reply = PeerReply {
            result: self.answer(&request),
            fuel: FuelByPhase {
                instantiate: 0,
                call,
            },
        };
        Box::pin(async { reply })
    }
}

/// The tool with peers around it.
fn with_peers(tool: Tool) -> (Tool, Arc<Peers>) {
    let peers = Arc::new(Peers::default());
    let mut tool = tool
        .peers(&["add", "say", "fail", "greedy", "absent"])
        .granted(json!({"peers": ["add", "say", "fail", "greedy"]}));
    tool.services = Services {
        peers: Some(Arc::clone(&peers) as _),
        ..Services::default()
    };
    (tool, peers)
}

#[tokio::test]
async fn the_last_expression_of_a_script_is_its_result() {
    if has_python() {
        for (code, shown, plain) in [
            ("import math\nmath.factorial(5)", "120", json!(120)),
            ("[n * n for n in range(3)]", "[0, 1, 4]", json!([0, 1, 4])),
            ("'text'", "'text'", json!("text")),
            (
                "import asyncio\nawait asyncio.sleep(0.001, {'a': (1,)})",
                "{'a': (1,)}",
                json!({"a": [1]}),
            ),
            ("def f():\n    return 1\nf()", "1", json!(1)),
            ("x = 5", "", json!(null)),
            ("", "", json!(null)),
            ("__name__", "'__main__'", json!("__main__")),
        ] {
            let report = Tool::python(code).run().await;
            let output = report.report.result.unwrap();
            assert_eq!(
                (output.text().as_str(), output.structured),
                (shown, Some(plain)),
                "{code}"
            );
        }
    }
    for tool in [Tool::javascript, Tool::typescript] {
        for (code, plain) in [
            (
                "const a = [3, 1, 2];\na.sort().map((n) => n * 2)",
                json!([2, 4, 6]),
            ),
            ("'text'", json!("text")),
            (
                "await new Promise((done) => setTimeout(() => done({ a: 1 }), 1))",
                json!({"a": 1}),
            ),
            ("let x = 5;", json!(null)),
            ("", json!(null)),
        ] {
            assert_eq!(value(tool(code).run().await), plain, "{code}");
        }
    }
    let typed = "type Pair = [number, string];\nconst p: Pair = [1, 'x'];\n(p as unknown[]).length";
    assert_eq!(value(Tool::typescript(typed).run().await), json!(2));
}

#[tokio::test]
async fn scripts_print_and_fail_like_tools() {
    if has_python() {
        let report = Tool::python("print('a')\nx = 1\nx / 0\n").run().await;
        assert_eq!(lines(&report, LogLevel::Stdout), ["a"]);
        let exception = raised(report);
        assert_eq!(exception.kind, "ZeroDivisionError");
        assert!(
            exception.traceback.contains("line 3"),
            "{}",
            exception.traceback
        );
        let report = Tool::python("exit(3)").run().await;
        assert_eq!(outcome(&report), Outcome::Exited);
        let report = Tool::python("while True: pass").tight().run().await;
        assert_eq!(outcome(&report), Outcome::OutOfFuel);
    }
    let report = Tool::javascript("console.log('a');\nnull.x").run().await;
    assert_eq!(lines(&report, LogLevel::Stdout), ["a"]);
    let exception = raised(report);
    assert_eq!(exception.kind, "TypeError");
    assert!(
        exception.traceback.contains(":2:"),
        "{}",
        exception.traceback
    );
    let report = Tool::javascript("for (;;);").tight().run().await;
    assert_eq!(outcome(&report), Outcome::OutOfFuel);
    the_next_call_is_unharmed().await;
}

const PYTHON: &str = "results = [add(left=n, right=1)['sum'] for n in range(3)]\n\
                      failed = []\n\
                      for tool in (fail, absent):\n    \
                      try:\n        tool()\n    \
                      except Exception as error:\n        failed.append(str(error))\n\
                      [results, say(), failed]\n";
const JAVASCRIPT: &str = "const results = [];\n\
                          for (let n = 0; n < 3; n++) results.push((await add({ left: n, right: 1 })).sum);\n\
                          const failed = [];\n\
                          for (const tool of [fail, absent]) { try { await tool() } catch (error) { failed.push(error.message) } }\n\
                          [results, await say(), failed]";

#[tokio::test]
async fn tools_are_functions_in_a_script() {
    let typed = "const sums: number[] = [];\nsums.push((await add({ left: 1, right: 1 }) as { sum: number }).sum);\nsums";
    let (tool, _) = with_peers(Tool::typescript(typed));
    assert_eq!(value(tool.run().await), json!([2]));
    let mut tools = vec![Tool::javascript(JAVASCRIPT)];
    if has_python() {
        tools.push(Tool::python(PYTHON));
    }
    for tool in tools {
        let (tool, peers) = with_peers(tool);
        let report = tool.run().await;
        let receipt = report.report.receipt.clone();
        let found = value(report);
        assert_eq!(
            (&found[0], &found[1]),
            (&json!([1, 2, 3]), &json!("just text"))
        );
        assert!(
            found[2][0].as_str().unwrap().contains("it broke"),
            "{found}"
        );
        let denied = found[2][1].as_str().unwrap();
        assert!(denied.contains("--peer absent"), "{denied}");
        let asked = peers.asked.lock().unwrap();
        assert_eq!(asked[0].1, json!({"left": 0, "right": 1}));
        // A denied call never reaches the service.
        assert_eq!(asked.len(), 5);
        // What the called tools consumed is the caller's.
        assert!(receipt.fuel.call > 5 * COST);
        assert!(asked[1].2 + COST <= asked[0].2, "{asked:?}");
        assert_eq!(receipt.denials.len(), 1);
    }
}

#[tokio::test]
async fn a_called_tool_can_use_up_its_callers_budget() {
    let mut tools = vec![Tool::javascript("await greedy(); 1")];
    if has_python() {
        tools.push(Tool::python("greedy()\n"));
    }
    for tool in tools {
        let (tool, _) = with_peers(tool);
        let report = tool.run().await;
        assert_eq!(outcome(&report), Outcome::OutOfFuel, "{report:?}");
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn tools_call_tools_too() {
    let mut tools = vec![Tool::javascript(
        "export async function t(n) { return (await add({ left: n, right: 1 })).sum }",
    )];
    if has_python() {
        tools.push(Tool::python(
            "def t(n: int):\n    return add(left=n, right=1)['sum']\n",
        ));
    }
    for tool in tools {
        let (tool, _) = with_peers(tool);
        assert_eq!(value(tool.call(json!({"n": 4})).await), json!(5));
    }
}
