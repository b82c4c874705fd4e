//! Tools as people write them give what CPython gives: `python/tools` holds them, `python/cases.json`
//! the calls, and `python/expected.py` wrote what CPython made of them to `python/expected.json`.

use std::{collections::BTreeMap, fs, path::Path};

use bulkhead_sandbox::SourceReport;
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    common::{Tool, has_python},
    site,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// As it is written: the order of keys is seen by a tool.
    args: Box<RawValue>,
    function: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    agent: bool,
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/source/python"))
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn listed<T: for<'a> Deserialize<'a>>(name: &str) -> BTreeMap<String, Vec<T>> {
    serde_json::from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The report in the form of `expected.json`.
fn found(report: SourceReport, agent: bool) -> Value {
    if let Some(exception) = report.exception {
        return json!({"raised": {"kind": exception.kind, "message": exception.message}});
    }
    let output = match report.report.result {
        Ok(output) => output,
        Err(failure) => return json!({"failed": failure}),
    };
    let mut found = json!({"text": output.text(), "value": output.structured});
    if agent {
        found["memory"] = json!(report.memory);
    }
    found
}

fn tool(name: &str, case: &Case, base: &str) -> Tool {
    let mut tool =
        Tool::python(&read(&format!("tools/{name}.py"))).granted(json!({"http": [base]}));
    if let Some(function) = &case.function {
        tool = tool.named(function);
    }
    if case.agent {
        tool.environment.agent = Some(read("agent.json"));
    }
    tool.environment.variables = case.env.clone().into_iter().collect();
    tool
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_give_what_cpython_gives() {
    if !has_python() {
        return;
    }
    let base = format!("http://{}", site::serve().await);
    let cases = listed::<Case>("cases.json");
    let mut expected = listed::<Value>("expected.json");
    assert!(cases.len() >= 40);
    let mut wrong = Vec::new();
    for (name, cases) in cases {
        let expected = expected.remove(&name).unwrap_or_default();
        assert_eq!(cases.len(), expected.len(), "{name}: run expected.py again");
        for (number, (case, expected)) in cases.into_iter().zip(expected).enumerate() {
            let input = case.args.get().replace("{base}", &base);
            let report = tool(&name, &case, &base).call_text(input).await;
            let found = found(report, case.agent);
            if found != expected {
                wrong.push(format!(
                    "{name}, case {number}:\n  CPython gave {expected}\n  this gave    {found}"
                ));
            }
        }
    }
    assert!(expected.is_empty(), "run expected.py again");
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[tokio::test]
async fn tools_are_described_without_running_them() {
    if !has_python() {
        return;
    }
    for (name, cases) in listed::<Case>("cases.json") {
        let mut tool = Tool::python(&read(&format!("tools/{name}.py")));
        if let Some(function) = &cases[0].function {
            tool = tool.named(function);
        }
        let description = tool.describe().await.unwrap();
        assert_eq!(description.name, name);
        assert!(!description.description.is_empty(), "{name}");
        let schema = description.schema.unwrap();
        let properties = schema["properties"].as_object().unwrap();
        assert!(!properties.contains_key("agent_state"), "{name}");
        for case in &cases {
            let arguments: Map<String, Value> = serde_json::from_str(case.args.get()).unwrap();
            for argument in arguments.keys() {
                assert!(properties.contains_key(argument), "{name}: {argument}");
            }
        }
    }
}
