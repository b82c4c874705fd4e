//! What a granted folder is good for.

use std::fs;
use std::os::unix::fs::symlink;

use bulkhead_domain::HostCallOutcome;
use serde_json::json;

use crate::place::{Place, call, open, told};

#[tokio::test]
async fn the_standard_library_works_in_a_granted_folder() {
    let place = Place::new();
    let input = json!({ "steps": [
        { "op": "read", "path": "/data/note.txt" },
        { "op": "mkdir", "path": "/data/a/b" },
        { "op": "write", "path": "/data/a/b/c.txt", "text": "one" },
        { "op": "append", "path": "/data/a/b/c.txt", "text": ", two" },
        { "op": "size", "path": "/data/a/b/c.txt" },
        { "op": "rename", "path": "/data/a/b/c.txt", "to": "/data/a/d.txt" },
        { "op": "list", "path": "/data/a" },
        { "op": "read", "path": "/data/a/d.txt" },
        { "op": "remove_all", "path": "/data/a/b" },
        { "op": "list", "path": "/data" },
    ]});
    let report = call("library_steps", place.writable(), &input).await;
    let expected = [
        "a note",
        "ok",
        "ok",
        "ok",
        "8",
        "ok",
        "b d.txt",
        "one, two",
        "ok",
        "a note.txt",
    ];
    assert_eq!(told(&report), expected);
    assert_eq!(place.read("granted/a/d.txt"), "one, two");
}

#[tokio::test]
async fn the_receipt_says_what_went_through_files_and_streams() {
    let place = Place::new();
    let steps = json!([
        open("new.txt", &["create", "read", "write"], "f"),
        { "op": "stream_write", "name": "f", "text": "x", "count": 100_000, "offset": 0 },
        { "op": "read", "name": "f", "len": 10, "offset": 99_995 },
        { "op": "stream_read", "name": "f" },
        { "op": "close", "name": "f" },
    ]);
    let (told, report) = place.run(place.writable(), steps).await;
    assert_eq!(told[2], "xxxxx");
    assert_eq!(told[3].len(), 100_000);
    let mut calls = Vec::new();
    for call in &report.receipt.host_calls {
        assert_eq!(call.interface, "filesystem");
        assert_eq!(call.outcome, HostCallOutcome::Ok, "{call:?}");
        let target = call.target.as_deref();
        calls.push((
            call.function.as_str(),
            target,
            call.bytes_in,
            call.bytes_out,
        ));
    }
    let file = Some("/data/new.txt");
    for expected in [
        ("open-at", file, 0, 0),
        ("write-via-stream", file, 100_000, 0),
        ("read", file, 0, 5),
        ("read-via-stream", file, 0, 100_000),
    ] {
        assert!(calls.contains(&expected), "{expected:?} in {calls:?}");
    }
}

#[tokio::test]
async fn links_that_stay_inside_work() {
    let place = Place::new();
    fs::create_dir(place.granted("sub")).expect("a folder");
    symlink("../note.txt", place.granted("sub/up")).expect("a link");
    let steps = json!([
        { "op": "symlink", "at": "/data", "target": "note.txt", "path": "l" },
        { "op": "readlink", "at": "/data", "path": "l" },
        open("l", &["read", "follow"], "f"),
        { "op": "read", "name": "f", "len": 100, "offset": 0 },
        open("l", &["read"], "x"),
        open("sub/up", &["read", "follow"], "g"),
        { "op": "stream_read", "name": "g" },
        { "op": "stat", "at": "/data", "path": "l", "follow": true },
        { "op": "stat", "at": "/data", "path": "note.txt/", "follow": false },
        { "op": "stat", "at": "/data", "path": "sub/", "follow": false },
        { "op": "same_hash", "at": "/data", "path": "note.txt", "other": "./note.txt" },
        { "op": "same_hash", "at": "/data", "path": "note.txt", "other": "sub" },
    ]);
    let (told, _) = place.run(place.writable(), steps).await;
    assert_eq!(told[..4], ["ok", "note.txt", "ok", "a note"]);
    assert_eq!(told[4], "!loop");
    assert_eq!(told[5..7], ["ok", "a note"]);
    assert!(told[7].ends_with(" 6"), "{}", told[7]);
    assert_eq!(told[8], "!not-directory");
    assert!(told[9].contains("Directory"), "{}", told[9]);
    assert_eq!(told[10..], ["true", "false"]);
}

#[tokio::test]
async fn within_a_grant_files_are_renamed_and_linked() {
    let place = Place::new();
    let steps = json!([
        { "op": "mkdir", "at": "/data", "path": "sub/" },
        { "op": "link", "at": "/data", "path": "note.txt", "to": "/data", "to_path": "sub/n.txt" },
        { "op": "rename", "at": "/data", "path": "note.txt", "to": "/data", "to_path": "sub/m.txt" },
        { "op": "rename", "at": "/data", "path": "sub/m.txt/", "to": "/data", "to_path": "x" },
        { "op": "unlink", "at": "/data", "path": "sub/m.txt/" },
        { "op": "unlink", "at": "/data", "path": "sub/m.txt" },
        { "op": "rename", "at": "/data", "path": "sub/", "to": "/data", "to_path": "moved/" },
    ]);
    let (told, _) = place.run(place.writable(), steps).await;
    assert_eq!(
        told,
        [
            "ok",
            "ok",
            "ok",
            "!not-directory",
            "!not-directory",
            "ok",
            "ok"
        ]
    );
    assert_eq!(place.read("granted/moved/n.txt"), "a note");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_calls_append_to_one_file_at_once_is_all_there() {
    let place = Place::new();
    let append = json!({ "op": "append", "path": "/data/log.txt", "text": "one line\n" });
    let input = json!({ "steps": vec![append; 50] });
    let calls = [0; 2].map(|_| {
        let (rules, input) = (place.writable(), input.clone());
        tokio::spawn(async move { call("library_steps", rules, &input).await })
    });
    for call in calls {
        let told = told(&call.await.expect("the call does not panic"));
        assert!(told.iter().all(|text| text == "ok"), "{told:?}");
    }
    assert_eq!(place.read("granted/log.txt"), "one line\n".repeat(100));
}
