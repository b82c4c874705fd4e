//! Starting, restarting, shutting down.

use std::time::{Duration, Instant};

use bulkhead_server::{Config, Server, StartError};
use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn a_restart_keeps_everything() {
    let mut server = TestServer::start().await.with_friendly().await;
    let grant = json!({ "component": "friendly", "capabilities": { "state": true } });
    server.grant(grant).await;
    let credential = json!({
        "name": "c", "secret": "0123456789", "placement": { "type": "bearer" }, "audience": ["https://a.com"],
    });
    assert_eq!(
        server.post("/v1/credentials", &credential).await.status,
        201
    );
    assert_eq!(
        server.call("friendly/counter", json!({})).await.outcome(),
        "ok"
    );
    let kept = [
        "/v1/components",
        "/v1/grants",
        "/v1/credentials",
        "/v1/receipts",
    ];
    let mut before = Vec::new();
    for path in kept {
        before.push(server.get(path).await.body);
    }
    server.restart().await;
    for (path, before) in kept.iter().zip(before) {
        assert_eq!(server.get(path).await.body, before, "{path}");
    }
    let counted = server.call("friendly/counter", json!({})).await;
    assert_eq!(counted.body["output"]["structured"], json!({ "count": 2 }));
}

#[tokio::test]
async fn a_shutdown_lets_running_calls_finish_and_stores_their_receipts() {
    let mut server = TestServer::start().await.with_friendly().await;
    let (handle, call) = (
        server.handle(),
        server.call("friendly/sleep", json!({ "ms": 700 })),
    );
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        handle.shutdown();
    };
    let (called, ()) = futures::join!(call, stop);
    assert_eq!(called.outcome(), "ok");
    server.wait().await;
    let id = called.body["receipt"]["id"].as_str().unwrap().to_owned();
    server.restart_in_place().await;
    assert_eq!(server.get(&format!("/v1/receipts/{id}")).await.status, 200);
}

#[tokio::test]
async fn a_shutdown_cancels_calls_after_the_grace_and_each_still_has_its_receipt() {
    let mut server =
        TestServer::start_with(|config| config.grace = Duration::from_millis(300)).await;
    server = server.with_hostile().await;
    let (handle, started) = (server.handle(), Instant::now());
    let limits = json!({ "timeout_ms": 60_000, "fuel": 100_000_000_000_u64 });
    let call = server.call_with("hostile/sleep_forever", json!({ "limits": limits }));
    let spin = server.call_with("hostile/spin", json!({ "limits": limits }));
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        handle.shutdown();
    };
    let (called, spun, ()) = futures::join!(call, spin, stop);
    assert_eq!(
        (called.outcome(), spun.outcome()),
        ("cancelled", "cancelled")
    );
    server.wait().await;
    assert!(started.elapsed() < Duration::from_secs(20));
    let url = format!(
        "sqlite://{}",
        server.data_dir().join("bulkhead.db").display()
    );
    let key = bulkhead_store::InstallationKey::load_or_create(
        &server.data_dir().join("installation.key"),
    );
    let store = bulkhead_store::Store::open(&url, key.unwrap())
        .await
        .unwrap();
    let receipts = store.receipts(&Default::default()).await.unwrap();
    assert_eq!(receipts.len(), 2);
    assert!(
        receipts
            .iter()
            .all(|receipt| receipt.outcome.as_str() == "cancelled")
    );
    store.close().await;
}

#[tokio::test]
async fn after_a_shutdown_nobody_listens() {
    let mut server = TestServer::start().await;
    let address = server.address();
    server.shutdown().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn compiled_components_of_another_version_or_hand_are_made_again() {
    let mut server = TestServer::start().await.with_friendly().await;
    server.shutdown().await;
    let cache = server.data_dir().join("cache");
    let mut spoiled = 0;
    for entry in std::fs::read_dir(&cache).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            // Another file: the caches of all tests share theirs.
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, bytes).unwrap();
            spoiled += 1;
        }
    }
    assert!(spoiled > 0);
    // A key of another installation has never signed any of them.
    std::fs::remove_file(server.data_dir().join("cache.key")).unwrap();
    server.restart_in_place().await;
    let called = server
        .call("friendly/add", json!({ "left": 1, "right": 2 }))
        .await;
    assert_eq!(called.body["output"]["structured"], json!({ "sum": 3 }));
}

