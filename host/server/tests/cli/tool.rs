//! `bulkhead tool check` and `tool diff` on files.

use crate::support::{component, demo_component, run};

#[test]
fn check_shows_tools_schemas_imports_and_wishes() {
    let (_folder, file) = demo_component();
    let view = run(&["tool", "check", &file, "--json"]).with(0).json();
    let tools = view["tools"].as_array().expect("tools");
    assert_eq!(tools[0]["name"], "greet");
    assert_eq!(tools[0]["input_schema"]["type"], "object");
    assert!(
        view["digest"]
            .as_str()
            .expect("a digest")
            .starts_with("sha256:")
    );
    assert_eq!(view["pure"], false);
    let imports = view["imports"].as_array().expect("imports");
    assert!(imports.iter().any(|import| import["effect"] == true));
    assert!(
        !view["wishes"]["http"]
            .as_array()
            .expect("wishes")
            .is_empty()
    );
    let text = run(&["tool", "check", &file]).with(0).out;
    assert!(
        text.contains("fetch_title") && text.contains("bulkhead:tool/http"),
        "{text}"
    );
}

#[test]
fn check_refuses_what_is_no_tool_and_says_why() {
    let (_folder, file) = component("x.wasm", b"\0asm\x0d\0\x01\0");
    let error = run(&["tool", "check", &file, "--json"]).with(6).json();
    assert_eq!(error["error"]["code"], "no_tools");
    assert!(
        error["error"]["hint"]
            .as_str()
            .expect("a hint")
            .contains("#[tool]")
    );
}

#[test]
fn two_files_are_compared_without_a_server() {
    let (_one, old) = demo_component();
    let (_two, new) = component("new.wasm", bulkhead_tools::FETCH_WEBPAGE);
    let diff = run(&["tool", "diff", &old, &new, "--json"]).with(0).json();
    assert!(
        diff["tools"]["removed"]
            .as_array()
            .expect("names")
            .contains(&"greet".into())
    );
    assert!(
        diff["tools"]["added"]
            .as_array()
            .expect("names")
            .contains(&"fetch_webpage".into())
    );
    let same = run(&["tool", "diff", &old, &old]).with(0).out;
    assert!(same.contains("no difference"), "{same}");
}
