//! The V1 API's own clients, as their users install them, against a running server: each script in
//! `sdk/` ends with an error and a text where something is not as the client's users expect it.

use std::path::{Path, PathBuf};

use bulkhead_server::{Config, Server};
use tokio::process::Command;

use crate::REQUIRED;

/// The folder of the scripts.
fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/sdk")
}

/// Installs a set of packages that `packages.sh` knows; none where that can't be done, with a
/// notice.
async fn installed(packages: &str) -> Option<PathBuf> {
    if let Err(reason) = bulkhead_tools::PYTHON {
        assert!(std::env::var_os(REQUIRED).is_none(), "{packages}: {reason}");
        eprintln!("skipped, without the Python runtime: {packages}: {reason}");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk");
    let mut install = Command::new("sh");
    install
        .arg(scripts().join("packages.sh"))
        .arg(folder)
        .arg(packages);
    match install.output().await {
        Ok(made) if made.status.success() => {
            let path = String::from_utf8(made.stdout).expect("a path");
            Some(PathBuf::from(path.trim()))
        }
        failed => {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "{packages}: {failed:?}"
            );
            eprintln!("skipped: {packages} needs python3 or node, and a way to its packages");
            None
        }
    }
}

/// Runs a script against a server of its own.
async fn passes(mut script: Command) {
    // An error says that another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(folder.path());
    config.listen.set_port(0);
    config.sandbox.slots = 2;
    let server = Server::start(config).await.unwrap();
    script.env("BULKHEAD_URL", server.url());
    // What the clients would read of this machine's own, and what would stand in the source tree.
    for variable in [
        "LETTA_API_KEY",
        "LETTA_BASE_URL",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        script.env_remove(variable);
    }
    let ended = script
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(ended.status.success(), "{said}");
    server.shutdown().await.unwrap();
}

/// Runs a script of the Python client of this release.
async fn python_passes(release: &str) {
    let Some(environment) = installed(&format!("python-{release}")).await else {
        return;
    };
    let script = scripts().join(format!("release_{}.py", release.replace('.', "_")));
    let mut python = Command::new(environment.join("bin/python"));
    python.arg(script);
    passes(python).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_that_makes_tools_of_functions_works() {
    python_passes("1.12.0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_that_sends_source_works() {
    python_passes("1.12.1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_typescript_client_works() {
    let Some(packages) = installed("node").await else {
        return;
    };
    let mut node = Command::new("node");
    node.arg(scripts().join("release.mjs"))
        .env("NODE_FOLDER", packages);
    passes(node).await;
}
