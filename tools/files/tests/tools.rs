//! The tools as a server calls them, over mocked files.

use bulkhead_sdk::{
    Error, json,
    mock::{Host, call},
    serde_json::Value,
};
use tool_files::TOOLS;

fn host() -> Host {
    let many: String = (1..=25).map(|n| format!("item {n}\n")).collect();
    Host::new()
        .file("docs/a.txt", "hello\nworld hello\nlast hello\n")
        .file("docs/b.md", "nothing\n")
        .file("docs/many.txt", many)
}

fn run(tool: &str, input: Value) -> Result<String, Error> {
    call(TOOLS, tool, input).map(|output| output.text())
}

#[test]
fn what_was_opened_is_told_with_its_lines_and_those_before() {
    let _host = host().install();
    let open = |request: Value| run("open_files", json!({ "file_requests": [request] }));
    let whole = json!({ "file_name": "docs/a.txt" });
    assert_eq!(open(whole.clone()).as_deref(), Ok("* Opened docs/a.txt"));
    let part = json!({ "file_name": "docs/a.txt", "offset": 0, "length": 5 });
    assert_eq!(
        open(part).as_deref(),
        Ok("* Opened docs/a.txt (lines 1-5) (previously full file)")
    );
    let both = json!({
        "file_requests": [{ "file_name": "docs/b.md", "offset": 2 }, { "file_name": "docs/many.txt" }],
        "close_all_others": true,
    });
    assert_eq!(
        run("open_files", both).as_deref(),
        Ok(
            "* Opened 2 files: docs/b.md (lines 3-end), docs/many.txt\nNote: Closed 1 file(s) due to \
            close_all_others=True: docs/a.txt"
        )
    );
}

#[test]
fn a_file_that_is_not_there_is_refused_with_the_names_that_are_and_nothing_is_opened() {
    let _host = host().install();
    let requests =
        json!({ "file_requests": [{ "file_name": "docs/b.md" }, { "file_name": "b.md" }] });
    let refused = run("open_files", requests).expect_err("it is refused");
    let text = refused.to_string();
    assert!(
        text.contains("b.md is not attached")
            && text.contains("docs/a.txt, docs/b.md, docs/many.txt"),
        "{text}"
    );
    let opened = run(
        "open_files",
        json!({ "file_requests": [{ "file_name": "docs/b.md" }] }),
    );
    assert_eq!(opened.as_deref(), Ok("* Opened docs/b.md"));
    for wrong in [json!({ "offset": -1 }), json!({ "length": 0 })] {
        let mut request = wrong;
        request["file_name"] = json!("docs/a.txt");
        assert!(run("open_files", json!({ "file_requests": [request] })).is_err());
    }
    assert!(run("open_files", json!({ "file_requests": [] })).is_err());
}

#[test]
fn matches_are_shown_with_the_lines_around_them() {
    let _host = host().install();
    let text = run("grep_files", json!({ "pattern": "hello" })).expect("it is found");
    let rule = "=".repeat(80);
    assert_eq!(
        text,
        format!(
            "Found 3 total matches across 1 files (showing matches 1-3 of 3)\n{rule}\ndocs/a.txt: 3 \
             matches\n{rule}\n\n=== docs/a.txt:1 ===\n> 1: hello\n  2: world hello\n\n=== docs/a.txt:2 \
             ===\n  1: hello\n> 2: world hello\n  3: last hello\n\n=== docs/a.txt:3 ===\n  2: world \
             hello\n> 3: last hello"
        )
    );
    let none = run(
        "grep_files",
        json!({ "pattern": "absent", "include": "*.md" }),
    );
    assert_eq!(
        none.as_deref(),
        Ok("No matches found for pattern: 'absent' in files matching '*.md'")
    );
}

#[test]
fn matches_come_in_pages_of_twenty() {
    let _host = host().install();
    let first = run(
        "grep_files",
        json!({ "pattern": "item", "context_lines": 0 }),
    );
    let first = first.expect("it is found");
    assert!(first.contains("(showing matches 1-20 of 25)"), "{first}");
    assert!(first.ends_with("offset=20 to see them."), "{first}");
    let rest = run("grep_files", json!({ "pattern": "item", "offset": 20 }));
    let rest = rest.expect("it is found");
    assert!(
        rest.contains("(showing matches 21-25 of 25)") && rest.contains("> 25: item 25"),
        "{rest}"
    );
    let beyond = run("grep_files", json!({ "pattern": "item", "offset": 30 }));
    assert!(beyond.expect("it says so").starts_with("No more matches"));
}

#[test]
fn passages_are_shown_by_file() {
    let _host = host().install();
    let text = run(
        "semantic_search_files",
        json!({ "query": "hello", "limit": 2 }),
    );
    let text = text.expect("it is found");
    assert!(
        text.starts_with("Found 2 semantic matches in 1 files for query: 'hello'\n"),
        "{text}"
    );
    assert!(
        text.contains("=== docs/a.txt (passage #2) ===\nworld hello"),
        "{text}"
    );
    assert!(run("semantic_search_files", json!({ "query": " " })).is_err());
}
