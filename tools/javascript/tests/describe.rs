//! What can be read in source without running it.

mod support;

use serde_json::{Value, json};
use support::{javascript, typescript};
use tool_javascript::{
    abi::{Description, Fault, Source},
    describe,
};

#[track_caller]
fn described(source: &Source) -> Description {
    describe(source).unwrap_or_else(|fault| panic!("{fault:?}"))
}

#[track_caller]
fn schema(source: &Source) -> Value {
    let schema = described(source).schema;
    let schema = schema.unwrap_or_else(|fault| panic!("{fault:?}"));
    serde_json::from_str(&schema).expect("a schema is JSON")
}

#[track_caller]
fn fault(source: &Source) -> Fault {
    describe(source).expect_err("the source can't be used")
}

#[test]
fn simple_types_give_a_schema() {
    let source = typescript(
        "export function f(a: number, b?: string, c = true, d: string[] = []): number { return a }",
    );
    let description = described(&source);
    assert_eq!(description.name, "f");
    assert_eq!(description.description, "TypeScript function f");
    assert!(!description.open);
    assert_eq!(
        schema(&source),
        json!({
            "type": "object",
            "properties": {
                "a": { "type": "number" },
                "b": { "type": "string" },
                "c": { "type": "boolean" },
                "d": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["a"],
        })
    );
    let passed: Vec<(String, bool)> = description
        .parameters
        .into_iter()
        .map(|it| (it.name, it.required))
        .collect();
    let expected = [("a", true), ("b", false), ("c", false), ("d", false)];
    assert_eq!(
        passed,
        expected.map(|(name, required)| (name.to_owned(), required))
    );
}

#[test]
fn declared_types_are_unfolded() {
    let source = typescript(
        "interface Place { /** The city. */ city: string; zip?: number }\n\
         type Unit = 'c' | 'f';\n\
         enum Level { Low, High = 'high' }\n\
         type More = Place & { tags: Record<string, number> };\n\
         interface Node { next: Node | null }\n\
         /** Weather.\n * @param place where to look */\n\
         export async function weather(place: More, unit: Unit | undefined, level: Level, node: Partial<Node>, pick: Pick<Place, 'city'>) {}",
    );
    let place = json!({
        "type": "object",
        "description": "where to look",
        "properties": {
            "city": { "type": "string", "description": "The city." },
            "zip": { "type": "number" },
            "tags": { "type": "object", "additionalProperties": { "type": "number" } },
        },
        "required": ["city", "tags"],
    });
    assert_eq!(described(&source).description, "Weather.");
    assert_eq!(
        schema(&source),
        json!({
            "type": "object",
            "properties": {
                "place": place,
                "unit": { "type": "string", "enum": ["c", "f"] },
                "level": { "enum": [0, "high"] },
                "node": {
                    "type": "object",
                    "properties": { "next": { "anyOf": [{ "type": "object" }, { "type": "null" }] } },
                },
                "pick": {
                    "type": "object",
                    "properties": { "city": { "type": "string", "description": "The city." } },
                    "required": ["city"],
                },
            },
            "required": ["place", "level", "node", "pick"],
        })
    );
}

#[test]
fn javascript_is_described_by_its_comments() {
    let source = javascript(
        "/**\n * Adds numbers.\n * @param {number} a - the first\n * @param {Array.<string>} [b] words\n \
         * @param {?integer} c\n * @param {'x'|'y'} d\n * @param {Object} e\n * @param {string} e.name its name\n \
         * @param {boolean=} f\n */\nfunction add(a, b, c, d, e, f) { return a }",
    );
    assert_eq!(described(&source).description, "Adds numbers.");
    assert_eq!(
        schema(&source),
        json!({
            "type": "object",
            "properties": {
                "a": { "type": "number", "description": "the first" },
                "b": { "type": "array", "items": { "type": "string" }, "description": "words" },
                "c": { "type": ["integer", "null"] },
                "d": { "type": "string", "enum": ["x", "y"] },
                "e": {
                    "type": "object",
                    "properties": { "name": { "type": "string", "description": "its name" } },
                    "required": ["name"],
                },
                "f": { "type": "boolean" },
            },
            "required": ["a", "c", "d", "e"],
        })
    );
}

#[test]
fn the_function_is_chosen_by_name_export_or_place() {
    let name = |text: &str| described(&typescript(text)).name;
    assert_eq!(name("function a() {}\nfunction b() {}"), "b");
    assert_eq!(name("export function a() {}\nfunction b() {}"), "a");
    assert_eq!(
        name("export function a() {}\nexport default function b() {}"),
        "b"
    );
    assert_eq!(name("export const a = (x: number) => x;\nconst c = 1"), "a");
    assert_eq!(
        name("const a = async function () {};\nexport { a as default }\nfunction b() {}"),
        "a"
    );
    assert_eq!(name("export default (x: string) => x"), "default");
    assert_eq!(
        name("function a() {}\nfunction b() {}\nmodule.exports = { a }"),
        "a"
    );
    assert_eq!(
        name("function a(x: string): void;\nfunction a(x: any) {}"),
        "a"
    );
    let mut source = typescript("function a() {}\nfunction b() {}");
    source.function = Some("a".to_owned());
    assert_eq!(described(&source).name, "a");
    source.function = Some("c".to_owned());
    assert_eq!(
        fault(&source).message,
        "No function 'c' in source code; its functions are: a, b"
    );
    assert_eq!(
        fault(&typescript("const a = 1")).message,
        "No functions found in source code"
    );
}

#[test]
fn an_object_that_is_taken_apart_gives_the_parameters() {
    let source = typescript("export function f({ a, b = 2 }: { a: string; b?: number }) {}");
    assert_eq!(schema(&source)["required"], json!(["a"]));
    assert_eq!(
        schema(&source)["properties"]["b"],
        json!({ "type": "number" })
    );
}

#[test]
fn further_arguments_make_a_signature_open() {
    let source = typescript("function f(a: string, ...more: number[]) {}");
    let description = described(&source);
    assert!(description.open);
    assert_eq!(description.parameters.len(), 1);
    assert_eq!(
        schema(&source)["properties"]["more"],
        json!({ "type": "array", "items": { "type": "number" } })
    );
}

#[test]
fn what_has_no_schema_is_named_with_its_line() {
    for (text, part) in [
        (
            "\nfunction f(a) {}",
            "Parameter 'a' in function 'f' lacks a type",
        ),
        (
            "\nfunction f(a: () => void) {}",
            "type `() => void` has no JSON Schema",
        ),
        ("\nfunction f(a: Foo) {}", "type `Foo` is not declared here"),
        (
            "\nfunction f(a: Map<string, number>) {}",
            "type `Map<…>` has no JSON Schema",
        ),
    ] {
        let fault = described(&typescript(text)).schema.expect_err(text);
        assert!(fault.message.contains(part), "{fault:?}");
        assert_eq!(fault.parameter.as_deref(), Some("a"));
        assert_eq!(fault.line, Some(2));
    }
}

#[test]
fn source_that_can_t_run_is_a_fault_with_its_line() {
    for (text, line, part) in [
        ("function f( {", None, "Syntax error"),
        (
            "function f() {\n  return /(/ }",
            Some(2),
            "Invalid regular expression",
        ),
        (
            "\nimport x from 'left-pad'\nfunction f() {}",
            Some(2),
            "module 'left-pad' can't be imported",
        ),
        (
            "\nexport function f() { return 1 +; }",
            Some(2),
            "Syntax error in line 2",
        ),
        ("", None, "No functions found in source code"),
    ] {
        let fault = fault(&javascript(text));
        assert!(fault.message.contains(part), "{text}: {fault:?}");
        if line.is_some() {
            assert_eq!(fault.line, line, "{text}: {fault:?}");
        }
    }
    let large = format!("function f() {{}} // {}", "x".repeat(2 << 20));
    assert!(fault(&javascript(&large)).message.contains("at most"));
    let deep = format!(
        "function f() {{ return {}1{} }}",
        "(".repeat(500),
        ")".repeat(500)
    );
    assert!(fault(&javascript(&deep)).message.contains("nested"));
}
