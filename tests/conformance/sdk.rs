//! The V1 API's own clients, as their users install them, against a running server: each script in
//! `sdk/` ends with an error and a text where something is not as the client's users expect it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use bulkhead_store::testing::{Kind, TestDatabase};
use tokio::{process::Command, sync::Mutex, time::timeout};

use crate::{
    REQUIRED,
    providers::{Providers, Wire},
    recorded,
    started::started,
};

/// The releases for Python that have users: the last two, of which the former was the last to make
/// tools from functions, and the one that the last server of the V1 API came with.
const RELEASES: [&str; 3] = ["1.7.12", "1.12.0", "1.12.1"];

/// How long a script may take: many times what it does, so that only one that hangs is stopped.
const PATIENCE: Duration = Duration::from_secs(180);

/// The folder of the scripts.
fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/sdk")
}

/// Installs a set of packages that `packages.sh` knows; none where that can't be done, with a
/// notice.
async fn installed(packages: &str) -> Option<PathBuf> {
    /// Tests of this program that want the same packages wait for each other.
    static INSTALLING: Mutex<()> = Mutex::const_new(());
    let _installing = INSTALLING.lock().await;
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

/// Runs a script against the server at `url`, for no longer than `patience`; what it said where it
/// failed.
pub(crate) async fn run(mut script: Command, url: &str, patience: Duration) -> Result<(), String> {
    script.env("BULKHEAD_URL", url);
    // What the clients would read of this machine's own.
    for variable in [
        "LETTA_API_KEY",
        "LETTA_BASE_URL",
        "LETTA_CUSTOM_HEADERS",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        script.env_remove(variable);
    }
    script.env("PYTHONDONTWRITEBYTECODE", "1");
    let ended = timeout(patience, script.kill_on_drop(true).output()).await;
    let ended = ended.map_err(|_| format!("no end after {patience:?}"))?;
    let ended = ended.map_err(|error| error.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stdout, ended.stderr].concat();
    Err(String::from_utf8_lossy(&said).into_owned())
}

/// A script for Python with the packages of a release, or of `requirements-RELEASE.txt`; none where
/// they can't be had. `script` is a path, or a file of `sdk/`.
pub(crate) async fn python(release: &str, script: impl AsRef<Path>) -> Option<(String, Command)> {
    let client = format!("python-{release}");
    let environment = installed(&client).await?;
    let mut python = Command::new(environment.join("bin/python"));
    python.arg(scripts().join(script));
    Some((client, python))
}

/// A script for Node with the client's package; none where it can't be had.
async fn node(script: &str) -> Option<(String, Command)> {
    let packages = installed("node").await?;
    let mut node = Command::new("node");
    node.arg(scripts().join(script))
        .env("NODE_FOLDER", packages);
    Some(("node".to_owned(), node))
}

/// Runs scripts one after the other; what those said that failed.
async fn failures(scripts: Vec<(String, Command)>, url: &str) -> Vec<String> {
    let mut failed = Vec::new();
    for (client, script) in scripts {
        if let Err(said) = run(script, url, PATIENCE).await {
            failed.push(format!("{client}: {said}"));
        }
    }
    failed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_s_own_clients_make_list_change_run_and_delete_tools() {
    let scripts = [
        python("1.12.0", "release_1_12_0.py").await,
        python("1.12.1", "release_1_12_1.py").await,
        node("release.mjs").await,
    ];
    let scripts: Vec<_> = scripts.into_iter().flatten().collect();
    if scripts.is_empty() {
        return;
    }
    let (server, _folder) = started(|_| {}).await;
    let failed = failures(scripts, &server.url()).await;
    server.shutdown().await.unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_s_own_client_finds_on_postgres_what_it_finds_on_sqlite() {
    let newest = RELEASES[RELEASES.len() - 1];
    let Some((client, mut script)) = python(newest, "agents.py").await else {
        return;
    };
    let Some(database) = TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    let url = database.url().to_owned();
    let providers = Providers::start().await;
    script.env("FAKE_OPENAI", providers.openai());
    let (server, _folder) = started(|config| {
        config.database_url = Some(url);
        config.provider_env = providers.environment();
    })
    .await;
    let failed = failures(vec![(client, script)], &server.url()).await;
    server.shutdown().await.unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_s_own_clients_talk_with_agents_whose_models_are_of_every_vendor() {
    let mut scripts = Vec::new();
    for release in RELEASES {
        scripts.extend(python(release, "agents.py").await);
    }
    scripts.extend(node("agents.mjs").await);
    if scripts.is_empty() {
        return;
    }
    let providers = Providers::start().await;
    for (_, script) in &mut scripts {
        script.env("FAKE_OPENAI", providers.openai());
    }
    let (server, _folder) = started(|config| config.provider_env = providers.environment()).await;
    let clients = scripts.len();
    let mut failed = failures(scripts, &server.url()).await;
    server.shutdown().await.unwrap();

    let asked = providers.asked();
    let faults = asked.iter().filter_map(|asked| {
        let fault = asked.fault.as_ref()?;
        Some(format!("{:?}: {fault}: {}", asked.wire, asked.body))
    });
    failed.extend(faults);
    assert!(failed.is_empty(), "{}", failed.join("\n"));

    let talks = recorded::talks(&asked);
    for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini] {
        let talks = talks.get(&wire).map_or(&[][..], Vec::as_slice);
        // Answered as a whole, by step and by token.
        assert_eq!(talks.len(), clients * 3, "{wire:?}");
        for talk in talks {
            assert_eq!(*talk, recorded::expected(wire), "{wire:?}");
        }
    }
}
