//! What can be read in source without running it: the function that is the tool, and the faults.

use bulkhead_domain::Outcome;
use bulkhead_sandbox::{Description, Fault};

use crate::common::*;

const FULL_MAP: &str = "full map: {<class 'int'>: 'integer', <class 'str'>: 'string', \
                        <class 'bool'>: 'boolean', <class 'float'>: 'number', None: 'null'}";

/// The fault of a source, wherever it stands.
#[track_caller]
fn fault(described: Result<Description, Fault>) -> Fault {
    match described {
        Err(fault) => fault,
        Ok(description) => description.schema.expect_err("there is a fault"),
    }
}

#[tokio::test]
async fn faults_of_python_have_the_words_that_clients_know() {
    if !has_python() {
        return;
    }
    let documented = |parameter: &str| {
        format!("def t({parameter}):\n    '''T.\n\n    Args:\n        a: An a.\n    '''\n")
    };
    let value = "Value error in schema generation: ";
    for (text, message, line, parameter) in [
        ("def t3(a: int):\n    pass\n".to_owned(), "Function t3 missing docstring".to_owned(), Some(1), None),
        (
            "import os\n\ndef t4(a):\n    'T.'\n".to_owned(),
            "Type error in schema generation: Parameter 'a' in function 't4' lacks a type annotation"
                .to_owned(),
            Some(3),
            Some("a"),
        ),
        (
            "def t5(\n    a: int,\n):\n    'T.'\n".to_owned(),
            format!("{value}Parameter 'a' in function 't5' lacks a description in the docstring"),
            Some(2),
            Some("a"),
        ),
        (
            documented("a: Union[int, str]"),
            format!("{value}Python type Union[(int, str)] has no corresponding JSON schema type - {FULL_MAP}"),
            Some(1),
            Some("a"),
        ),
        (
            documented("a: 'datetime'"),
            format!("{value}Python type 'datetime' has no corresponding JSON schema type - {FULL_MAP}"),
            Some(1),
            Some("a"),
        ),
        (
            documented("a: Dict[str, int]"),
            format!(
                "{value}Dictionary types dict['(str, int)'] with nested type arguments are not \
                 supported (consider using a Pydantic model instead)"
            ),
            Some(1),
            Some("a"),
        ),
        (
            "def t(:".to_owned(),
            "Failed to parse source code: invalid syntax (<unknown>, line 1)".to_owned(),
            Some(1),
            None,
        ),
        ("async def t():\n    'T.'\n".to_owned(), "No functions found in source code".to_owned(), None, None),
        ("".to_owned(), "No functions found in source code".to_owned(), None, None),
    ] {
        let found = fault(Tool::python(&text).describe().await);
        let expected = Fault { message, line, parameter: parameter.map(str::to_owned) };
        assert_eq!(found, expected, "{text}");
    }
}

#[tokio::test]
async fn every_type_that_the_contract_refuses_is_refused() {
    if !has_python() {
        return;
    }
    for annotation in [
        "Any",
        "int | None",
        "Tuple[int]",
        "set",
        "Set[int]",
        "datetime",
        "'str'",
        "typing.List[int]",
        "bytes",
        "Callable",
        "Unknown",
        "None",
        "List[Any]",
        "Optional[Union[int, str]]",
    ] {
        let text =
            format!("def t(a: {annotation}):\n    '''T.\n\n    Args:\n        a: An a.\n    '''\n");
        let found = fault(Tool::python(&text).describe().await);
        assert!(
            found
                .message
                .contains("has no corresponding JSON schema type"),
            "{annotation}: {found:?}"
        );
        assert_eq!(found.parameter.as_deref(), Some("a"), "{annotation}");
    }
}

