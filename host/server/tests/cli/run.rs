//! `bulkhead run`: each end of a call has its exit code.

use serde_json::json;

use crate::support::{component, demo_component, run, run_with_input};

#[test]
fn a_result_goes_to_standard_output_and_the_receipt_to_standard_error() {
    let (_folder, file) = demo_component();
    let ended = run(&["run", &file, "greet", "--input", r#"{"name": "Ada"}"#]).with(0);
    assert_eq!(ended.out, "Hello, Ada!\n");
    assert!(
        ended.err.contains("ok") && ended.err.contains("fuel"),
        "{}",
        ended.err
    );
    assert!(
        !ended.err.contains('\x1b'),
        "no colours where no terminal is"
    );
}

#[test]
fn with_json_standard_output_is_one_document_in_the_form_of_the_api() {
    let (_folder, file) = demo_component();
    let result = run_with_input(
        &["run", &file, "word_count", "-i", "-", "--json"],
        r#"{"text": "a b"}"#,
    )
    .with(0)
    .json();
    assert_eq!(result["outcome"], "ok");
    assert_eq!(result["output"]["structured"]["words"], 2);
    assert_eq!(result["receipt"]["tool"], "word_count");
    assert!(result["receipt"]["fuel"]["call"].as_u64() > Some(0));
}

#[test]
fn progress_is_shown_while_the_tool_runs() {
    let (_folder, file) = demo_component();
    let ended = run(&["run", &file, "progress", "-i", r#"{"steps": 2}"#]).with(0);
    assert!(ended.err.contains("50 % step 1 of 2"), "{}", ended.err);
    assert!(ended.err.contains("100 % step 2 of 2"), "{}", ended.err);
}

#[test]
fn wrong_input_is_exit_code_3_with_every_problem() {
    let (folder, file) = demo_component();
    run(&["run", &file, "greet", "-i", "{name: Ada}"]).with(3);
    run(&["run", &file, "no_such_tool"]).with(3);
    let result = run(&["run", &file, "greet", "-i", r#"{"name": 7}"#, "--json"])
        .with(3)
        .json();
    assert_eq!(result["outcome"], "invalid_input");
    assert_eq!(result["error"]["problems"][0]["at"], "/name");
    let input = folder.path().join("input.json");
    std::fs::write(&input, r#"{"name": ""}"#).expect("writable");
    let input = format!("@{}", input.display());
    let ended = run(&["run", &file, "greet", "-i", &input]).with(3);
    assert!(ended.err.contains("/name"), "{}", ended.err);
}

#[test]
fn a_denial_is_exit_code_4_and_names_the_flag_that_would_allow_it() {
    let (_folder, file) = demo_component();
    let input = json!({"url": "https://example.com/x"}).to_string();
    let ended = run(&["run", &file, "fetch_title", "-i", &input]).with(4);
    assert!(
        ended.err.contains("--allow-host example.com"),
        "{}",
        ended.err
    );
}

#[test]
fn a_limit_is_exit_code_5() {
    let (_folder, file) = demo_component();
    let outcome = |arguments: &[&str]| {
        let arguments = [&["run", &file, "--json", "--quiet"], arguments].concat();
        run(&arguments).with(5).json()["outcome"].clone()
    };
    assert_eq!(outcome(&["spin", "--fuel", "1M"]), "out_of_fuel");
    assert_eq!(outcome(&["hoard", "--memory", "8MiB"]), "out_of_memory");
    assert_eq!(
        outcome(&["spin", "--fuel", "100G", "--timeout", "300ms"]),
        "deadline_exceeded"
    );
}

#[test]
fn what_is_no_component_is_exit_code_6_with_its_code() {
    for (bytes, code) in [
        (&b"hello"[..], "not_a_component"),
        (&b""[..], "not_a_component"),
        (&b"\0asm\x01\0\0\0"[..], "not_a_component"),
    ] {
        let (_folder, file) = component("x.wasm", bytes);
        let error = run(&["run", &file, "--json"]).with(6).json();
        assert_eq!(error["error"]["code"], code);
        assert_eq!(error["exit_code"], 6);
    }
}

#[test]
fn of_several_tools_one_has_to_be_named() {
    let (_folder, file) = demo_component();
    let ended = run(&["run", &file]).with(2);
    assert!(ended.err.contains("greet, word_count"), "{}", ended.err);
}
