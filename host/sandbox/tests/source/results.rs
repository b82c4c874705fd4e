//! From what a function returns to what a model reads.

use bulkhead_domain::Outcome;
use serde_json::json;

use crate::common::*;

/// A Python tool that returns what an expression gives.
fn returns(expression: &str) -> Tool {
    Tool::python(&format!(
        "import enum, math, decimal, uuid\n\
         from pydantic import BaseModel\n\
         class Point(BaseModel):\n    x: int = 1\n    y: Optional[str] = None\n\
         class Odd:\n    def __str__(self):\n        return 'an odd thing'\n\
         def t():\n    return {expression}\n"
    ))
}

#[tokio::test]
async fn python_values_are_shown_as_python_shows_them() {
    if !has_python() {
        return;
    }
    for (expression, shown, plain) in [
        (
            "'text with \"quotes\"'",
            "text with \"quotes\"",
            json!("text with \"quotes\""),
        ),
        ("None", "None", json!(null)),
        ("True", "True", json!(true)),
        ("1.0", "1.0", json!(1.0)),
        ("10 ** 20", "100000000000000000000", json!(1e20)),
        ("[1, 'a', None]", "[1, 'a', None]", json!([1, "a", null])),
        ("(1, (2,))", "[1, [2]]", json!([1, [2]])),
        (
            "{'a': 1, 'b': None}",
            "{'a': 1, 'b': None}",
            json!({"a": 1, "b": null}),
        ),
        ("{1: 'x'}", "{'1': 'x'}", json!({"1": "x"})),
        ("Point()", "{'x': 1, 'y': None}", json!({"x": 1, "y": null})),
        (
            "[Point(x=2)]",
            "[{'x': 2, 'y': None}]",
            json!([{"x": 2, "y": null}]),
        ),
        ("Odd()", "an odd thing", json!("an odd thing")),
        ("decimal.Decimal('1.10')", "1.10", json!("1.10")),
        (
            "uuid.UUID(int=1)",
            "00000000-0000-0000-0000-000000000001",
            json!("00000000-0000-0000-0000-000000000001"),
        ),
        ("math.inf", "inf", json!(null)),
        ("'ü\\n🦊'", "ü\n🦊", json!("ü\n🦊")),
        ("''", "", json!("")),
    ] {
        let report = returns(expression).call(json!({})).await;
        assert_eq!(
            value_and_text(report),
            (plain, shown.to_owned()),
            "{expression}"
        );
    }
}

#[tokio::test]
async fn javascript_values_are_shown_as_json() {
    for (expression, shown, plain) in [
        ("'a \"b\"'", "a \"b\"", json!("a \"b\"")),
        ("undefined", "null", json!(null)),
        (
            "[1, 'a', null, undefined]",
            "[1,\"a\",null,null]",
            json!([1, "a", null, null]),
        ),
        ("{ a: 1, b: undefined }", "{\"a\":1}", json!({"a": 1})),
        (
            "new Date(0)",
            "\"1970-01-01T00:00:00.000Z\"",
            json!("1970-01-01T00:00:00.000Z"),
        ),
        (
            "new Map([['a', new Set([1])]])",
            "{\"a\":[1]}",
            json!({"a": [1]}),
        ),
        ("Promise.resolve(10n)", "\"10\"", json!("10")),
        ("NaN", "null", json!(null)),
    ] {
        let tool = Tool::javascript(&format!("async function t() {{ return ({expression}) }}"));
        let report = tool.call(json!({})).await;
        let (found, text) = value_and_text(report);
        assert_eq!(found, plain, "{expression}");
        assert_eq!(text, shown, "{expression}");
    }
}

#[track_caller]
fn value_and_text(report: bulkhead_sandbox::SourceReport) -> (serde_json::Value, String) {
    let shown = text_of(&report);
    (value(report), shown)
}

fn text_of(report: &bulkhead_sandbox::SourceReport) -> String {
    let output = report.report.result.as_ref();
    output
        .map(bulkhead_domain::Output::text)
        .unwrap_or_default()
}

#[tokio::test]
async fn coroutines_and_promises_are_awaited() {
    if has_python() {
        let text = "import asyncio\n\
                    async def helper(n):\n    await asyncio.sleep(0.001)\n    return n\n\
                    async def t(n: int) -> int:\n    return sum(await asyncio.gather(helper(n), helper(1)))\n";
        assert_eq!(
            value(Tool::python(text).named("t").call(json!({"n": 2})).await),
            json!(3)
        );
    }
    let text = "const helper = (n) => new Promise((done) => setTimeout(() => done(n), 1));\n\
                export async function t(n) { return (await Promise.all([helper(n), helper(1)])) }";
    assert_eq!(
        value(Tool::javascript(text).call(json!({"n": 2})).await),
        json!([2, 1])
    );
}

#[tokio::test]
async fn helpers_classes_and_imports_may_stand_beside_the_tool() {
    if has_python() {
        let text = "import json as j\nfrom math import floor\nFACTOR = 3\n\
                    def helper(n):\n    return floor(n) * FACTOR\n\
                    class Box:\n    def __init__(self, n):\n        self.n = n\n\
                    \x20   def __add__(self, other):\n        return Box(self.n + other.n)\n\
                    def t(n: float) -> str:\n    total = Box(helper(n)) + Box(1)\n    return j.dumps({'n': total.n})\n";
        assert_eq!(
            value(Tool::python(text).call(json!({"n": 2.9})).await),
            json!("{\"n\": 7}")
        );
    }
    let text = "const factor: number = 3;\n\
                interface Box { n: number }\n\
                function helper(n: number): Box { return { n: Math.floor(n) * factor } }\n\
                export function t(n: number): string { return JSON.stringify(helper(n)) }";
    assert_eq!(
        value(Tool::typescript(text).call(json!({"n": 2.9})).await),
        json!("{\"n\":6}")
    );
}

#[tokio::test]
async fn a_result_that_contains_itself_is_no_trap() {
    if has_python() {
        let report = returns("(lambda a: a.append(a) or a)([1])")
            .call(json!({}))
            .await;
        assert_eq!(value(report), json!([1, "[...]"]));
    }
    let text = "function t() { const a = {}; a.b = [a]; return a }";
    let report = Tool::javascript(text).call(json!({})).await;
    assert_eq!(outcome(&report), Outcome::ToolError);
    assert!(raised(report).message.contains("contains itself"));
}

#[tokio::test]
async fn nesting_is_bounded_with_a_clear_text() {
    type Make = fn(&str) -> Tool;
    let mut tools: Vec<(Make, &str)> = vec![(
        Tool::javascript as Make,
        "function t(n) { let a = 1; for (; n > 0; n--) a = [a]; return a }",
    )];
    if has_python() {
        let text =
            "def t(n: int):\n    a = 1\n    for _ in range(n):\n        a = [a]\n    return a\n";
        tools.push((Tool::python, text));
    }
    for (tool, source) in tools {
        let report = tool(source).call(json!({"n": 100})).await;
        assert_eq!(outcome(&report), Outcome::Ok);
        let report = tool(source).call(json!({"n": 1000})).await;
        assert_eq!(outcome(&report), Outcome::ToolError);
        assert!(raised(report).message.contains("nested"));
    }
}
