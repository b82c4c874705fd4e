//! Databases for tests, of this crate and of others.
//!
//! SQLite gets a file in a folder of its own. Postgres gets a fresh database: on the server
//! that `BULKHEAD_TEST_POSTGRES` names, or on a private cluster that the first test of the
//! process starts in a temporary folder and that ends with the process, however that ends.
//! Where no Postgres is installed its tests say so and pass, unless
//! `BULKHEAD_REQUIRE_POSTGRES=1`.
//!
//! ```no_run
//! # use bulkhead_store::testing::{Kind, TestDatabase};
//! # async fn test() {
//! let Some(database) = TestDatabase::create(Kind::Postgres).await else { return };
//! let store = database.open().await;
//! # }
//! ```
//!
//! A failure to set up fails the test: everything here panics where it cannot go on.
#![allow(
    clippy::print_stderr,
    reason = "a test that is skipped says so where tests print"
)]

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    str::FromStr as _,
    sync::OnceLock,
    time::{Duration, Instant},
};

use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection, SqliteConnection,
    postgres::PgConnectOptions,
};

use crate::{InstallationKey, Options, Store, compiled_here};

/// A server to use instead of a private cluster: the URL of a database whose user may create
/// databases.
pub const POSTGRES_URL: &str = "BULKHEAD_TEST_POSTGRES";
/// Set to 1, a missing Postgres fails the tests.
pub const REQUIRE_POSTGRES: &str = "BULKHEAD_REQUIRE_POSTGRES";

/// A cluster is made in 1–3 s on an idle machine; a busy one takes longer.
const CLUSTER_TIMEOUT: Duration = Duration::from_secs(120);

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    Sqlite,
    /// A database of a server.
    Postgres,
}

/// An empty database of its own, deleted when dropped.
#[derive(Debug)]
pub struct TestDatabase {
    kind: Kind,
    url: String,
    key: InstallationKey,
    /// The SQLite file's folder.
    folder: Option<PathBuf>,
}

impl TestDatabase {
    /// A new database; none where it must be Postgres and there is none.
    #[compiled_here]
    pub async fn create(kind: Kind) -> Option<Self> {
        let key = InstallationKey::generate().expect("the system gives random bytes");
        let (url, folder) = match kind {
            Kind::Sqlite => {
                let folder = new_folder();
                (
                    format!("sqlite://{}/test.db", folder.display()),
                    Some(folder),
                )
            }
            Kind::Postgres => (create_postgres_database().await?, None),
        };
        Some(Self {
            kind,
            url,
            key,
            folder,
        })
    }

    /// Which database it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The URL by which a store opens it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The key that [`TestDatabase::open`] uses.
    pub fn key(&self) -> InstallationKey {
        self.key.clone()
    }

    /// The folder of a SQLite file.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Opens it.
    #[compiled_here]
    pub async fn open(&self) -> Store {
        self.open_with(Options::default()).await
    }

    /// Opens it with options.
    #[compiled_here]
    pub async fn open_with(&self, options: Options) -> Store {
        let opened = Store::open_with(&self.url, self.key(), options).await;
        opened.expect("a test's database opens")
    }

    /// Runs a script past the store, as somebody with access to the database can.
    #[compiled_here]
    pub async fn script(&self, script: &str) {
        let script = sqlx::raw_sql(sqlx::AssertSqlSafe(script.to_owned()));
        let (done, closed) = match self.kind {
            Kind::Sqlite => {
                let connection = SqliteConnection::connect(&self.url).await;
                let mut connection = connection.expect("the file can be opened");
                let done = script.execute(&mut connection).await.map(drop);
                (done, connection.close().await)
            }
            Kind::Postgres => {
                let connection = PgConnection::connect(&self.url).await;
                let mut connection = connection.expect("the server takes connections");
                let done = script.execute(&mut connection).await.map(drop);
                (done, connection.close().await)
            }
        };
        done.expect("the script runs");
        closed.expect("the connection closes");
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            std::fs::remove_dir_all(folder).ok();
        } else if std::env::var_os(POSTGRES_URL).is_some() {
            // A private cluster takes its databases with it; a server of others must not
            // keep them.
            drop_postgres_database(&self.url);
        }
    }
}

fn new_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bulkhead-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    folder
}

async fn create_postgres_database() -> Option<String> {
    let server = tokio::task::spawn_blocking(server)
        .await
        .expect("starting a cluster ends")?;
    let options = PgConnectOptions::from_str(server).expect("the server's URL is a Postgres URL");
    let name = format!("bulkhead_{}", uuid::Uuid::new_v4().simple());
    let mut connection = options
        .connect()
        .await
        .expect("the test server takes connections");
    // Sorted by a language's rules where the server can, so that a query that relies on the
    // order of bytes without asking for it fails here.
    let create = format!("CREATE DATABASE {name}");
    let by_language = " TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'";
    let by_language = sqlx::AssertSqlSafe(format!("{create}{by_language}"));
    if sqlx::raw_sql(by_language)
        .execute(&mut connection)
        .await
        .is_err()
    {
        let created = sqlx::raw_sql(sqlx::AssertSqlSafe(create))
            .execute(&mut connection)
            .await;
        created.expect("the test server's user may create databases");
    }
    connection.close().await.ok();
    Some(options.database(&name).to_url_lossy().to_string())
}