#[tokio::test]
async fn the_last_function_at_the_top_is_the_tool_unless_one_is_named() {
    if has_python() {
        let text = "def first():\n    'One.'\nclass C:\n    def method(self):\n        'No.'\n\
                    def last():\n    'Two.'\nasync def later():\n    'Three.'\n\
                    if True:\n    def inner():\n        'No.'\n";
        let described = async |tool: Tool| tool.describe().await.unwrap().description;
        assert_eq!(described(Tool::python(text)).await, "Two.");
        assert_eq!(described(Tool::python(text).named("first")).await, "One.");
        assert_eq!(described(Tool::python(text).named("later")).await, "Three.");
        let found = fault(Tool::python(text).named("absent").describe().await);
        assert_eq!(
            found.message,
            "No function 'absent' found in source code; it defines: first, last, later"
        );
    }
    let text = "function first() {}\nexport function last(a: number) {}\nfunction helper() {}";
    assert_eq!(
        Tool::typescript(text).describe().await.unwrap().name,
        "last"
    );
    let found = fault(Tool::typescript(text).named("absent").describe().await);
    assert_eq!(
        found.message,
        "No function 'absent' in source code; its functions are: first, last, helper"
    );
}

#[tokio::test]
async fn describing_runs_nothing() {
    if has_python() {
        let text = "import sys\nwhile True:\n    sys.exit(1)\ndef t():\n    'T.'\n    1 / 0\n";
        assert_eq!(
            Tool::python(text).describe().await.unwrap().description,
            "T."
        );
    }
    let text = "for (;;) {}\nfunction t() {}";
    assert_eq!(Tool::javascript(text).describe().await.unwrap().name, "t");
}

#[tokio::test]
async fn text_that_utf_8_can_not_hold_is_described() {
    if !has_python() {
        return;
    }
    let text = "def t(a: Literal['\\udfff']):\n    '''T \\ud800.\n\n    Args:\n        a: An \\ud800.\n    '''\n";
    let description = Tool::python(text).describe().await.unwrap();
    assert_eq!(description.description, "T ?.");
    let schema = description.schema.unwrap();
    assert_eq!(schema["properties"]["a"]["description"], "An ?.");
}

#[tokio::test]
async fn source_that_is_hard_to_parse_is_a_fault_or_an_answer() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(50_000), close.repeat(50_000));
    let mut tools = vec![
        Tool::javascript(&format!("function t() {{ return {} }}", deep("(", ")"))),
        Tool::javascript(&format!("function t() {{ return {} }}", deep("[", "]"))),
        Tool::javascript(&"{".repeat(100_000)),
        Tool::javascript("function t() { return '\u{2028}\0' }"),
        Tool::typescript(&format!(
            "type A = {};\nfunction t(a: A) {{}}",
            deep("Array<", ">")
        )),
    ];
    if has_python() {
        tools.extend([
            Tool::python(&deep("(", ")")),
            Tool::python(&format!(
                "def t():\n    'T.'\n    return {}\n",
                "-".repeat(100_000)
            )),
            Tool::python(&format!(
                "def t():\n    'T.'\n    return {}1\n",
                "1+".repeat(100_000)
            )),
            Tool::python(&format!(
                "x = {}\ndef t():\n    'T.'\n",
                "a.".repeat(100_000)
            )),
            Tool::python("def t():\n    'T.'\n    return '\0'\n"),
            Tool::python(&format!(
                "# coding: utf-7\n{}\ndef t():\n    'T.'\n",
                "+AG4AbwBu-"
            )),
            Tool::python(&format!(
                "def t(a: {}int{}):\n    'T.'\n",
                "List[".repeat(5_000),
                "]".repeat(5_000)
            )),
        ]);
    }
    for (number, tool) in tools.into_iter().enumerate() {
        // Whether it is a fault is the language's affair; that the runtime lives on is what is asked.
        let described = tool.try_describe().await;
        if let Err(failure) = described {
            let known = [Outcome::Trap, Outcome::OutOfFuel];
            assert!(known.contains(&failure.outcome), "{number}");
        }
    }
    the_next_call_is_unharmed().await;
}
