//! Quotas and floods.

use std::fs;

use bulkhead_policy::{Capabilities, Limits};
use bulkhead_sandbox::{Authority, Call};
use serde_json::json;

use crate::place::{Place, ROOM, names, open, told};

#[tokio::test]
async fn over_its_quota_a_call_writes_nothing_by_any_way() {
    let place = Place::new();
    let steps = json!([
        open("a", &["create", "write"], "a"),
        open("b", &["create", "read", "write"], "b"),
        { "op": "write", "name": "a", "text": "x", "count": 600, "offset": 0 },
        // The other file shares the quota.
        { "op": "write", "name": "b", "text": "x", "count": 500, "offset": 0 },
        { "op": "stream_write", "name": "b", "text": "x", "count": 401, "offset": 0 },
        { "op": "set_size", "name": "b", "size": 401 },
        { "op": "write", "name": "b", "text": "x", "count": 1, "offset": 1_000_000_000_000_u64 },
        { "op": "write", "name": "b", "text": "x", "count": 400, "offset": 0 },
        { "op": "append", "name": "b", "text": "x" },
        // Nothing comes back by deleting, and overwriting counts.
        { "op": "set_size", "name": "a", "size": 0 },
        { "op": "unlink", "at": "/data", "path": "a" },
        { "op": "write", "name": "b", "text": "y", "count": 1, "offset": 0 },
        { "op": "read", "name": "b", "len": 1_000, "offset": 399 },
    ]);
    let (told, report) = place.run(place.limited(1_000), steps).await;
    let expected = [
        "ok", "ok", "600", "!quota", "!quota", "!quota", "!quota", "400", "!quota", "ok", "ok",
        "!quota", "x",
    ];
    assert_eq!(told, expected);
    assert_eq!(place.read("granted/b"), "x".repeat(400));
    let denials = &report.receipt.denials;
    assert!(
        denials
            .iter()
            .any(|denial| denial.message.contains("quota_bytes")),
        "{denials:?}"
    );
}

#[tokio::test]
async fn every_call_has_a_quota_of_its_own_and_a_rule_without_one_takes_the_limit_of_the_call() {
    let place = Place::new();
    let steps = json!([
        open("a", &["create", "write"], "a"),
        { "op": "write", "name": "a", "text": "x", "count": 1_000, "offset": 0 },
        { "op": "write", "name": "a", "text": "x", "count": 1, "offset": 0 },
    ]);
    for _ in 0..2 {
        let (told, _) = place.run(place.limited(1_000), steps.clone()).await;
        assert_eq!(told, ["ok", "1000", "!quota"]);
    }
    let (sandbox, component) = &*ROOM;
    let granted = Capabilities {
        folders: place.writable(),
        ..Capabilities::default()
    };
    let authority = Authority::for_tool(component, "steps", &granted, None, Vec::new(), "files");
    let input = json!({ "steps": steps, "strict": false }).to_string();
    let call = Call::new("steps", input)
        .with_authority(authority.expect("the tool exists"))
        .with_limits(Limits {
            folder_bytes: 1_000,
            ..Limits::default()
        });
    assert_eq!(
        told(&sandbox.call(component, call).await),
        ["ok", "1000", "!quota"]
    );
}

#[tokio::test]
async fn a_flood_of_descriptors_stops_at_the_limit_and_leaks_none() {
    let place = Place::new();
    let steps = json!([
        { "op": "flood_open", "at": "/data", "path": "note.txt" },
        { "op": "flood_open", "at": "/data", "path": "." },
        { "op": "flood_listings", "name": "/data" },
        open("note.txt", &["read"], "f"),
        { "op": "flood_streams", "name": "f" },
        { "op": "stream_read", "name": "f" },
    ]);
    let (told, _) = place.run(place.writable(), steps).await;
    for flood in &told[..3] {
        let (held, code) = flood.split_once(' ').expect("a count and a code");
        let held: u32 = held.parse().expect("a count");
        assert!(held > 0 && held <= 256, "{flood}");
        assert_eq!(code, "insufficient-memory");
    }
    assert_eq!(told[3..], ["ok", "64 insufficient-memory", "a note"]);
    // All are closed with the call; other tests of this process may hold some.
    let held = fs::read_dir("/proc/self/fd").map(|all| {
        let targets = all.filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
        targets
            .filter(|target| target.starts_with(place.path("granted")))
            .count()
    });
    if let Ok(held) = held {
        assert_eq!(held, 0);
    }
}

#[tokio::test]
async fn a_flood_of_empty_files_stops_before_the_disk_has_no_inodes() {
    let place = Place::new();
    let steps = json!([{ "op": "flood_files", "at": "/data", "limit": 10_000 }]);
    let (told, _) = place.run(place.writable(), steps).await;
    assert_eq!(told, ["4096 quota"]);
    assert_eq!(names(&place.path("granted")).len(), 4_097);
}

#[tokio::test]
async fn a_folder_of_many_entries_is_listed_whole() {
    let place = Place::new();
    for number in 0..1_000 {
        fs::write(place.granted(&format!("file-{number:04}")), "").expect("a file");
    }
    let (told, _) = place
        .run(place.readable(), json!([{ "op": "list", "name": "/data" }]))
        .await;
    let listed: Vec<_> = told[0].split(' ').map(str::to_owned).collect();
    assert_eq!(listed, names(&place.path("granted")));
}

#[tokio::test]
async fn paths_beyond_every_length_are_refused() {
    let place = Place::new();
    let paths = [
        "a".repeat(256),
        "a/".repeat(65),
        "a/".repeat(100_000),
        "a\0b".to_owned(),
        String::new(),
    ];
    let steps: Vec<_> = paths
        .iter()
        .map(|path| open(path, &["create", "write"], "x"))
        .collect();
    let (told, _) = place.run(place.writable(), json!(steps)).await;
    assert_eq!(
        told,
        [
            "!name-too-long",
            "!name-too-long",
            "!name-too-long",
            "!invalid",
            "!no-entry"
        ]
    );
    assert_eq!(names(&place.path("granted")), ["note.txt"]);
}

#[tokio::test]
async fn offsets_and_sizes_at_the_end_of_the_range_are_errors() {
    let place = Place::new();
    let steps = json!([
        open("a", &["create", "read", "write"], "a"),
        { "op": "write", "name": "a", "text": "x", "count": 1, "offset": u64::MAX },
        { "op": "write", "name": "a", "text": "x", "count": 1, "offset": i64::MAX },
        { "op": "stream_write", "name": "a", "text": "x", "count": 1, "offset": u64::MAX },
        { "op": "set_size", "name": "a", "size": u64::MAX },
        { "op": "read", "name": "a", "len": u64::MAX, "offset": u64::MAX },
        { "op": "read", "name": "a", "len": u64::MAX, "offset": 0 },
        { "op": "sync", "name": "a" },
    ]);
    let (told, _) = place.run(place.writable(), steps).await;
    assert_eq!(
        told[..5],
        [
            "ok",
            "!file-too-large",
            "!file-too-large",
            "!file-too-large",
            "!file-too-large"
        ]
    );
    assert!(told[5].starts_with('!'), "{}", told[5]);
    assert_eq!(told[6..], ["", "ok"]);
    assert_eq!(place.read("granted/a"), "");
}
