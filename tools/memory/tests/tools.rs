//! The tools as a server calls them, over mocked blocks: every text that clients know.

use bulkhead_sdk::{
    Error, Output, json,
    memory::Block,
    mock::{Host, Installed, call},
    serde_json::Value,
};
use tool_memory::TOOLS;

fn block(label: &str, value: &str) -> Block {
    Block {
        label: label.to_owned(),
        value: value.to_owned(),
        description: Some(format!("About {label}.")),
        limit: 100,
        read_only: label == "ro",
        version: 1,
    }
}

/// Blocks `human`, `ro` and `small`.
fn host() -> Installed {
    Host::new()
        .memory_block(block("human", "Name: Ann\nCity: Rome\nAge: 5\nAge: 5\nend"))
        .memory_block(block("ro", "fixed"))
        .memory_block(block("small", ""))
        .install()
}

fn run(tool: &str, input: Value) -> Result<Output, Error> {
    call(TOOLS, tool, input)
}

fn text(tool: &str, input: Value) -> String {
    run(tool, input).expect("it succeeds").text()
}

fn failure(tool: &str, input: Value) -> String {
    match run(tool, input).expect_err("it fails") {
        Error::Failed(text) => text,
        other => panic!("another kind of error: {other:?}"),
    }
}

fn value(host: &Installed, label: &str) -> Option<String> {
    host.memory().get(label).map(|block| block.value.clone())
}

/// An edit of the block with this label, by each tool that edits one.
fn edits(label: &str) -> Vec<(&'static str, Value)> {
    let path = format!("/memories/{label}");
    vec![
        (
            "core_memory_append",
            json!({ "label": label, "content": "x" }),
        ),
        (
            "core_memory_replace",
            json!({ "label": label, "old_content": "x", "new_content": "y" }),
        ),
        (
            "memory_insert",
            json!({ "label": label, "new_string": "1→ x" }),
        ),
        (
            "memory_replace",
            json!({ "label": label, "old_string": "1→ x", "new_string": "y" }),
        ),
        (
            "memory_rethink",
            json!({ "label": label, "new_memory": "x" }),
        ),
        (
            "memory",
            json!({ "command": "str_replace", "path": path, "old_string": "x", "new_string": "y" }),
        ),
        (
            "memory",
            json!({ "command": "insert", "path": path, "insert_text": "x" }),
        ),
        ("memory", json!({ "command": "delete", "path": path })),
        (
            "memory",
            json!({ "command": "rename", "old_path": path, "new_path": "/memories/other" }),
        ),
        (
            "memory_apply_patch",
            json!({ "label": label, "patch": "+x" }),
        ),
    ]
}

#[test]
fn an_unknown_label_is_told_with_those_that_there_are() {
    let _host = host();
    for (tool, input) in edits("nope") {
        assert_eq!(
            failure(tool, input),
            "'Block field nope does not exist (available sections = human, ro, small)'",
            "{tool}"
        );
    }
}

#[test]
fn a_read_only_block_is_not_edited_by_any_tool() {
    let host = host();
    for (tool, input) in edits("ro") {
        assert_eq!(
            failure(tool, input),
            "Error This block is read-only and cannot be edited.",
            "{tool}"
        );
    }
    assert_eq!(value(&host, "ro").as_deref(), Some("fixed"));
    assert_eq!(host.memory().len(), 3);
}

#[test]
fn appending_and_replacing_give_the_new_text() {
    let host = host();
    let appended = text(
        "core_memory_append",
        json!({ "label": "small", "content": "a" }),
    );
    assert_eq!(appended, "a");
    let appended = text(
        "core_memory_append",
        json!({ "label": "small", "content": "b" }),
    );
    assert_eq!(appended, "a\nb");
    let replace =
        |old: &str| json!({ "label": "human", "old_content": old, "new_content": "Age: 6" });
    let replaced = text("core_memory_replace", replace("Age: 5"));
    assert_eq!(replaced, "Name: Ann\nCity: Rome\nAge: 6\nAge: 6\nend");
    assert_eq!(value(&host, "human"), Some(replaced));
    assert_eq!(
        failure("core_memory_replace", replace("x")),
        "Old content 'x' not found in memory block 'human'"
    );
}

#[test]
fn memory_replace_wants_exactly_one_match() {
    let host = host();
    let replace =
        |old: &str| json!({ "label": "human", "old_string": old, "new_string": "City: Pisa" });
    assert_eq!(
        text("memory_replace", replace("City: Rome")),
        "Name: Ann\nCity: Pisa\nAge: 5\nAge: 5\nend"
    );
    assert_eq!(
        failure("memory_replace", replace("zzz")),
        "No replacement was performed, old_string `zzz` did not appear verbatim in memory block with label `human`."
    );
    assert_eq!(
        failure("memory_replace", replace("Age: 5")),
        "No replacement was performed. Multiple occurrences of old_string `Age: 5` in lines [3, 4]. Please ensure it is unique."
    );
    assert_eq!(host.memory()["human"].version, 2, "one write only");
}

