//! Plain typed exports as tools, with real components: one that another author could have
//! written, and small ones in text for what its toolchain can't express.

use bulkhead_domain::{Output, ToolError};
use bulkhead_sandbox::adapter::{Exports, PlainTool, exports};
use serde_json::{Value, json};
use wasmtime::{
    Config, Engine, Store,
    component::{Component, Linker, Val},
};

/// A component with its tools, called without the sandbox around it. Its WASI imports trap: the
/// functions that are called here need none.
struct Plain {
    component: Component,
    linker: Linker<()>,
    exports: Exports,
}

impl Plain {
    fn new(bytes: &[u8]) -> Self {
        let mut config = Config::new();
        config
            .wasm_component_model_map(true)
            .wasm_component_model_fixed_length_lists(true);
        let engine = Engine::new(&config).expect("an engine");
        let component = Component::new(&engine, bytes).expect("a component");
        let mut linker = Linker::new(&engine);
        linker
            .define_unknown_imports_as_traps(&component)
            .expect("imports");
        let exports = exports(&component);
        Self {
            component,
            linker,
            exports,
        }
    }

    fn text(text: &str) -> Self {
        Self::new(&wat::parse_str(text).expect("the text of a component"))
    }

    fn fixture() -> Self {
        Self::new(bulkhead_fixtures::PLAIN)
    }

    fn tool(&self, name: &str) -> &PlainTool {
        let tools = &self.exports.tools;
        tools
            .iter()
            .find(|tool| tool.info.name == name)
            .unwrap_or_else(|| {
                let names: Vec<_> = tools.iter().map(|tool| &tool.info.name).collect();
                panic!("no tool {name} among {names:?}")
            })
    }

    fn call(&self, name: &str, input: &Value) -> Result<Output, ToolError> {
        let tool = self.tool(name);
        let arguments = tool.arguments(input).map_err(ToolError::InvalidInput)?;
        let mut store = Store::new(self.component.engine(), ());
        let instance = self
            .linker
            .instantiate(&mut store, &self.component)
            .expect("an instance");
        let function = instance
            .get_func(&mut store, tool.index())
            .expect("the function");
        let mut results = vec![Val::Bool(false); tool.result_count()];
        function
            .call(&mut store, &arguments, &mut results)
            .expect("a call");
        tool.output(&results)
    }

    fn echo(&self, function: &str, input: &Value) -> Output {
        let name = format!("example_plain_echo__{function}");
        self.call(&name, input)
            .unwrap_or_else(|error| panic!("{function}({input}): {error}"))
    }

    /// The places and messages of all problems.
    fn problems(&self, name: &str, input: &Value) -> Vec<(String, String)> {
        let problems = self.tool(name).arguments(input).expect_err("a problem");
        problems
            .into_iter()
            .map(|problem| (problem.at, problem.message))
            .collect()
    }

    fn skipped(&self, path: &str) -> &str {
        let skipped = self
            .exports
            .skipped
            .iter()
            .find(|skipped| skipped.path == path);
        &skipped
            .unwrap_or_else(|| panic!("{path} was not skipped"))
            .reason
    }
}

#[test]
fn every_kind_of_value_goes_through_a_guest_and_back_unchanged() {
    let plain = Plain::fixture();
    let through = [
        ("boolean", json!(true)),
        ("character", json!("\u{10ffff}")),
        ("bytes", json!("AAEC/w==")),
        ("texts", json!(["", "a", "ü"])),
        ("grid", json!([[], [-32768, 32767]])),
        ("drawn", json!({"tag": "empty"})),
        ("drawn", json!({"tag": "circle", "value": "NaN"})),
        (
            "drawn",
            json!({"tag": "line", "value": [{"x": 0.0, "y": 1.5}, {"x": 2.0, "y": 3.0}]}),
        ),
        ("drawn", json!({"tag": "label", "value": null})),
        ("drawn", json!({"tag": "label", "value": "a"})),
        ("coloured", json!("dark_green")),
        ("allowed", json!(["can_read", "can_share"])),
        ("allowed", json!([])),
        ("maybe", json!(null)),
        ("maybe", json!(4_294_967_295_u32)),
        ("perhaps", json!(null)),
        ("perhaps", json!({"tag": "some", "value": null})),
        ("perhaps", json!({"tag": "some", "value": 3})),
        (
            "attempts",
            json!([{"tag": "ok", "value": 1}, {"tag": "err", "value": "no"}]),
        ),
        ("outcomes", json!([{"tag": "ok"}, {"tag": "err"}])),
    ];
    for (function, value) in through {
        let output = plain.echo(function, &json!({"value": value}));
        assert_eq!(
            output.text(),
            json!({"result": value}).to_string(),
            "{function}"
        );
        assert_eq!(
            output.structured,
            Some(json!({"result": value})),
            "{function}"
        );
    }
    let person = json!({
        "full_name": "Ada \u{1f980}", "age": 255, "nick_name": null,
        "homes": [{"x": -0.5, "y": "Infinity"}],
    });
    let output = plain.echo("someone", &json!({"value": person}));
    assert_eq!(output.structured, Some(person));
}

