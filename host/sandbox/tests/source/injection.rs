//! Arguments are data, whatever stands in them.

use bulkhead_domain::Outcome;
use serde_json::json;

use crate::common::*;

const TEXTS: &[&str] = &[
    "'; import os; os._exit(1) #",
    "\"; import os; os._exit(1) #",
    "\"\"\" + str(1/0) + \"\"\"",
    "''')\nimport sys; sys.exit(1)\n('''",
    "\\'; exit(1)",
    "\\\"); process.exit(1); (\\\"",
    "`${process.exit(1)}`",
    "${1 + 1} {1 + 1} %(x)s {0.__class__}",
    "\n\r\u{2028}\u{2029}\0\u{7f}\u{feff}",
    "</script><script>process.exit(1)</script>",
    "__import__('os').abort()",
    "{\"a\": 1}",
    "[1, 2]",
    "null",
    "\u{202e}drow\u{202d} 🦊 e\u{301}",
];

#[tokio::test]
async fn a_text_arrives_as_it_was_sent() {
    for text in TEXTS {
        let expected = json!([text, text.encode_utf16().count()]);
        let tool = Tool::javascript("function t(a) { return [a, a.length] }");
        let report = tool.call(json!({"a": text})).await;
        assert_eq!(value(report), expected, "{text:?}");
        let tool =
            Tool::typescript("export function t(a: string): unknown { return [a, a.length] }");
        assert_eq!(
            value(tool.call(json!({"a": text})).await),
            expected,
            "{text:?}"
        );
        if has_python() {
            let tool = Tool::python("def t(a: str) -> list:\n    return [a, len(a)]\n");
            let expected = json!([text, text.chars().count()]);
            assert_eq!(
                value(tool.call(json!({"a": text})).await),
                expected,
                "{text:?}"
            );
        }
    }
}

#[tokio::test]
async fn names_of_arguments_are_data_too() {
    for text in TEXTS {
        if has_python() {
            let tool = Tool::python("def t(**more):\n    return list(more)\n");
            assert_eq!(
                value(tool.call(json!({*text: 1})).await),
                json!([text]),
                "{text:?}"
            );
            let tool = Tool::python("def t(a=1):\n    return a\n");
            let report = tool.call(json!({*text: 1})).await;
            assert_eq!(outcome(&report), Outcome::ToolError);
            assert_eq!(problems(report).len(), 1, "{text:?}");
        }
        let tool = Tool::javascript("function t(a = 1) { return a }");
        let report = tool.call(json!({*text: 1})).await;
        assert_eq!(outcome(&report), Outcome::ToolError);
        assert_eq!(problems(report).len(), 1, "{text:?}");
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn variables_and_the_agent_are_data_too() {
    for text in TEXTS.iter().filter(|text| !text.contains('\0')) {
        let agent = json!({"id": text, "name": text, "blocks": [{"label": text, "value": text}]});
        if has_python() {
            let code = "import os\ndef t(agent_state):\n    return [os.environ['A'], agent_state.id, agent_state.memory.get_block(agent_state.id).value]\n";
            let tool = Tool::python(code).variables(&[("A", text)]).agent(&agent);
            assert_eq!(
                value(tool.call(json!({})).await),
                json!([text, text, text]),
                "{text:?}"
            );
        }
        let code = "function t() { return [process.env.A, agent.id, agent.blocks[0].value] }";
        let tool = Tool::javascript(code)
            .variables(&[("A", text)])
            .agent(&agent);
        assert_eq!(
            value(tool.call(json!({})).await),
            json!([text, text, text]),
            "{text:?}"
        );
    }
}

#[tokio::test]
async fn an_object_is_an_object_whatever_its_keys_are() {
    let tool = Tool::javascript(
        "function t(a) { return [Object.keys(a).length, ({}).polluted ?? null, typeof a.toString] }",
    );
    let input =
        r#"{"a": {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}}"#;
    assert_eq!(
        value(tool.call_text(input.to_owned()).await),
        json!([2, null, "function"])
    );
    if has_python() {
        let tool = Tool::python(
            "def t(a: dict):\n    return [sorted(a), type(a).__name__, a['x']['__class__']]\n",
        );
        let input = json!({"a": {"x": {"__class__": "y"}, "__init__": 1, "items": 2}});
        assert_eq!(
            value(tool.call(input).await)[0],
            json!(["__init__", "items", "x"])
        );
    }
}

#[tokio::test]
async fn names_of_functions_are_no_code() {
    for name in [
        "t(); import os",
        "t\nos._exit(1)",
        "__import__('os')",
        "",
        " ",
        "t.__globals__",
        "constructor",
        "process.exit",
    ] {
        if has_python() {
            let report = Tool::python("def t():\n    return 1\n")
                .named(name)
                .call(json!({}))
                .await;
            assert_eq!(outcome(&report), Outcome::ToolError, "{name}");
        }
        let report = Tool::javascript("function t() { return 1 }")
            .named(name)
            .call(json!({}))
            .await;
        assert_eq!(outcome(&report), Outcome::ToolError, "{name}");
    }
    the_next_call_is_unharmed().await;
}
