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

/// Runs a script against the server at `url`; what it said where it failed.
async fn run(mut script: Command, url: &str) -> Result<(), String> {
    script.env("BULKHEAD_URL", url);
    // What the clients would read of this machine's own.
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
    let ended = script.env("PYTHONDONTWRITEBYTECODE", "1").output();
    let ended = ended.await.map_err(|error| error.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stdout, ended.stderr].concat();
    Err(String::from_utf8_lossy(&said).into_owned())
}

/// The scripts whose clients can be installed here, by what they are called.
async fn installed_scripts() -> Vec<(String, Command)> {
    let mut found = Vec::new();
    for release in ["1.12.0", "1.12.1"] {
        let client = format!("python-{release}");
        if let Some(environment) = installed(&client).await {
            let script = format!("release_{}.py", release.replace('.', "_"));
            let mut python = Command::new(environment.join("bin/python"));
            python.arg(scripts().join(script));
            found.push((client, python));
        }
    }
    if let Some(packages) = installed("node").await {
        let mut node = Command::new("node");
        node.arg(scripts().join("release.mjs"))
            .env("NODE_FOLDER", packages);
        found.push(("node".to_owned(), node));
    }
    found
}

/// One after the other on one server, which compiles the runtimes of languages once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_s_own_clients_make_list_change_run_and_delete_tools() {
    // An error says that another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let scripts = installed_scripts().await;
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(folder.path());
    config.listen.set_port(0);
    config.sandbox.slots = 2;
    let server = Server::start(config).await.unwrap();
    let mut failed = Vec::new();
    for (client, script) in scripts {
        if let Err(said) = run(script, &server.url()).await {
            failed.push(format!("{client}: {said}"));
        }
    }
    server.shutdown().await.unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
