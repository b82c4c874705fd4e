//! Things that are no files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use serde_json::json;

use crate::place::{PATIENCE, Place, open};

#[tokio::test]
async fn a_fifo_a_socket_and_a_device_are_not_opened_and_hang_nobody() {
    let place = Place::new();
    let begun = Instant::now();
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    let here = rustix::fs::CWD;
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(here, place.granted("fifo"), fifo, mode, 0).expect("a FIFO");
    let _listener = std::os::unix::net::UnixListener::bind(place.granted("socket"));
    let mut paths = vec!["fifo", "socket"];
    // Only a privileged user can make a device.
    let zero = rustix::fs::makedev(1, 5);
    let device = rustix::fs::FileType::CharacterDevice;
    if rustix::fs::mknodat(here, place.granted("zero"), device, mode, zero).is_ok() {
        paths.push("zero");
    }
    let mut steps = Vec::new();
    for path in &paths {
        for flags in [
            &["read"][..],
            &["write"],
            &["read", "write"],
            &["create", "write"],
            &["truncate"],
        ] {
            steps.push(open(path, flags, "x"));
        }
        steps.push(json!({ "op": "set_times_at", "at": "/data", "path": path, "follow": true }));
    }
    let (told, _) = place.run(place.writable(), json!(steps)).await;
    assert!(told.iter().all(|text| text == "!not-permitted"), "{told:?}");
    assert!(begun.elapsed() < PATIENCE / 2, "something waited");
}

#[tokio::test]
async fn names_of_devices_are_names_like_any_other() {
    let place = Place::new();
    let names_of_devices = ["CON", "NUL", "COM1", "LPT¹", "aux.txt", "C:"];
    let steps: Vec<_> = names_of_devices
        .iter()
        .map(|name| open(name, &["create", "write"], "f"))
        .collect();
    let (told, _) = place.run(place.writable(), json!(steps)).await;
    assert!(told.iter().all(|text| text == "ok"), "{told:?}");
    for name in names_of_devices {
        assert!(place.granted(name).is_file(), "{name}");
    }
    let (told, _) = place
        .run(place.writable(), json!([open("/dev/zero", &["read"], "x")]))
        .await;
    assert_eq!(told, ["!not-permitted"]);
}

#[tokio::test]
async fn what_a_guest_makes_has_plain_permissions() {
    let place = Place::new();
    let steps = json!([
        open("a", &["create", "write"], "a"),
        { "op": "mkdir", "at": "/data", "path": "d" },
    ]);
    let (told, _) = place.run(place.writable(), steps).await;
    assert_eq!(told, ["ok", "ok"]);
    let mode = |path: &str| {
        fs::metadata(place.granted(path))
            .expect("metadata")
            .permissions()
            .mode()
    };
    assert_eq!(
        mode("a") & 0o7111,
        0,
        "no file of a guest is executable or setuid"
    );
    assert_eq!(mode("d") & 0o7000, 0);
}