#[tokio::test]
async fn a_port_that_is_taken_and_a_wrong_key_are_told() {
    let mut server = TestServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(folder.path());
    config.listen = server.address();
    assert!(matches!(
        Server::start(config).await,
        Err(StartError::Listen { .. })
    ));
    server.shutdown().await;
    let mut config = Config::new(server.data_dir());
    config.listen.set_port(0);
    config.key = Some("cd".repeat(32));
    let error = Server::start(config).await.unwrap_err();
    assert!(
        matches!(
            error,
            StartError::Store(bulkhead_store::StoreError::WrongKey)
        ),
        "{error}"
    );
}

#[tokio::test]
async fn the_data_folder_may_have_any_name_and_is_made_private() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("deep/a%20b?c d#é");
    let mut config = Config::new(&data);
    config.listen.set_port(0);
    config.builtin_tools = false;
    Server::start(config)
        .await
        .unwrap()
        .shutdown()
        .await
        .unwrap();
    assert!(data.join("bulkhead.db").is_file());
    #[cfg(unix)]
    for (name, expected) in [
        ("", 0o700),
        ("bulkhead.db", 0o600),
        ("installation.key", 0o600),
        ("cache.key", 0o600),
    ] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(data.join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, expected, "{name}");
    }
}

#[tokio::test]
async fn a_start_with_a_warm_cache_is_fast() {
    // SPECIFICATION.md promises 200 ms of an idle machine; tests share theirs.
    const ALLOWED: Duration = Duration::from_millis(2_000);
    let mut server = TestServer::start().await.with_friendly().await;
    server.shutdown().await;
    let started = Instant::now();
    server.restart_in_place().await;
    assert_eq!(server.get("/v1/health/").await.status, 200);
    let elapsed = started.elapsed();
    assert!(elapsed < ALLOWED, "{elapsed:?}");
}

#[tokio::test]
async fn two_servers_never_run_on_one_data_folder() {
    let mut server = TestServer::start().await;
    let mut config = Config::new(server.data_dir());
    config.listen.set_port(0);
    let error = Server::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::InUse { .. }), "{error}");
    assert!(error.to_string().contains("another server"), "{error}");
    assert_eq!(server.get("/v1/health/").await.status, 200);
    server.restart().await;
}

#[tokio::test]
async fn receipts_beyond_the_number_to_keep_are_deleted() {
    let server = TestServer::start_with(|config| config.receipts_max = 2).await;
    let mut server = server.with_friendly().await;
    for _ in 0..5 {
        let added = server.call("friendly/add", json!({ "left": 1, "right": 2 }));
        assert_eq!(added.await.outcome(), "ok");
    }
    // What was there before is pruned soon after a start.
    server.restart().await;
    let mut left = 0;
    for _ in 0..100 {
        let receipts = server.get("/v1/receipts").await.body;
        left = receipts.as_array().unwrap().len();
        if left == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(left, 2);
}

/// Name and status of all versions, once there are as many as expected.
async fn versions(server: &TestServer, expected: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for _ in 0..600 {
        let listed = server.get("/v1/components").await.body;
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let listed = listed.as_array().unwrap().iter();
        found = listed
            .map(|version| (text(&version["name"]), text(&version["status"])))
            .collect();
        if found.len() == expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    found.sort();
    found
}

#[tokio::test]
async fn the_built_in_tools_are_installed_in_the_background_and_once() {
    let mut server = TestServer::start_with(|config| config.builtin_tools = true).await;
    let installed = versions(&server, 6).await;
    let names: Vec<_> = installed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "fetch_webpage",
            "files",
            "memory",
            "messages",
            "recall",
            "web_search"
        ]
    );
    let before = server.get("/v1/components").await.body;
    server.restart().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.get("/v1/components").await.body, before);
}

#[tokio::test]
async fn a_built_in_tool_never_takes_the_place_of_what_a_person_pushed() {
    let mut server = TestServer::start().await;
    let own = server.push("web_search", bulkhead_fixtures::PLAIN).await;
    assert_eq!(own.body["status"], "active", "{own:?}");
    server.shutdown().await;
    server.change(|config| config.builtin_tools = true);
    server.restart_in_place().await;
    let version = |name: &str, status: &str| (name.to_owned(), status.to_owned());
    let expected = [
        version("fetch_webpage", "active"),
        version("files", "active"),
        version("memory", "active"),
        version("messages", "active"),
        version("recall", "active"),
        version("web_search", "active"),
        version("web_search", "pending"),
    ];
    assert_eq!(versions(&server, 7).await, expected);
    let active = server.get("/v1/components/web_search").await;
    assert_eq!(active.body["digest"], own.body["digest"]);
}