#[test]
fn numbers_keep_their_exact_value() {
    let plain = Plain::fixture();
    let small = json!({"u_eight": 255, "s_eight": -128, "u_sixteen": 65535, "s_sixteen": -32768});
    let output = plain.echo("small", &small);
    assert_eq!(
        output.structured,
        Some(json!({"result": [255, -128, 65535, -32768]}))
    );

    let output = plain.echo("middle", &json!({"unsigned": u32::MAX, "signed": i32::MIN}));
    assert_eq!(
        output.structured,
        Some(json!({"result": [u32::MAX, i32::MIN]}))
    );

    let exact = json!({"result": ["18446744073709551615", "-9223372036854775808"]});
    for wide in [
        json!({"unsigned": u64::MAX, "signed": i64::MIN}),
        json!({"unsigned": "18446744073709551615", "signed": "-9223372036854775808"}),
    ] {
        assert_eq!(plain.echo("wide", &wide).structured, Some(exact.clone()));
    }
    let output = plain.echo("wide", &json!({"unsigned": "12", "signed": -12}));
    assert_eq!(output.structured, Some(json!({"result": [12, -12]})));

    let output = plain.echo("floats", &json!({"single": 0.1, "double": 0.1}));
    assert_eq!(output.structured, Some(json!({"result": [0.1, 0.1]})));
    let output = plain.echo("floats", &json!({"single": "-Infinity", "double": 5e-324}));
    assert_eq!(
        output.structured,
        Some(json!({"result": ["-Infinity", 5e-324]}))
    );
}

#[test]
fn an_optional_value_may_be_left_out_and_bytes_come_in_every_form() {
    let plain = Plain::fixture();
    assert_eq!(
        plain.echo("maybe", &json!({})).structured,
        Some(json!({"result": null}))
    );
    let output = plain.echo("drawn", &json!({"value": {"tag": "label"}}));
    assert_eq!(
        output.structured,
        Some(json!({"result": {"tag": "label", "value": null}}))
    );
    for bytes in [json!([0, 1, 2, 255]), json!("AAEC/w=="), json!("AAEC/w")] {
        let output = plain.echo("bytes", &json!({"value": bytes}));
        assert_eq!(output.structured, Some(json!({"result": "AAEC/w=="})));
    }
}

#[test]
fn a_string_result_is_text_and_no_result_is_nothing() {
    let plain = Plain::fixture();
    let output = plain.echo("text", &json!({"value": "hé"}));
    assert_eq!((output.text().as_str(), output.structured), ("hé", None));
    assert_eq!(
        plain.tool("example_plain_echo__text").info.output_schema,
        None
    );
    assert_eq!(plain.call("nothing", &json!({})), Ok(Output::default()));
}

#[test]
fn an_err_that_the_function_returns_is_a_failed_call() {
    let plain = Plain::fixture();
    let call =
        |function: &str, input| plain.call(&format!("example_plain_failing__{function}"), &input);
    let failed = |text: &str| Err(ToolError::Failed(text.to_owned()));
    let divided = call("divide", json!({"dividend": 7, "divisor": 2})).expect("a quotient");
    assert_eq!(divided.structured, Some(json!({"result": 3})));
    assert_eq!(
        call("divide", json!({"dividend": 7, "divisor": 0})),
        failed("can't divide")
    );
    let refusal = r#"{"code":7,"reason_given":"not today"}"#;
    assert_eq!(call("refuse", json!({})), failed(refusal));
    let silent = "the function returned an error without a value";
    assert_eq!(call("stumble", json!({})), failed(silent));
    assert_eq!(call("check", json!({"value": true})), Ok(Output::default()));
    assert_eq!(call("check", json!({"value": false})), failed("no"));
}

