//! JSON to WIT values: no input panics, a refusal says why, and what is accepted comes back as
//! the same value after a way out and in again.
#![no_main]

use std::sync::LazyLock;

use bulkhead_sandbox::adapter::{self, PlainTool};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use wasmtime::{Engine, component::Component};

/// More problems than any answer lists.
const MANY_PROBLEMS: usize = 100;

/// Each of the functions in `echo` has a result of the types of its parameters.
static ECHOES: LazyLock<Vec<PlainTool>> = LazyLock::new(|| {
    let component = Component::new(&Engine::default(), bulkhead_fixtures::PLAIN)
        .expect("the fixture is a component");
    let mut tools = adapter::exports(&component).tools;
    tools.retain(|tool| tool.path().starts_with("example:plain/echo"));
    tools
});

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    let tool = &ECHOES[usize::from(choice) % ECHOES.len()];
    let Ok(input) = serde_json::from_slice::<Value>(text) else {
        return;
    };
    match tool.arguments(&input) {
        Ok(arguments) if arguments.len() == 1 => {
            let output = tool
                .output(&arguments)
                .expect("an echo's argument is of its result's type");
            let value = match &output.structured {
                None => json!(output.text()),
                Some(record) if record.get("result").is_none() => record.clone(),
                Some(wrapped) => wrapped["result"].clone(),
            };
            assert_eq!(tool.arguments(&json!({"value": value})), Ok(arguments));
        }
        Ok(_) => {}
        Err(problems) => assert!((1..MANY_PROBLEMS).contains(&problems.len())),
    }
});
