//! Rights: what a grant does not allow, by any function of the interface.

use std::fs;
use std::os::unix::fs::MetadataExt;

use bulkhead_domain::Outcome;
use serde_json::json;

use crate::place::{Place, call, denied, names, open, told};

#[tokio::test]
async fn without_a_grant_there_is_no_folder() {
    let place = Place::new();
    let input = json!({ "steps": [{ "op": "read", "path": "/data/note.txt" }] });
    let report = call("library_steps", Vec::new(), &input).await;
    let told = told(&report);
    assert!(told.iter().all(|text| text.starts_with('!')), "{told:?}");
    place.neighbour().await;
}

#[tokio::test]
async fn every_change_of_a_read_only_folder_is_refused_and_recorded() {
    let place = Place::new();
    fs::create_dir(place.granted("sub")).expect("a folder");
    let before = fs::metadata(place.granted("note.txt"))
        .expect("metadata")
        .modified()
        .ok();
    let steps = json!([
        open("note.txt", &["read", "write"], "x"),
        open("note.txt", &["write"], "x"),
        // Truncating asks for no write flag.
        open("note.txt", &["read", "truncate"], "x"),
        open("note.txt", &["truncate"], "x"),
        open("new.txt", &["read", "create"], "x"),
        open("sub", &["directory", "mutate"], "x"),
        open("note.txt", &["read"], "f"),
        { "op": "write", "name": "f", "text": "no", "count": 1, "offset": 0 },
        { "op": "stream_write", "name": "f", "text": "no", "count": 1, "offset": 0 },
        { "op": "append", "name": "f", "text": "no" },
        { "op": "set_size", "name": "f", "size": 0 },
        { "op": "set_times", "name": "f" },
        { "op": "set_times", "name": "/data" },
        { "op": "set_times_at", "at": "/data", "path": "note.txt", "follow": true },
        { "op": "mkdir", "at": "/data", "path": "new" },
        { "op": "rmdir", "at": "/data", "path": "sub" },
        { "op": "unlink", "at": "/data", "path": "note.txt" },
        { "op": "rename", "at": "/data", "path": "note.txt", "to": "/data", "to_path": "n.txt" },
        { "op": "link", "at": "/data", "path": "note.txt", "to": "/data", "to_path": "n.txt" },
        { "op": "symlink", "at": "/data", "target": "note.txt", "path": "l" },
        { "op": "read", "name": "f", "len": 100, "offset": 0 },
    ]);
    let (told, report) = place.run(place.readable(), steps).await;
    for (index, text) in told.iter().enumerate() {
        match index {
            6 => assert_eq!(text, "ok"),
            20 => assert_eq!(text, "a note"),
            _ => assert_eq!(text, "!read-only", "step {index}"),
        }
    }
    assert_eq!(denied(&report), told.len() - 2);
    let denials = &report.receipt.denials;
    assert!(
        denials.iter().all(|denial| denial.capability == "folder"),
        "{denials:?}"
    );
    assert_eq!(names(&place.path("granted")), ["note.txt", "sub"]);
    assert_eq!(place.read("granted/note.txt"), "a note");
    let after = fs::metadata(place.granted("note.txt"))
        .expect("metadata")
        .modified()
        .ok();
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_call_that_fails_on_a_refused_change_ends_as_denied() {
    let place = Place::new();
    let steps = json!({ "steps": [open("note.txt", &["write"], "f")], "strict": true });
    let report = call("steps", place.readable(), &steps).await;
    assert_eq!(report.receipt.outcome, Outcome::Denied, "{report:?}");
    assert!(report.receipt.denials[0].message.contains("/data/note.txt"));
}

#[tokio::test]
async fn a_tool_that_wished_to_read_may_only_read_whatever_was_granted() {
    let place = Place::new();
    let report = call("reader", place.writable(), &json!({})).await;
    let told = told(&report);
    assert_eq!(told[0], "a note");
    assert!(told[1].starts_with('!'), "{told:?}");
    assert_eq!(place.read("granted/note.txt"), "a note");
}

#[tokio::test]
async fn no_hard_link_and_no_rename_brings_a_file_into_other_rights() {
    let place = Place::new();
    let rules = || {
        vec![
            place.rule("granted", "/data", false),
            place.rule("other", "/out", true),
        ]
    };
    let to_out = |op: &str| json!({ "op": op, "at": "/data", "path": "note.txt", "to": "/out", "to_path": "n.txt" });
    let steps = json!([
        to_out("link"),
        to_out("rename"),
        { "op": "open", "at": "/out", "path": "n.txt", "flags": ["write"], "name": "x" },
        { "op": "open", "at": "/out", "path": "mine.txt", "flags": ["create", "write"], "name": "m" },
        { "op": "rename", "at": "/out", "path": "mine.txt", "to": "/data", "to_path": "note.txt" },
        { "op": "link", "at": "/out", "path": "mine.txt", "to": "/data", "to_path": "note.txt" },
    ]);
    let (told, report) = place.run(rules(), steps).await;
    let expected = [
        "!read-only",
        "!read-only",
        "!no-entry",
        "ok",
        "!read-only",
        "!read-only",
    ];
    assert_eq!(told, expected);
    assert_eq!(denied(&report), 4);
    assert_eq!(place.read("granted/note.txt"), "a note");
    let note = fs::metadata(place.granted("note.txt")).expect("metadata");
    assert_eq!(note.nlink(), 1);
}

#[tokio::test]
async fn nothing_moves_between_two_grants_that_both_allow_writing() {
    let place = Place::new();
    let rules = vec![
        place.rule("granted", "/data", true),
        place.rule("other", "/out", true),
    ];
    let step = |op: &str| json!({ "op": op, "at": "/data", "path": "note.txt", "to": "/out", "to_path": "n.txt" });
    let (told, _) = place
        .run(rules, json!([step("link"), step("rename")]))
        .await;
    assert_eq!(told, ["!cross-device", "!cross-device"]);
    assert!(names(&place.path("other")).is_empty());
}

#[tokio::test]
async fn a_file_opened_for_one_thing_is_not_used_for_the_other() {
    let place = Place::new();
    let steps = json!([
        open("note.txt", &["read"], "r"),
        open("note.txt", &["write"], "w"),
        { "op": "write", "name": "r", "text": "no", "count": 1, "offset": 0 },
        { "op": "stream_write", "name": "r", "text": "no", "count": 1, "offset": 0 },
        { "op": "set_size", "name": "r", "size": 0 },
        { "op": "read", "name": "w", "len": 1, "offset": 0 },
        { "op": "stream_read", "name": "w" },
        { "op": "list", "name": "r" },
        { "op": "read", "name": "/data", "len": 1, "offset": 0 },
        open("note.txt", &["directory"], "x"),
    ]);
    let (told, _) = place.run(place.writable(), steps).await;
    assert_eq!(told[..2], ["ok", "ok"]);
    assert!(
        told[2..7].iter().all(|text| text == "!bad-descriptor"),
        "{told:?}"
    );
    assert_eq!(
        told[7..],
        ["!not-directory", "!is-directory", "!not-directory"]
    );
    assert_eq!(place.read("granted/note.txt"), "a note");
}

#[tokio::test]
async fn a_folder_that_is_not_there_fails_the_call_and_names_itself() {
    let place = Place::new();
    let rules = vec![place.rule("missing", "/data", false)];
    let report = call("steps", rules, &json!({ "steps": [], "strict": false })).await;
    let failure = report.result.expect_err("the call fails");
    assert_eq!(failure.outcome, Outcome::HostError);
    assert!(
        failure.message.contains("missing") && failure.message.contains("/data"),
        "{failure}"
    );
    place.neighbour().await;
}
