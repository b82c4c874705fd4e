//! The program as a process that can be killed and started again on its data.

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use bulkhead_store::{InstallationKey, Store, testing::TestDatabase};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// A server that is not healthy by then will not be.
const START_MOST: Duration = Duration::from_secs(60);
/// On a database that others may share, runs of a dead server count as abandoned after it.
const SILENCE: Duration = Duration::from_secs(2);

/// The program, with the data that outlives it.
pub(crate) struct Program {
    child: Option<Child>,
    folder: tempfile::TempDir,
    database: Option<TestDatabase>,
    client: reqwest::Client,
    url: String,
}

impl Program {
    /// With a data folder of its own, and SQLite in it where there is no other database.
    pub(crate) fn new(database: Option<TestDatabase>) -> Self {
        let client = reqwest::Client::builder().no_proxy();
        Self {
            child: None,
            folder: tempfile::tempdir().unwrap(),
            database,
            client: client.build().unwrap(),
            url: String::new(),
        }
    }

    /// Whether others may use its database.
    pub(crate) fn is_shared(&self) -> bool {
        self.database.is_some()
    }

    /// After this long the runs of its last life have ended.
    pub(crate) fn silence(&self) -> Duration {
        if self.is_shared() {
            SILENCE
        } else {
            Duration::ZERO
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn port_file(&self) -> PathBuf {
        self.folder.path().join("port")
    }

    /// Starts it without waiting for anything.
    pub(crate) fn spawn(&mut self) {
        let _ = std::fs::remove_file(self.port_file());
        let log = self.folder.path().join("log");
        let log = std::fs::File::options().append(true).create(true).open(log);
        let mut command = Command::new(env!("CARGO_BIN_EXE_bulkhead"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("BULKHEAD_") || name == "DATABASE_URL" {
                command.env_remove(name);
            }
        }
        let silence = SILENCE.as_secs().to_string();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn"])
            .args(["--builtin-tools", "false", "--slots", "8"])
            .args(["--run-silence", &silence, "--data-dir"])
            .arg(self.data())
            .arg("--port-file")
            .arg(self.port_file())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.unwrap());
        if let Some(database) = &self.database {
            command.env("DATABASE_URL", database.url());
        }
        self.child = Some(command.spawn().unwrap());
    }

    /// Starts it and waits until it answers.
    pub(crate) async fn start(&mut self) {
        self.spawn();
        let begun = Instant::now();
        loop {
            let port = std::fs::read_to_string(self.port_file()).unwrap_or_default();
            if let Ok(port) = port.trim().parse::<u16>() {
                self.url = format!("http://127.0.0.1:{port}");
                return;
            }
            let ended = self.child.as_mut().unwrap().try_wait().unwrap();
            let slow = begun.elapsed() > START_MOST;
            assert!(ended.is_none() && !slow, "it did not start: {}", self.log());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// SIGKILL: nothing of it is asked, and nothing in it can answer.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// The last lines that its servers logged.
    pub(crate) fn log(&self) -> String {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Its database, past it.
    pub(crate) async fn store(&self) -> Store {
        let key = InstallationKey::load_or_create(&self.data().join("installation.key"));
        let own = format!("sqlite://{}", self.data().join("bulkhead.db").display());
        let url = self.database.as_ref().map_or(&*own, TestDatabase::url);
        Store::open(url, key.unwrap()).await.unwrap()
    }

    /// Where the life that it has now listens.
    pub(crate) fn address(&self) -> SocketAddr {
        let address = self.url.trim_start_matches("http://").parse();
        address.unwrap()
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// A client of the life that it has now, which keeps no connection.
    pub(crate) fn client_without_memory(&self) -> Client {
        let client = reqwest::Client::builder().no_proxy();
        Client {
            client: client.pool_max_idle_per_host(0).build().unwrap(),
            url: self.url.clone(),
        }
    }

    /// A client of the life that it has now.
    pub(crate) fn client(&self) -> Client {
        Client {
            client: self.client.clone(),
            url: self.url.clone(),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            eprintln!("its servers logged last:\n{}", self.log());
        }
    }
}

/// A client of one life.
#[derive(Clone)]
pub(crate) struct Client {
    client: reqwest::Client,
    url: String,
}

impl Client {
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        request.timeout(Duration::from_secs(30))
    }

    /// Reads what must be there.
    pub(crate) async fn get(&self, path: &str) -> Value {
        self.must(Method::GET, path, &Value::Null).await
    }

    /// Posts what must be taken.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        self.must(Method::POST, path, body).await
    }

    /// Asks for what must be done.
    pub(crate) async fn must(&self, method: Method, path: &str, body: &Value) -> Value {
        let mut request = self.request(method.clone(), path);
        if !body.is_null() {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{method} {path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Pushes a component.
    pub(crate) async fn push(&self, name: &str, bytes: &'static [u8]) {
        let push = self.request(Method::POST, &format!("/v1/components?name={name}"));
        let push = push.header("content-type", "application/wasm").body(bytes);
        let answer = push.send().await.unwrap();
        assert_eq!(answer.status(), 201, "{name}");
    }
}
