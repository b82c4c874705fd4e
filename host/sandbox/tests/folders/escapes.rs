//! Ways out of the folder.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::place::{Place, denied, names, open};

/// Paths that name something outside, with and without the help of symbolic links.
fn paths_outside(place: &Place) -> Vec<String> {
    symlink("../outside", place.granted("relative")).expect("a link");
    symlink("../outside/", place.granted("slashed")).expect("a link");
    symlink(place.path("outside"), place.granted("absolute")).expect("a link");
    symlink("relative/", place.granted("chained")).expect("a link");
    symlink("../outside/secret.txt", place.granted("file")).expect("a link");
    symlink("../outside/secret.txt/", place.granted("slashed-file")).expect("a link");
    let mut paths = Vec::new();
    for link in ["relative", "slashed", "absolute", "chained"] {
        for end in [
            "/secret.txt",
            "//secret.txt",
            "/./secret.txt",
            "/secret.txt/",
            "/../outside/secret.txt",
        ] {
            paths.push(format!("{link}{end}"));
        }
    }
    for file in [
        "file",
        "file/",
        "file//",
        "file/.",
        "slashed-file",
        "slashed-file/",
    ] {
        paths.push(file.to_owned());
    }
    for plain in [
        "../outside/secret.txt",
        "relative/../../outside/secret.txt",
        "./../outside/secret.txt",
    ] {
        paths.push(plain.to_owned());
    }
    paths.push(place.path("outside/secret.txt").display().to_string());
    paths
}

#[tokio::test]
async fn no_path_leads_out_of_the_folder() {
    let place = Place::new();
    let paths = paths_outside(&place);
    for flags in [
        &["read", "follow"][..],
        &["read", "write", "follow"],
        &["create", "write", "follow"],
        &["truncate", "read", "follow"],
        &["create", "exclusive", "write"],
    ] {
        let steps: Vec<_> = paths.iter().map(|path| open(path, flags, "x")).collect();
        let (told, _) = place.run(place.writable(), json!(steps)).await;
        for (text, path) in told.iter().zip(&paths) {
            assert!(text.starts_with('!'), "{path} with {flags:?} was opened");
        }
    }
    let mut steps = Vec::new();
    for path in &paths {
        steps.push(json!({ "op": "stat", "at": "/data", "path": path, "follow": true }));
        steps.push(json!({ "op": "set_times_at", "at": "/data", "path": path, "follow": true }));
        steps.push(json!({ "op": "mkdir", "at": "/data", "path": format!("{path}x") }));
    }
    let (told, _) = place.run(place.writable(), json!(steps)).await;
    // A new folder beside a link that leads out is inside.
    let inside = ["filex", "slashed-filex"].map(|name| place.granted(name).is_dir());
    let made = told.iter().filter(|text| !text.starts_with('!')).count();
    assert_eq!(
        made,
        inside.iter().filter(|made| **made).count(),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_trailing_slash_opens_no_folder_outside() {
    let place = Place::new();
    let _ = paths_outside(&place);
    let mut steps = Vec::new();
    for link in ["relative", "slashed", "absolute", "chained"] {
        for end in ["", "/", "//", "/.", "/./", "/..", "/../outside/"] {
            for flags in [
                &["directory", "read"][..],
                &["directory", "read", "follow"],
                &["read"],
            ] {
                steps.push(open(&format!("{link}{end}"), flags, "x"));
            }
            let path = format!("{link}{end}");
            steps.push(json!({ "op": "rmdir", "at": "/data", "path": path }));
            steps.push(
                json!({ "op": "rename", "at": "/data", "path": format!("{link}{end}/secret.txt"),
                "to": "/data", "to_path": "stolen.txt" }),
            );
            steps.push(
                json!({ "op": "link", "at": "/data", "path": format!("{link}{end}/secret.txt"),
                "to": "/data", "to_path": "stolen.txt" }),
            );
            steps.push(json!({ "op": "rename", "at": "/data", "path": "note.txt",
                "to": "/data", "to_path": format!("{link}{end}/note.txt") }));
            steps.push(
                json!({ "op": "unlink", "at": "/data", "path": format!("{link}{end}/secret.txt") }),
            );
        }
    }
    let (told, report) = place.run(place.writable(), json!(steps)).await;
    // `link/..` may be the granted folder itself for a resolver that works on text; ours asks
    // the file system, for which it is the folder around the one outside.
    for (text, step) in told.iter().zip(&steps) {
        assert!(text.starts_with('!'), "{step} gave {text}");
    }
    assert!(denied(&report) > 0, "attempts to leave are recorded");
    assert_eq!(place.read("granted/note.txt"), "a note");
}

#[tokio::test]
async fn a_guest_leaves_no_link_that_leads_a_host_program_outside() {
    let place = Place::new();
    let targets = [
        "/etc/passwd",
        "..",
        "../outside",
        "sub/../../outside",
        "//x",
        "a/..",
    ];
    let steps: Vec<_> = targets
        .iter()
        .map(|target| json!({ "op": "symlink", "at": "/data", "target": target, "path": "l" }))
        .collect();
    let (told, report) = place.run(place.writable(), json!(steps)).await;
    assert!(told.iter().all(|text| text == "!not-permitted"), "{told:?}");
    assert_eq!(denied(&report), targets.len());
    assert_eq!(names(&place.path("granted")), ["note.txt"]);
}

#[tokio::test]
async fn a_loop_of_links_ends() {
    let place = Place::new();
    symlink("b", place.granted("a")).expect("a link");
    symlink("a", place.granted("b")).expect("a link");
    let steps = json!([
        open("a", &["read", "follow"], "x"),
        open("a/", &["directory", "follow"], "x"),
        { "op": "stat", "at": "/data", "path": "b/c", "follow": true },
    ]);
    let (told, _) = place.run(place.writable(), steps).await;
    assert!(told.iter().all(|text| text == "!loop"), "{told:?}");
}