#[test]
fn functions_of_the_same_name_in_two_interfaces_are_two_tools() {
    let plain = Plain::fixture();
    let input = json!({"value": "a"});
    let echoed = plain
        .call("example_plain_echo__text", &input)
        .expect("text");
    let shouted = plain
        .call("example_plain_failing__text", &input)
        .expect("text");
    assert_eq!(
        (echoed.text().as_str(), shouted.text().as_str()),
        ("a", "A")
    );
    let added = plain
        .call("add_up", &json!({"a": 2, "b": -5}))
        .expect("a sum");
    assert_eq!(added.structured, Some(json!({"result": -3})));
}

#[test]
fn all_problems_of_an_input_are_found_each_with_its_place() {
    let plain = Plain::fixture();
    let input = json!({"value": {
        "full_name": 7,
        "age": 256,
        "homes": [{"x": 1, "y": 2}, {"x": "far", "z": 0}, null],
        "nick/name": "a",
    }});
    let problems = plain.problems("example_plain_echo__someone", &input);
    let problems: Vec<_> = problems
        .iter()
        .map(|(at, message)| (at.as_str(), message.as_str()))
        .collect();
    let unknown = "there is no such property; expected one of";
    assert_eq!(
        problems,
        [
            (
                "/value/nick~1name",
                &*format!("{unknown} `full_name`, `age`, `nick_name`, `homes`")
            ),
            ("/value/full_name", "expected a string, found 7"),
            ("/value/age", "expected an integer from 0 to 255, found 256"),
            ("/value/homes/1/z", &*format!("{unknown} `x`, `y`")),
            (
                "/value/homes/1/x",
                r#"expected a number, or one of "NaN", "Infinity", "-Infinity", found the string "far""#
            ),
            ("/value/homes/1", "the property `y` is missing"),
            ("/value/homes/2", "expected an object, found null"),
        ]
    );
}

#[test]
fn each_wrong_value_is_refused_where_it_is() {
    let plain = Plain::fixture();
    for (function, value, at) in [
        ("boolean", json!("true"), "/value"),
        ("character", json!(""), "/value"),
        ("character", json!("ab"), "/value"),
        ("text", json!(null), "/value"),
        ("bytes", json!("*"), "/value"),
        ("bytes", json!([0, 256]), "/value/1"),
        ("grid", json!([[1], 2]), "/value/1"),
        ("drawn", json!("empty"), "/value"),
        ("drawn", json!({}), "/value"),
        ("drawn", json!({"tag": "square"}), "/value/tag"),
        (
            "drawn",
            json!({"tag": "empty", "value": null}),
            "/value/value",
        ),
        ("drawn", json!({"tag": "circle"}), "/value"),
        (
            "drawn",
            json!({"tag": "line", "value": [{"x": 0, "y": 0}]}),
            "/value/value",
        ),
        ("coloured", json!("dark-green"), "/value"),
        ("allowed", json!(["can_read", "can_read"]), "/value/1"),
        ("allowed", json!(["can_fly"]), "/value/0"),
        ("maybe", json!(-1), "/value"),
        ("maybe", json!(1.5), "/value"),
        ("maybe", json!("1"), "/value"),
        ("perhaps", json!(3), "/value"),
        (
            "attempts",
            json!([{"tag": "ok", "value": "1"}]),
            "/value/0/value",
        ),
    ] {
        let name = format!("example_plain_echo__{function}");
        let problems = plain.problems(&name, &json!({"value": value}));
        assert_eq!(problems.len(), 1, "{function} {value}: {problems:?}");
        assert_eq!(problems[0].0, at, "{function} {value}: {problems:?}");
    }
    for input in [json!(null), json!([]), json!("{}")] {
        assert_eq!(plain.problems("nothing", &input)[0].0, "");
    }
}