#[test]
fn memory_insert_knows_the_lines_of_the_block() {
    let _host = host();
    let insert =
        |line: Value| json!({ "label": "human", "new_string": "new", "insert_line": line });
    assert_eq!(
        failure("memory_insert", insert(json!(99))),
        "Invalid `insert_line` parameter: 99. It should be within the range of lines of the memory block: [0, 5], or -1 to append to the end of the memory block."
    );
    assert!(text("memory_insert", insert(json!(0))).starts_with("new\nName: Ann\n"));
    assert!(text("memory_insert", insert(json!(-1))).ends_with("\nend\nnew"));
    assert!(text("memory_insert", insert(Value::Null)).ends_with("\nnew\nnew"));
}

#[test]
fn numbers_of_lines_are_not_written_into_a_block() {
    let host = host();
    let before = host.memory();
    let told = |parameter: &str| {
        format!(
            "{parameter} contains a line number prefix, which is not allowed. Do not include line numbers when \
             calling memory tools (line numbers are for display purposes only)."
        )
    };
    for (tool, input, parameter) in [
        (
            "memory_replace",
            json!({ "label": "human", "old_string": "2→ City: Rome", "new_string": "" }),
            "old_string",
        ),
        (
            "memory_replace",
            json!({ "label": "human", "old_string": "City: Rome", "new_string": "2→ x" }),
            "new_string",
        ),
        (
            "memory_insert",
            json!({ "label": "human", "new_string": "a\n2→ b" }),
            "new_string",
        ),
        (
            "memory_rethink",
            json!({ "label": "human", "new_memory": "1→ a" }),
            "new_memory",
        ),
        (
            "memory",
            json!({ "command": "create", "path": "n", "file_text": "1→ a" }),
            "file_text",
        ),
    ] {
        assert_eq!(failure(tool, input), told(parameter), "{tool}");
    }
    assert_eq!(host.memory(), before);
}

#[test]
fn rewriting_replaces_all_of_a_block() {
    let host = host();
    let rewritten = text(
        "memory_rethink",
        json!({ "label": "human", "new_memory": "all new" }),
    );
    assert_eq!(rewritten, "all new");
    assert_eq!(value(&host, "human").as_deref(), Some("all new"));
    let rethought = run("rethink_user_memory", json!({ "new_memory": "Ann, 6" }));
    assert_eq!(
        rethought.expect("it succeeds").structured,
        Some(Value::Null)
    );
    assert_eq!(value(&host, "human").as_deref(), Some("Ann, 6"));
}

#[test]
fn saying_that_all_is_done_gives_none() {
    for tool in ["memory_finish_edits", "finish_rethinking_memory"] {
        let output = run(tool, json!({})).expect("it succeeds");
        assert_eq!(output.structured, Some(Value::Null), "{tool}");
        assert_eq!(output.text(), "None", "{tool}");
    }
}

#[test]
fn the_commands_of_memory_do_what_they_say() {
    let host = host();
    let made = text(
        "memory",
        json!({ "command": "create", "path": "/memories/proj", "file_text": "x", "description": "A project." }),
    );
    assert_eq!(
        made,
        "Successfully created memory block 'proj'. Your system prompt has been recompiled with the new memory block and is now active in your context."
    );
    assert_eq!(
        host.memory()["proj"].description.as_deref(),
        Some("A project.")
    );
    let replaced = text(
        "memory",
        json!({ "command": "str_replace", "path": "/memories/proj", "old_string": "x", "new_string": "y" }),
    );
    assert_eq!(replaced, "y");
    let inserted = text(
        "memory",
        json!({ "command": "insert", "path": "/memories/proj", "insert_line": 0, "insert_text": "z" }),
    );
    assert_eq!(inserted, "z\ny");
    let renamed = text(
        "memory",
        json!({ "command": "rename", "old_path": "/memories/proj", "new_path": "/memories/plan" }),
    );
    assert_eq!(
        renamed,
        "Successfully renamed memory block 'proj' to 'plan'. Your system prompt has been recompiled with the renamed memory block and is now active in your context."
    );
    let plan = host.memory()["plan"].clone();
    assert_eq!(
        (plan.value.as_str(), plan.description.as_deref()),
        ("z\ny", Some("A project."))
    );
    let deleted = text(
        "memory",
        json!({ "command": "delete", "path": "/memories/plan" }),
    );
    assert_eq!(
        deleted,
        "Successfully deleted memory block 'plan'. Your system prompt has been recompiled without this memory block and is now active in your context."
    );
    assert_eq!(host.memory().len(), 3);
}

#[test]
fn a_command_that_cannot_be_run_says_why() {
    let _host = host();
    for (input, expected) in [
        (
            json!({ "command": "view" }),
            "Error: Unknown command 'view'. Supported commands: create, str_replace, insert, delete, rename",
        ),
        (
            json!({ "command": "insert", "path": "human" }),
            "Error: insert_text is required for insert command",
        ),
        (
            json!({ "command": "create", "path": "human" }),
            "Error: Memory block 'human' already exists. Choose another label, or edit that block.",
        ),
        (
            json!({ "command": "rename", "old_path": "small", "new_path": "human" }),
            "Error: Memory block 'human' already exists. Choose another label, or edit that block.",
        ),
    ] {
        assert_eq!(failure("memory", input), expected);
    }
}

