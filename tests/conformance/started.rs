//! Servers for clients. The runtimes of languages, which take long to compile, are compiled once.

use std::path::Path;

use bulkhead_server::{Config, Server};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// A server with SQLite in a folder of its own, which is deleted with the second part.
pub(crate) async fn started(change: impl FnOnce(&mut Config)) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let compiled = compiled().await.path();
    std::fs::copy(compiled.join("cache.key"), folder.path().join("cache.key")).unwrap();
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    for entry in std::fs::read_dir(compiled.join("cache")).unwrap() {
        let from = entry.unwrap().path();
        let to = folder.path().join("cache").join(from.file_name().unwrap());
        if std::fs::hard_link(&from, &to).is_err() {
            std::fs::copy(from, to).unwrap();
        }
    }
    let mut config = config(folder.path());
    change(&mut config);
    (Server::start(config).await.unwrap(), folder)
}

fn config(folder: &Path) -> Config {
    let mut config = Config::new(folder);
    config.listen.set_port(0);
    config.sandbox.slots = 2;
    config
}

/// The data folder of a server that has run both languages.
async fn compiled() -> &'static TempDir {
    static COMPILED: OnceCell<TempDir> = OnceCell::const_new();
    COMPILED
        .get_or_init(|| async {
            // An error says that another test was first.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let folder = tempfile::tempdir().unwrap();
            let server = Server::start(config(folder.path())).await.unwrap();
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let run = async |source: serde_json::Value| {
                let url = format!("{}/v1/tools/run", server.url());
                let answer = client.post(url).json(&source).send().await.unwrap();
                let text = answer.text().await.unwrap();
                assert!(text.contains(r#""status":"success""#), "{text}");
            };
            let python = "def f():\n    \"\"\"Gives one.\"\"\"\n    return 1\n";
            let javascript = "function f() { return 1 }";
            tokio::join!(
                run(json!({"source_code": python, "args": {}})),
                run(json!({
                    "source_type": "javascript", "source_code": javascript, "args": {},
                })),
            );
            server.shutdown().await.unwrap();
            folder
        })
        .await
}