#[test]
fn a_flood_of_wrong_values_gives_a_short_answer() {
    let plain = Plain::fixture();
    let input = json!({"value": vec![Value::Null; 100_000]});
    let problems = plain.problems("example_plain_echo__texts", &input);
    assert!(problems.len() < 100, "{}", problems.len());
    assert!(
        problems
            .last()
            .expect("problems")
            .1
            .contains("more problems")
    );
}

#[test]
fn an_input_of_too_many_values_is_refused() {
    let plain = Plain::fixture();
    let input = json!({"value": "A".repeat(4 << 20)});
    let problems = plain.problems("example_plain_echo__bytes", &input);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].1.contains("more than 1048576 values"),
        "{problems:?}"
    );
}

#[test]
fn deep_json_for_a_flat_type_is_refused_without_walking_it() {
    let plain = Plain::fixture();
    let mut deep = Value::Null;
    for _ in 0..1_000 {
        deep = json!([deep]);
    }
    let problems = plain.problems("example_plain_echo__text", &json!({"value": deep}));
    assert_eq!(
        problems,
        [(
            "/value".to_owned(),
            "expected a string, found an array".to_owned()
        )]
    );
}

#[test]
fn the_schemas_are_valid_and_agree_with_what_is_accepted_and_returned() {
    let plain = Plain::fixture();
    for tool in &plain.exports.tools {
        let info = &tool.info;
        let name = &info.name;
        assert!(name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        assert_eq!(info.input_schema["type"], "object", "{name}");
        jsonschema::draft202012::new(&info.input_schema).expect("an input schema");
        if let Some(schema) = &info.output_schema {
            assert_eq!(schema["type"], "object", "{name}");
            jsonschema::draft202012::new(schema).expect("an output schema");
        }
    }
    let info = &plain.tool("example_plain_echo__wide").info;
    let schema = jsonschema::draft202012::new(&info.input_schema).expect("a schema");
    let wide = |unsigned: Value, signed: Value| json!({"unsigned": unsigned, "signed": signed});
    assert!(schema.is_valid(&wide(json!(u64::MAX), json!("-9223372036854775808"))));
    assert!(!schema.is_valid(&wide(json!(-1), json!(0))));
    assert!(!schema.is_valid(&wide(json!("01"), json!(0))));
    let output = plain.echo("wide", &wide(json!(u64::MAX), json!(0)));
    let schema = info.output_schema.as_ref().expect("an output schema");
    assert!(jsonschema::is_valid(
        schema,
        &output.structured.expect("an object")
    ));
    let signature = "wide(unsigned: u64, signed: s64) -> tuple<u64, s64>";
    assert!(info.description.contains(signature), "{}", info.description);
}

#[test]
fn what_needs_a_resource_is_no_tool_and_says_why() {
    let plain = Plain::fixture();
    assert!(
        plain
            .skipped("example:plain/handles@1.0.0#open")
            .contains("a resource")
    );
    let method = "example:plain/handles@1.0.0#[method]counter.next";
    assert!(plain.skipped(method).contains("a resource"));
}

#[test]
fn interfaces_between_programs_and_hosts_are_no_tools() {
    let plain = Plain::text(
        r#"(component
            (core module $m (func (export "run") (result i32) i32.const 0))
            (core instance $m (instantiate $m))
            (func $run (result (result)) (canon lift (core func $m "run")))
            (instance $run (export "run" (func $run)))
            (export "wasi:cli/run@0.2.6" (instance $run))
            (export "bulkhead:tool/tools@0.1.0" (instance $run))
            (export "go" (func $run)))"#,
    );
    assert_eq!(plain.exports.tools.len(), 1);
    assert_eq!(plain.call("go", &json!({})), Ok(Output::default()));
    assert!(
        plain
            .skipped("wasi:cli/run@0.2.6#run")
            .contains("between programs and hosts")
    );
    assert!(
        plain
            .skipped("bulkhead:tool/tools@0.1.0#run")
            .contains("between programs and hosts")
    );
}