#[test]
fn a_text_over_the_limit_is_told_with_both_numbers() {
    let host = host();
    let long = failure(
        "core_memory_append",
        json!({ "label": "small", "content": "x".repeat(101) }),
    );
    assert!(
        long.contains("101 characters, more than its limit of 100"),
        "{long}"
    );
    assert_eq!(value(&host, "small").as_deref(), Some(""));
}

#[test]
fn a_patch_of_one_block_gives_its_new_text() {
    let host = host();
    let patch = "@@ -1,9 +1,9 @@\n Name: Ann\n-City: Rome\n+City: Pisa\n@@\n Age: 5\n end\n+more\n";
    let patched = text(
        "memory_apply_patch",
        json!({ "label": "human", "patch": patch }),
    );
    assert_eq!(patched, "Name: Ann\nCity: Pisa\nAge: 5\nAge: 5\nend\nmore");
    assert_eq!(value(&host, "human"), Some(patched));
    assert_eq!(
        text(
            "memory_apply_patch",
            json!({ "label": "small", "patch": "+a\n+b" })
        ),
        "a\nb"
    );
}

#[test]
fn a_patch_of_several_blocks_is_applied_in_order() {
    let host = host();
    let patch = "*** Add Block: plan\n+one\n+two\n*** Update Block: small\n*** Move to: tiny\n@@\n+x\n\
                 *** Delete Block: human\n*** Update Block: plan\n@@\n-one\n+1";
    let told = text(
        "memory_apply_patch",
        json!({ "label": "human", "patch": patch }),
    );
    assert_eq!(
        told,
        "Successfully applied the patch: added memory block 'plan', renamed memory block 'small' to 'tiny', updated \
         memory block 'tiny', deleted memory block 'human', updated memory block 'plan'. Your system prompt has been \
         recompiled with the changed memory blocks and is now active in your context."
    );
    let labels: Vec<_> = host.memory().into_keys().collect();
    assert_eq!(labels, ["plan", "ro", "tiny"]);
    assert_eq!(value(&host, "plan").as_deref(), Some("1\ntwo"));
    assert_eq!(value(&host, "tiny").as_deref(), Some("x"));
}

#[test]
fn a_patch_with_a_fault_anywhere_changes_nothing() {
    let host = host();
    let before = host.memory();
    for (part, told) in [
        (
            "*** Update Block: human\n@@\n-Age: 7\n+Age: 8",
            "hunk 1 of the patch does not fit memory block 'human'",
        ),
        (
            "*** Update Block: human\n@@\n-Age: 5\n+Age: 8",
            "at lines [3, 4]",
        ),
        ("*** Delete Block: ro", "read-only"),
        ("*** Delete Block: nope", "Block field nope does not exist"),
        ("*** Add Block: human\n+x", "'human' already exists"),
    ] {
        let patch = format!("*** Add Block: plan\n+one\n{part}");
        let error = failure(
            "memory_apply_patch",
            json!({ "label": "human", "patch": patch }),
        );
        assert!(error.contains(told), "{part}: {error}");
    }
    assert_eq!(host.memory(), before);
}

#[test]
fn parameters_and_wishes_are_those_of_the_contract() {
    let parameters = |tool: &str| {
        let tool = TOOLS
            .iter()
            .find(|each| each.name() == tool)
            .expect("there is one");
        let schema = tool.input_schema();
        let required = schema["required"].clone();
        let properties = schema["properties"].as_object().expect("an object").clone();
        (required, properties)
    };
    for (tool, required, all) in [
        ("core_memory_append", vec!["label", "content"], 2),
        (
            "core_memory_replace",
            vec!["label", "old_content", "new_content"],
            3,
        ),
        ("memory_insert", vec!["label", "new_string"], 3),
        (
            "memory_replace",
            vec!["label", "old_string", "new_string"],
            3,
        ),
        ("memory_rethink", vec!["label", "new_memory"], 2),
        ("memory_finish_edits", vec![], 0),
        ("memory", vec!["command"], 10),
        ("memory_apply_patch", vec!["label", "patch"], 2),
        ("rethink_user_memory", vec!["new_memory"], 1),
        ("finish_rethinking_memory", vec![], 0),
    ] {
        let (found, properties) = parameters(tool);
        assert_eq!(found, json!(required), "{tool}");
        assert_eq!(properties.len(), all, "{tool}");
        assert!(
            properties
                .values()
                .all(|property| property["description"].is_string()),
            "{tool}"
        );
    }
    let wishes = TOOLS[0].wishes();
    assert!(
        wishes.contains(r#""memory":{"labels":["*"],"write":true}"#),
        "{wishes}"
    );
}
