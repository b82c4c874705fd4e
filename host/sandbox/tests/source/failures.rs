//! What a function raises, and how a program ends itself.

use bulkhead_domain::{Outcome, ToolError};
use bulkhead_sandbox::LogLevel;
use serde_json::json;

use crate::common::*;

#[tokio::test]
async fn an_exception_has_its_kind_its_text_and_the_lines_of_the_source() {
    if !has_python() {
        return;
    }
    let text = "import json\n\
                \n\
                def inner(text):\n    return json.loads(text)\n\
                \n\
                def t(text: str):\n    try:\n        return inner(text)\n    except ValueError as error:\n        raise LookupError(f'no: {text}') from error\n";
    let report = Tool::python(text).call(json!({"text": "{"})).await;
    assert_eq!(outcome(&report), Outcome::ToolError);
    let failure = report.report.result.clone().unwrap_err();
    assert_eq!(failure.message, "LookupError: no: {");
    assert_eq!(
        failure.tool_error,
        Some(ToolError::Failed("LookupError: no: {".to_owned()))
    );
    let exception = raised(report);
    assert_eq!(
        (exception.kind.as_str(), exception.message.as_str()),
        ("LookupError", "no: {")
    );
    let trace = &exception.traceback;
    for part in [
        "File \"tool.py\", line 4, in inner\n    return json.loads(text)",
        "json.decoder.JSONDecodeError: ",
        "The above exception was the direct cause of the following exception:",
        "File \"tool.py\", line 10, in t\n    raise LookupError(f'no: {text}') from error",
    ] {
        assert!(trace.contains(part), "{part}: {trace}");
    }
    assert!(trace.ends_with("LookupError: no: {\n"), "{trace}");
    for foreign in ["decoder.py", "call.py", "bulkhead", "site-packages"] {
        assert!(!trace.contains(foreign), "{foreign}: {trace}");
    }
}

#[tokio::test]
async fn a_thrown_error_has_its_kind_its_text_and_the_lines_of_the_source() {
    let text = "class Missing extends Error {}\n\
                function inner(name: string): never {\n  throw new Missing(`no ${name}`);\n}\n\
                export function t(name: string) {\n  inner(name);\n}";
    let report = Tool::typescript(text).call(json!({"name": "x"})).await;
    assert_eq!(outcome(&report), Outcome::ToolError);
    let exception = raised(report);
    assert_eq!(
        (exception.kind.as_str(), exception.message.as_str()),
        ("Missing", "no x")
    );
    for frame in [
        "    at inner (tool.ts:3:9)
",
        "    at t (tool.ts:6:",
    ] {
        assert!(
            exception.traceback.contains(frame),
            "{}",
            exception.traceback
        );
    }
}

#[tokio::test]
async fn source_that_is_no_program_raises_what_the_language_calls_it() {
    if has_python() {
        for (text, kind, part) in [
            ("def t(:\n    pass\n", "SyntaxError", "line 1"),
            ("def t():\nreturn 1\n", "IndentationError", "line 2"),
            (
                "x = 1\n",
                "SyntaxError",
                "No functions found in source code",
            ),
            (
                "import nowhere_to_be_found\ndef t():\n    pass\n",
                "ModuleNotFoundError",
                "line 1",
            ),
            ("1 / 0\ndef t():\n    pass\n", "ZeroDivisionError", "line 1"),
            (
                "def t():\n    return undefined_name\n",
                "NameError",
                "line 2",
            ),
        ] {
            let exception = raised(Tool::python(text).call(json!({})).await);
            assert_eq!(exception.kind, kind, "{text}");
            assert!(
                exception.traceback.contains(part),
                "{text}: {}",
                exception.traceback
            );
        }
    }
    for (text, kind, part) in [
        ("function t( {", "SyntaxError", "Syntax error"),
        ("const x = 1", "Error", "No functions found in source code"),
        ("null.x; function t() {}", "TypeError", "tool.js:1"),
        (
            "function t() {\n  return nope }",
            "ReferenceError",
            "tool.js:2",
        ),
    ] {
        let exception = raised(Tool::javascript(text).call(json!({})).await);
        assert_eq!(exception.kind, kind, "{text}");
        assert!(
            exception.traceback.contains(part),
            "{text}: {}",
            exception.traceback
        );
    }
}

#[tokio::test]
async fn a_program_that_ends_itself_gives_no_result() {
    if has_python() {
        for (code, said) in [
            ("sys.exit()", "status 0"),
            ("sys.exit(3)", "status 3"),
            ("sys.exit('because')", "status 1"),
            ("exit(4)", "status 4"),
            ("raise SystemExit(5)", "status 5"),
            ("os._exit(6)", "code"),
        ] {
            let text = format!("import os, sys\ndef t():\n    print('before')\n    {code}\n");
            let report = Tool::python(&text).call(json!({})).await;
            assert_eq!(outcome(&report), Outcome::Exited, "{code}: {report:?}");
            assert_eq!(lines(&report, LogLevel::Stdout), ["before"], "{code}");
            let failure = report.report.result.unwrap_err();
            assert!(failure.message.contains(said), "{code}: {failure}");
            assert_eq!(report.exception, None, "{code}");
        }
    }
    for (code, said) in [
        ("process.exit()", "status 0"),
        ("process.exit(3)", "status 3"),
    ] {
        let text = format!("function t() {{ console.log('before'); try {{ {code} }} catch {{}} }}");
        let report = Tool::javascript(&text).call(json!({})).await;
        assert_eq!(outcome(&report), Outcome::Exited, "{code}");
        assert_eq!(lines(&report, LogLevel::Stdout), ["before"], "{code}");
        assert!(
            report.report.result.unwrap_err().message.contains(said),
            "{code}"
        );
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn exceptions_that_resist_are_reported_all_the_same() {
    if !has_python() {
        return;
    }
    for (text, kind) in [
        (
            "class E(Exception):\n    def __str__(self):\n        1 / 0\ndef t():\n    raise E\n",
            "E",
        ),
        (
            "def t():\n    raise KeyboardInterrupt\n",
            "KeyboardInterrupt",
        ),
        ("def t():\n    raise GeneratorExit\n", "GeneratorExit"),
        ("def t():\n    raise StopIteration(1)\n", "StopIteration"),
        (
            "def t():\n    raise ExceptionGroup('g', [ValueError('a'), KeyError('b')])\n",
            "ExceptionGroup",
        ),
        ("def t():\n    raise 'text'\n", "TypeError"),
        (
            "class E(BaseException):\n    __traceback__ = property(lambda self: 1 / 0)\ndef t():\n    raise E('x')\n",
            "E",
        ),
        (
            "def t():\n    a = ValueError('a')\n    a.__cause__ = a\n    raise a\n",
            "ValueError",
        ),
    ] {
        let report = Tool::python(text).call(json!({})).await;
        assert_eq!(outcome(&report), Outcome::ToolError, "{text}");
        assert_eq!(raised(report).kind, kind, "{text}");
    }
    the_next_call_is_unharmed().await;
}