#[test]
fn maps_and_lists_of_fixed_length_go_through_a_guest_and_back() {
    // The functions give back what they got: a pointer and a length, or two items.
    let plain = Plain::text(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (global $next (mut i32) (i32.const 1024))
                (func (export "realloc") (param i32 i32 i32 i32) (result i32)
                    (global.set $next (i32.and
                        (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
                    (global.get $next)
                    (global.set $next (i32.add (global.get $next) (local.get 3))))
                (func (export "list") (param i32 i32) (result i32)
                    (i32.store (i32.const 0) (local.get 0))
                    (i32.store (i32.const 4) (local.get 1))
                    (i32.const 0))
                (func (export "pair") (param i32 i32) (result i32)
                    (i32.store16 (i32.const 0) (local.get 0))
                    (i32.store16 (i32.const 2) (local.get 1))
                    (i32.const 0)))
            (core instance $m (instantiate $m))
            (type $ages (map string u8))
            (type $signs (map char bool))
            (type $two (list u16 2))
            (alias core export $m "memory" (core memory $memory))
            (alias core export $m "realloc" (core func $realloc))
            (func (export "ages") (param "of" $ages) (result $ages)
                (canon lift (core func $m "list") (memory $memory) (realloc $realloc)))
            (func (export "signs") (param "of" $signs) (result $signs)
                (canon lift (core func $m "list") (memory $memory) (realloc $realloc)))
            (func (export "two") (param "of" $two) (result $two)
                (canon lift (core func $m "pair") (memory $memory) (realloc $realloc))))"#,
    );
    let ages = json!({"ada": 36, "": 0});
    let output = plain.call("ages", &json!({"of": ages})).expect("a map");
    assert_eq!(output.structured, Some(ages));
    assert_eq!(
        plain.problems("ages", &json!({"of": {"ada": -1}}))[0].0,
        "/of/ada"
    );

    let signs = json!([["a", true], ["ü", false]]);
    let output = plain.call("signs", &json!({"of": signs})).expect("pairs");
    assert_eq!(output.structured, Some(json!({"result": signs})));
    assert_eq!(
        plain.problems("signs", &json!({"of": [["a"]]}))[0].0,
        "/of/0"
    );

    let output = plain
        .call("two", &json!({"of": [1, 65535]}))
        .expect("a list");
    assert_eq!(output.structured, Some(json!({"result": [1, 65535]})));
    assert_eq!(plain.problems("two", &json!({"of": [1, 2, 3]}))[0].0, "/of");
}

/// A function `f` on the last of a chain of lists, each of what `element` makes of the one before.
fn chain(length: usize, element: fn(&str) -> String) -> Plain {
    let mut types = "(type $t0 (list u16))".to_owned();
    for index in 1..length {
        let element = element(&format!("$t{}", index - 1));
        types += &format!("(type $e{index} {element}) (type $t{index} (list $e{index}))");
    }
    Plain::text(&format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (func (export "f") (param i32 i32))
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable))
            (core instance $m (instantiate $m))
            {types}
            (alias core export $m "memory" (core memory $memory))
            (alias core export $m "realloc" (core func $realloc))
            (func (export "f") (param "of" $t{})
                (canon lift (core func $m "f") (memory $memory) (realloc $realloc))))"#,
        length - 1
    ))
}

#[test]
fn a_type_that_nests_too_deep_is_no_tool() {
    let plain = chain(40, |inner| format!("(option {inner})"));
    assert!(
        plain.skipped("f").contains("deeper than 32"),
        "{:?}",
        plain.exports.skipped
    );
    let plain = chain(12, |inner| format!("(option {inner})"));
    assert_eq!(plain.exports.tools.len(), 1, "{:?}", plain.exports.skipped);
}

#[test]
fn a_type_that_grows_by_sharing_is_no_tool() {
    let plain = chain(12, |inner| format!("(tuple {inner} {inner})"));
    assert!(
        plain.skipped("f").contains("more than 1000 parts"),
        "{:?}",
        plain.exports.skipped
    );
}

#[test]
fn a_component_of_very_many_functions_gives_a_bounded_list() {
    let functions: String = (0..1_000)
        .map(|n| format!(r#"(export "f{n}" (func $f))"#))
        .collect();
    let plain = Plain::text(&format!(
        r#"(component
            (core module $m (func (export "f")))
            (core instance $m (instantiate $m))
            (func $f (canon lift (core func $m "f")))
            {functions})"#
    ));
    assert_eq!(plain.exports.tools.len(), 256);
    assert_eq!(plain.exports.skipped.len(), 1);
}
