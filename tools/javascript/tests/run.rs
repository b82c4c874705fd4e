//! Scripts that are no tools.

mod support;

use std::rc::Rc;

use support::{TestHost, javascript, printed, raised, run, run_raised, run_with, typescript};
use tool_javascript::{abi::Ended, host::Stream};

#[test]
fn the_last_expression_is_the_result() {
    assert_eq!(run("1; 2 + 3"), "5");
    assert_eq!(run("x = 5; x * 2"), "10");
    assert_eq!(run("const a = [1, 2];\na.map(n => n * 2);"), "[2,4]");
    assert_eq!(run("Promise.resolve(7)"), "7");
    assert_eq!(
        run("const a = await Promise.resolve(1);\na + 1, a + 2"),
        "3"
    );
    assert_eq!(run("const a = await 1; if (a) { a }"), "null");
    assert_eq!(run("'text'"), "\"text\"");
}

#[test]
fn without_a_value_there_is_no_content() {
    match run_with(&javascript("const a = 1"), TestHost::new()).ended {
        Ended::Returned(output) => {
            assert!(output.content.is_empty());
            assert_eq!(output.structured.as_deref(), Some("null"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn timers_run_in_order_and_really_wait() {
    let host = TestHost::new();
    let source = javascript(
        "setTimeout(() => console.log('late'), 20); setTimeout(console.log, 5, 'a', 1);\n\
         const stop = setInterval(() => { console.log('tick'); clearInterval(stop) }, 10);\n\
         const never = setTimeout(() => console.log('never'), 1); clearTimeout(never);\n\
         queueMicrotask(() => console.log('micro')); console.log('now')",
    );
    let begun = std::time::Instant::now();
    run_with(&source, Rc::clone(&host));
    assert!(begun.elapsed().as_millis() >= 20);
    assert_eq!(
        host.lines(Stream::Out),
        ["now", "micro", "a 1", "tick", "late"]
    );
}

#[test]
fn errors_have_a_kind_and_a_place() {
    let exception = run_raised("const a = 1;\nfunction g() { undefined.x }\ng()");
    assert_eq!(exception.kind, "TypeError");
    let lines: Vec<&str> = exception.traceback.lines().collect();
    assert!(lines[1].starts_with("    at g (tool.js:2:"), "{lines:?}");
    assert!(lines[2].starts_with("    at tool.js:3:"), "{lines:?}");
    let exception = run_raised("let a = ;");
    assert_eq!(exception.kind, "SyntaxError");
    assert!(exception.message.contains("line 1"), "{exception:?}");
    let exception = run_raised("await null;\nnope()");
    assert!(exception.traceback.contains("tool.js:2:1"), "{exception:?}");
    let exception = raised(run_with(
        &typescript("\n\nconst a: number = nope;"),
        TestHost::new(),
    ));
    assert!(exception.traceback.contains("tool.ts:3:"), "{exception:?}");
}

#[test]
fn the_stack_of_an_error_reads_as_in_node() {
    let text = run("function g() { return new RangeError('far') }\ng().stack");
    assert!(
        text.starts_with("\"RangeError: far\\n    at g (tool.js:1:"),
        "{text}"
    );
    assert_eq!(
        run("const e = new Error('a'); e.stack = 'b'; e.stack"),
        "\"b\""
    );
}

#[test]
fn enums_and_classes_of_typescript_run() {
    let source = typescript(
        "enum Color { Red, Green = 'g', Blue = 5, Next, Mask = Blue | 8 }\n\
         class P { constructor(private readonly x: number, public y = x * 2) {} sum(): number { return this.x + this.y } }\n\
         class Q extends P { constructor() { super(3); } }\n\
         [Color.Red, Color[0], Color.Green, Color.Next, Color.Mask, new Q().sum()]",
    );
    let result = support::structured(run_with(&source, TestHost::new()));
    assert_eq!(result, r#"[0,"Red","g",6,13,9]"#);
}

#[test]
fn the_console_prints_as_in_node() {
    for (code, expected) in [
        ("'a', 1, true, null, undefined", "a 1 true null undefined"),
        (
            "{ a: 1, b: 'x', 'c-d': [1, 2], e: { f: { g: { h: 1 } } } }",
            "{ a: 1, b: 'x', 'c-d': [ 1, 2 ], e: { f: { g: [Object] } } }",
        ),
        ("[1, , 3], [], {}", "[ 1, <1 empty item>, 3 ] [] {}"),
        (
            "new Map([['a', { b: 1 }]]), new Set([1, 'x'])",
            "Map(1) { 'a' => { b: 1 } } Set(2) { 1, 'x' }",
        ),
        (
            "new (class Foo { x = 1 })(), class Bar {}, () => 1, function f() {}",
            "Foo { x: 1 } [class Bar] [Function (anonymous)] [Function: f]",
        ),
        (
            "Symbol('s'), 10n, -0, [ 'it\\'s' ], /a/g, new Date(0)",
            "Symbol(s) 10n -0 [ \"it's\" ] /a/g 1970-01-01T00:00:00.000Z",
        ),
        (
            "'%s is %d years and %i, %j %%', 'Bob', 42.5, 42.5, { a: 1 }, 'more'",
            "Bob is 42.5 years and 42, {\"a\":1} % more",
        ),
        (
            "Promise.resolve(1), { get a() { return 1 } }, Object.create(null)",
            "Promise { 1 } { a: [Getter] } [Object: null prototype] {}",
        ),
        (
            "new Uint8Array([1, 2]), [undefined, null]",
            "Uint8Array(2) [ 1, 2 ] [ undefined, null ]",
        ),
    ] {
        assert_eq!(printed(&format!("console.log({code})")), expected, "{code}");
    }
    assert_eq!(
        printed("const a = { b: 1 }; a.self = a; console.log(a)"),
        "{ b: 1, self: [Circular] }"
    );
    assert_eq!(
        printed("console.group('g'); console.log('a\\nb'); console.groupEnd(); console.log('c')"),
        "g\n  a\n  b\nc"
    );
    let table = printed("console.table([{ a: 1, b: 'x' }, { a: 2 }])");
    assert_eq!(table.lines().count(), 6, "{table}");
    let long = printed(
        "console.log({ first: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', second: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb' })",
    );
    assert_eq!(long.lines().count(), 4, "{long}");
    let error = printed("console.log(new TypeError('bad'))");
    assert!(
        error.starts_with("TypeError: bad\n    at tool.js:1:"),
        "{error}"
    );
}

#[test]
fn warnings_and_errors_go_to_the_other_stream() {
    let host = TestHost::new();
    run_with(
        &javascript(
            "console.error('e'); console.warn('w'); console.info('i'); console.assert(false, 'x')",
        ),
        Rc::clone(&host),
    );
    assert_eq!(host.lines(Stream::Error), ["e", "w", "Assertion failed: x"]);
    assert_eq!(host.lines(Stream::Out), ["i"]);
}

#[test]
fn a_name_that_is_not_defined_has_its_own_place() {
    for (text, frame) in [
        ("\nnope()", "    at tool.js:2:1"),
        (
            "function f() {\n  g();\n  return { a: nope };\n}\nfunction g() {}\nf()",
            "    at f (tool.js:3:15)",
        ),
        (
            "await null;\nconst a = typeof nope;\na + nope",
            "    at tool.js:3:5",
        ),
    ] {
        let exception = run_raised(text);
        assert_eq!(
            exception.traceback.lines().nth(1),
            Some(frame),
            "{exception:?}"
        );
    }
}
