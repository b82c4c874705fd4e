//! From the input to a function's arguments.

use serde_json::json;

use crate::common::*;

/// A Python tool that gives its argument and the name of its type.
fn echo(annotation: &str) -> Tool {
    Tool::python(&format!(
        "import datetime, enum\n\
         from pydantic import BaseModel\n\
         class Point(BaseModel):\n    x: int\n    y: float = 0.5\n\
         class Color(enum.Enum):\n    RED = 'r'\n\
         def t(a: {annotation}):\n    return [type(a).__name__, str(a)]\n"
    ))
}

#[tokio::test]
async fn arguments_become_what_annotations_ask_for() {
    if !has_python() {
        return;
    }
    for (annotation, given, kind, shown) in [
        ("int", json!("5"), "int", "5"),
        ("int", json!(5.0), "int", "5"),
        ("float", json!(2), "float", "2.0"),
        ("float", json!("2.5"), "float", "2.5"),
        ("bool", json!("true"), "bool", "True"),
        ("bool", json!(0), "bool", "False"),
        ("str", json!(5), "str", "5"),
        ("str", json!("[1]"), "str", "[1]"),
        ("list", json!("[1, 2]"), "list", "[1, 2]"),
        ("List[int]", json!("[\"1\"]"), "list", "[1]"),
        ("dict", json!("{\"a\": 1}"), "dict", "{'a': 1}"),
        ("Optional[int]", json!(null), "NoneType", "None"),
        ("Optional[int]", json!("7"), "int", "7"),
        ("Union[int, str]", json!("x"), "str", "x"),
        ("Literal['a', 'b']", json!("b"), "str", "b"),
        ("Tuple[int, str]", json!([1, "x"]), "tuple", "(1, 'x')"),
        ("set", json!([1, 1]), "set", "{1}"),
        ("datetime.date", json!("2024-01-02"), "date", "2024-01-02"),
        ("Point", json!({"x": "1"}), "Point", "x=1 y=0.5"),
        ("Point", json!("{\"x\": 2}"), "Point", "x=2 y=0.5"),
        ("Color", json!("r"), "Color", "Color.RED"),
        ("Any", json!([1]), "list", "[1]"),
        ("'int'", json!("3"), "int", "3"),
    ] {
        let report = echo(annotation).call(json!({"a": given})).await;
        assert_eq!(
            value(report),
            json!([kind, shown]),
            "{annotation} of {given}"
        );
    }
}

#[tokio::test]
async fn what_does_not_fit_is_said_with_its_place() {
    if !has_python() {
        return;
    }
    for (annotation, given, at) in [
        ("int", json!("five"), "/a"),
        ("int", json!(1.5), "/a"),
        ("int", json!(null), "/a"),
        ("str", json!([1]), "/a"),
        ("bool", json!("maybe"), "/a"),
        ("List[int]", json!([1, "x"]), "/a/1"),
        ("Literal['a', 'b']", json!("c"), "/a"),
        ("Point", json!({"y": 1}), "/a/x"),
        ("Point", json!({"x": "z"}), "/a/x"),
        ("Color", json!("blue"), "/a"),
    ] {
        let found = problems(echo(annotation).call(json!({"a": given})).await);
        assert_eq!(found.len(), 1, "{annotation} of {given}: {found:?}");
        assert_eq!(found[0].0, at, "{annotation} of {given}: {found:?}");
        assert!(!found[0].1.is_empty());
    }
}

#[tokio::test]
async fn unknown_and_missing_arguments_are_named() {
    if has_python() {
        let tool = || Tool::python("def t(a: int, b: str = 'x'):\n    return a\n");
        let found = problems(tool().call(json!({"c": 1})).await);
        let expected = [
            ("/a", "t needs the argument 'a', which is missing"),
            ("/c", "t takes no argument 'c'; it takes: a, b (optional)"),
        ];
        assert_eq!(
            found,
            expected.map(|(at, text)| (at.to_owned(), text.to_owned()))
        );
        let report = Tool::python("def t(**more):\n    return more\n");
        assert_eq!(
            value(report.call(json!({"x": [1]})).await),
            json!({"x": [1]})
        );
    }
    let tool = Tool::typescript("export function t(a: number, b?: string) { return a }");
    let found = problems(tool.call(json!({"c": 1})).await);
    let expected = [
        ("/a", "is missing"),
        ("/c", "is no argument of 't'; it takes: a, b"),
    ];
    assert_eq!(
        found,
        expected.map(|(at, text)| (at.to_owned(), text.to_owned()))
    );
}

#[tokio::test]
async fn input_that_is_no_object_is_refused() {
    for input in ["[1]", "5", "\"text\"", "null", "{", "", "{'a': 1}"] {
        let javascript = Tool::javascript("function t(a) { return 1 }");
        let report = javascript.call_text(input.to_owned()).await;
        assert_eq!(problems(report)[0].0, "", "{input}");
        if has_python() {
            let python = Tool::python("def t(a=1):\n    return 1\n");
            let report = python.call_text(input.to_owned()).await;
            assert_eq!(problems(report)[0].0, "", "{input}");
        }
    }
}

#[tokio::test]
async fn typescript_gets_arguments_by_name_or_in_the_order_of_the_schema() {
    let text = "export function t(a: number, b: string[] = ['d'], c?: boolean) { return [a, b, c ?? null] }";
    for (given, expected) in [
        (json!({"a": 1}), json!([1, ["d"], null])),
        (json!({"a": "1", "c": "true"}), json!([1, ["d"], true])),
        (json!({"b": "[\"x\"]", "a": 2}), json!([2, ["x"], null])),
    ] {
        assert_eq!(value(Tool::typescript(text).call(given).await), expected);
    }
    let mut renamed = Tool::javascript("function t(x, y) { return [x, y] }");
    renamed.order = vec!["first".to_owned(), "second".to_owned()];
    let report = renamed.call(json!({"second": 2, "first": 1})).await;
    assert_eq!(value(report), json!([1, 2]));
}

#[tokio::test]
async fn large_input_up_to_the_limit_is_taken_and_more_is_refused() {
    let text = "x".repeat(900_000);
    let javascript = Tool::javascript("function t(a) { return a.length }");
    assert_eq!(
        value(javascript.call(json!({"a": text})).await),
        json!(900_000)
    );
    if has_python() {
        let python = Tool::python("def t(a: str):\n    return len(a)\n");
        assert_eq!(value(python.call(json!({"a": text})).await), json!(900_000));
        let python = Tool::python("def t(a: str):\n    return len(a)\n");
        let report = python.call(json!({"a": "x".repeat(1 << 20)})).await;
        let failure = report.report.result.unwrap_err();
        assert!(
            failure.message.contains("more than the 1048576 allowed"),
            "{failure}"
        );
        assert_eq!(report.report.receipt.fuel.total(), 0);
    }
}

#[tokio::test]
async fn source_above_its_limit_is_refused_before_it_is_parsed() {
    let text = format!("function t() {{}} //{}", "x".repeat(5 << 20));
    let report = Tool::javascript(&text).call(json!({})).await;
    let failure = report.report.result.unwrap_err();
    assert!(
        failure.message.contains("more than the 1048576 allowed"),
        "{failure}"
    );
    assert_eq!(report.report.receipt.fuel.total(), 0);
}
