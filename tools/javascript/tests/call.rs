//! Calls of tools.

mod support;

use std::rc::Rc;

use support::{
    TestHost, call, call_with, environment, javascript, problems, raised, structured, typescript,
};
use tool_javascript::abi::{Content, Ended};

#[test]
fn a_function_is_called_with_its_arguments() {
    let add = typescript("export function add(a: number, b: number = 2): number { return a + b }");
    assert_eq!(call(&add, r#"{"a": 1}"#), "3");
    assert_eq!(call(&add, r#"{"b": 5, "a": 1}"#), "6");
    assert_eq!(call(&add, r#"{"a": "5", "b": null}"#), "7");
    assert_eq!(
        call(
            &javascript("const f = async (a) => a.length"),
            r#"{"a": "xyz"}"#
        ),
        "3"
    );
    assert_eq!(
        call(
            &javascript("export default function (a) { return [a] }"),
            r#"{"a": 1}"#
        ),
        "[1]"
    );
    assert_eq!(
        call(
            &javascript("function f(a) { return a }\nmodule.exports = { f }"),
            r#"{"a": 1}"#
        ),
        "1"
    );
    assert_eq!(
        call(
            &typescript(
                "export function f({ a, b = 2 }: { a: number, b?: number }) { return a + b }"
            ),
            r#"{"a": 1}"#
        ),
        "3"
    );
    assert_eq!(
        call(
            &typescript("function f(a: string, ...more: number[]) { return more }"),
            r#"{"a": "x", "more": [1, 2]}"#
        ),
        "[1,2]"
    );
}

#[test]
fn the_order_of_the_schema_serves_functions_with_other_names() {
    let source = javascript("function f(x, y) { return `${x}-${y}` }");
    let order = ["first".to_owned(), "second".to_owned()];
    let execution = tool_javascript::call(
        &source,
        r#"{"second": 2, "first": 1}"#,
        &order,
        &environment(),
        TestHost::new(),
    );
    assert_eq!(structured(execution), r#""1-2""#);
}

#[test]
fn what_does_not_fit_is_a_problem_with_its_place() {
    let source = typescript(
        "export function f(a: number, b: boolean[], c?: 'x' | 'y', d?: { e: string }) {}",
    );
    assert_eq!(
        problems(
            &source,
            r#"{"a": "five", "b": [true, "true", 1], "c": "z", "d": {}, "q": 1}"#
        ),
        [
            ("/a", "must be a number, not \"five\""),
            ("/b/2", "must be a boolean, not 1"),
            ("/c", "must be one of \"x\", \"y\", not \"z\""),
            ("/d/e", "is missing"),
            ("/q", "is no argument of 'f'; it takes: a, b, c, d"),
        ]
        .map(|(at, message)| (at.to_owned(), message.to_owned()))
    );
    assert_eq!(
        problems(&source, "{}")[0],
        ("/a".to_owned(), "is missing".to_owned())
    );
    assert_eq!(problems(&source, "[1]")[0].0, "");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    assert!(problems(&source, &deep)[0].1.contains("nested"));
}

#[test]
fn arguments_are_data() {
    let source = javascript("function f(a) { return a }");
    let evil = r#""); process.exit(1); (\" \u2028 ${1} `"#;
    let input = serde_json::json!({ "a": evil }).to_string();
    let expected = serde_json::Value::from(evil).to_string();
    assert_eq!(call(&source, &input), expected);
    assert_eq!(
        call(&source, r#"{"a": {"__proto__": {"x": 1}}}"#),
        r#"{"__proto__":{"x":1}}"#
    );
}

#[test]
fn results_are_json_and_text() {
    let result = |body: &str| call(&javascript(&format!("function f() {{ {body} }}")), "{}");
    assert_eq!(result("return undefined"), "null");
    assert_eq!(result("return new Map([['a', 1]])"), r#"{"a":1}"#);
    assert_eq!(result("return new Set([1, 2])"), "[1,2]");
    assert_eq!(
        result("return { a: 10n, b: undefined, c: [undefined], d: NaN }"),
        r#"{"a":"10","c":[null],"d":null}"#
    );
    assert_eq!(
        result("return new Date(0)"),
        r#""1970-01-01T00:00:00.000Z""#
    );
    assert_eq!(result("return new Uint8Array([1, 2])"), "[1,2]");
    assert_eq!(
        result("return { e: new RangeError('x') }"),
        r#"{"e":{"name":"RangeError","message":"x"}}"#
    );
    assert_eq!(
        result("return [1.5, -0, 1e21, 'ü\\n']"),
        r#"[1.5,0,1e+21,"ü\n"]"#
    );
    let text = |body: &str| {
        let source = javascript(&format!("function f() {{ {body} }}"));
        match call_with(&source, "{}", TestHost::new()).ended {
            Ended::Returned(output) => output.content,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(text("return 'a b'"), [Content::Text("a b".to_owned())]);
    assert_eq!(
        text("return { a: 1 }"),
        [Content::Text(r#"{"a":1}"#.to_owned())]
    );
    assert_eq!(text(""), [Content::Text("null".to_owned())]);
}

#[test]
fn a_result_that_is_no_json_is_an_error() {
    let source = javascript("function f() { const a = { b: {} }; a.b.c = a; return a }");
    let exception = raised(call_with(&source, "{}", TestHost::new()));
    assert_eq!(exception.kind, "TypeError");
    assert!(
        exception.message.contains("contains itself (at b.c)"),
        "{exception:?}"
    );
}

#[test]
fn errors_have_the_lines_of_the_source() {
    let source = typescript(
        "interface A {\n  b: string;\n}\nfunction g(a: A): void {\n  throw new TypeError('no ' + a.b);\n}\nexport function f(b: string) {\n  [1].forEach(() => g({ b }));\n}",
    );
    let exception = raised(call_with(&source, r#"{"b": "x"}"#, TestHost::new()));
    assert_eq!(exception.kind, "TypeError");
    assert_eq!(exception.message, "no x");
    let lines: Vec<&str> = exception.traceback.lines().collect();
    assert_eq!(lines[0], "TypeError: no x");
    assert!(lines[1].starts_with("    at g (tool.ts:5:"), "{lines:?}");
    assert!(lines[2].starts_with("    at tool.ts:8:"), "{lines:?}");
    assert!(lines[3].starts_with("    at f (tool.ts:8:"), "{lines:?}");
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[test]
fn errors_of_promises_have_lines_too() {
    let source = javascript(
        "async function g() {\n  null.x\n}\nexport async function f() {\n  await g()\n}",
    );
    let exception = raised(call_with(&source, "{}", TestHost::new()));
    assert_eq!(exception.kind, "TypeError");
    assert!(
        exception.traceback.contains("g (tool.js:2:"),
        "{}",
        exception.traceback
    );
}

#[test]
fn whatever_is_thrown_has_a_kind_and_a_message() {
    let thrown = |body: &str| {
        let source = javascript(&format!(
            "class Odd extends Error {{}}\nfunction f() {{ {body} }}"
        ));
        let exception = raised(call_with(&source, "{}", TestHost::new()));
        (exception.kind, exception.message)
    };
    let pair = |kind: &str, message: &str| (kind.to_owned(), message.to_owned());
    assert_eq!(thrown("throw 'text'"), pair("Error", "text"));
    assert_eq!(thrown("throw { code: 5 }"), pair("Error", "{ code: 5 }"));
    assert_eq!(thrown("throw { message: 'm' }"), pair("Error", "m"));
    assert_eq!(thrown("throw undefined"), pair("Error", "undefined"));
    assert_eq!(thrown("throw new Odd('x')"), pair("Odd", "x"));
    assert_eq!(
        thrown("nope()"),
        pair("ReferenceError", "nope is not defined")
    );
}

#[test]
fn deep_recursion_is_a_range_error() {
    for body in [
        "function f() { return f() }",
        "function f() { return [1].map(f) }",
        "function f() { return `${{ toString: f }}` }",
        "async function f() { return await f() }",
    ] {
        let exception = raised(call_with(&javascript(body), "{}", TestHost::new()));
        assert_eq!(exception.kind, "RangeError", "{body}: {exception:?}");
        assert_eq!(exception.message, "Maximum call stack size exceeded");
    }
}

#[test]
fn the_program_can_end_itself() {
    for body in [
        "process.exit(3)",
        "try { process.exit(3) } catch {}",
        "await null; process.exit(3)",
    ] {
        let source = javascript(&format!("async function f() {{ {body} }}"));
        let execution = call_with(&source, "{}", TestHost::new());
        assert_eq!(execution.ended, Ended::Exited(3), "{body}");
    }
}

#[test]
fn nothing_of_one_call_is_seen_by_the_next() {
    let source = javascript(
        "let n = 0; function f() { globalThis.x = (globalThis.x ?? 0) + 1; Array.prototype.y = x; n += 1; return [n, x] }",
    );
    assert_eq!(call(&source, "{}"), "[1,1]");
    assert_eq!(call(&source, "{}"), "[1,1]");
    assert_eq!(
        call(
            &javascript("function f() { return [].y === undefined }"),
            "{}"
        ),
        "true"
    );
}

#[test]
fn the_environment_is_what_was_given() {
    let mut environment = environment();
    environment.variables = vec![("KEY".to_owned(), "value".to_owned())];
    environment.agent = Some(r#"{"id": "agent-1", "blocks": []}"#.to_owned());
    environment.peers = vec!["echo".to_owned(), "broken".to_owned()];
    let host = TestHost::new();
    let source = javascript(
        "async function f() {\n  let failed; try { await broken() } catch (error) { failed = error.message }\n  \
         agent.id = 'x';\n  return { env: process.env, agent: agent.id, echo: await echo({ a: [1] }), failed } }",
    );
    let execution =
        tool_javascript::call(&source, "{}", &[], &environment, Rc::clone(&host) as Rc<_>);
    assert_eq!(
        structured(execution),
        r#"{"env":{"KEY":"value"},"agent":"agent-1","echo":{"echo":{"a":[1]}},"failed":"broken: it ran out of fuel"}"#
    );
    assert_eq!(
        host.peer_calls.borrow()[1],
        ("echo".to_owned(), r#"{"a":[1]}"#.to_owned())
    );
}

#[test]
fn a_promise_that_nothing_settles_is_an_error() {
    let source = javascript("function f() { return new Promise(() => {}) }");
    let exception = raised(call_with(&source, "{}", TestHost::new()));
    assert!(
        exception.message.contains("nothing can settle"),
        "{exception:?}"
    );
}

#[test]
fn modules_are_not_there() {
    let message = |body: &str| {
        let source = javascript(&format!("async function f() {{ {body} }}"));
        raised(call_with(&source, "{}", TestHost::new())).message
    };
    for body in ["require('fs')", "await import('fs')"] {
        assert!(
            message(body).contains("module 'fs' can't be imported"),
            "{body}: {}",
            message(body)
        );
    }
}