fn drop_postgres_database(url: &str) {
    let Ok(options) = PgConnectOptions::from_str(url) else {
        return;
    };
    let Some(name) = options.get_database().map(ToOwned::to_owned) else {
        return;
    };
    let Ok(server) = std::env::var(POSTGRES_URL) else {
        return;
    };
    // A test's own runtime may be about to end, so this has one for itself.
    let dropped = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(mut connection) = PgConnection::connect(&server).await else {
                return;
            };
            let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            sqlx::raw_sql(sqlx::AssertSqlSafe(drop))
                .execute(&mut connection)
                .await
                .ok();
        });
    });
    dropped.join().ok();
}

/// The server of this process.
fn server() -> Option<&'static str> {
    static SERVER: OnceLock<Option<String>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        if let Ok(url) = std::env::var(POSTGRES_URL) {
            return Some(url);
        }
        let Some(programs) = programs() else {
            let required = std::env::var(REQUIRE_POSTGRES).is_ok_and(|value| value == "1");
            assert!(
                !required,
                "{REQUIRE_POSTGRES}=1, but neither initdb nor postgres is installed"
            );
            eprintln!("no Postgres is installed: its tests are skipped");
            return None;
        };
        Some(start_cluster(&programs))
    });
    server.as_deref()
}

/// The folder with `initdb` and `postgres`, of the newest version.
fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut versions: Vec<_> = installed
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse::<u32>().ok()?,
                entry.path(),
            ))
        })
        .collect();
    versions.sort();
    let versions = versions.into_iter().rev().map(|(_, path)| path.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<_> = std::env::split_paths(&path).collect();
    let complete = |folder: &PathBuf| {
        ["initdb", "postgres"]
            .iter()
            .all(|program| folder.join(program).is_file())
    };
    versions.chain(path).find(complete)
}

/// Makes a cluster and starts it. The script's standard input is a pipe from this process:
/// when this process ends, for whatever reason, the pipe closes, and the script stops the
/// server and removes the folder. Where there is `setpriv`, the server also ends with the
/// script.
const CLUSTER: &str = r#"
set -eu
folder=$1 programs=$2
as=
if command -v setpriv >/dev/null; then as='setpriv --pdeathsig INT'; fi
if [ "$(id -u)" = 0 ]; then
    # Postgres refuses to run as root.
    chown postgres "$folder"
    if [ -n "$as" ]; then
        as="$as --reuid=postgres --regid=postgres --init-groups"
    else
        as='runuser -u postgres --'
    fi
fi
cd "$folder"
$as "$programs/initdb" -D "$folder/data" -U bulkhead -A trust -E UTF8 --no-locale --no-sync \
    >initdb.log 2>&1 </dev/null
$as "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= \
    -c fsync=off -c full_page_writes=off -c shared_buffers=32MB -c max_connections=200 \
    >postgres.log 2>&1 </dev/null &
server=$!
trap : INT TERM HUP
trap 'kill -INT $server 2>/dev/null; wait $server; cd /; rm -rf "$folder"' EXIT
cat >/dev/null
"#;

fn start_cluster(programs: &Path) -> String {
    let folder = new_folder();
    let socket = folder.join(".s.PGSQL.5432");
    let (report, started) = std::sync::mpsc::channel();
    let arguments = (folder.clone(), programs.to_owned());
    // A thread that lives as long as the process: it holds the pipe's end.
    std::thread::spawn(move || {
        let spawned = Command::new("sh")
            .args(["-c", CLUSTER, "cluster"])
            .args([&arguments.0, &arguments.1])
            .stdin(Stdio::piped())
            .spawn();
        let mut script = spawned.expect("a shell can be started");
        let pipe = script.stdin.take();
        report.send(script).ok();
        let _pipe = pipe;
        loop {
            std::thread::park();
        }
    });
    let mut script = started.recv().expect("a shell can be started");
    wait_for(&mut script, &socket, &folder);
    let folder = folder.to_string_lossy().replace('/', "%2F");
    format!("postgres://bulkhead@localhost/postgres?host={folder}")
}

fn wait_for(script: &mut Child, socket: &Path, folder: &Path) {
    let deadline = Instant::now() + CLUSTER_TIMEOUT;
    loop {
        // Postgres makes the socket some moments before it takes connections, and writes
        // "ready" into the eighth line of its lock file then.
        let lock = std::fs::read_to_string(folder.join("data/postmaster.pid"));
        if socket.exists()
            && lock.is_ok_and(|lock| lock.lines().nth(7).map(str::trim) == Some("ready"))
        {
            return;
        }
        let ended = script.try_wait().ok().flatten();
        if ended.is_some() || Instant::now() > deadline {
            let log = |name| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            let (initdb, server) = (log("initdb.log"), log("postgres.log"));
            panic!("no Postgres cluster ({ended:?}):\n{initdb}\n{server}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
