//! A server of one's own for every test.

use std::path::Path;

use bulkhead_server::{Config, Server};
use bulkhead_store::testing::{Kind, TestDatabase};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// A running server and a client that talks to it.
pub(crate) struct TestServer {
    server: Option<Server>,
    client: reqwest::Client,
    url: String,
    config: Config,
    /// Deleted with the server.
    _folder: TempDir,
    /// Where it is not the file in the folder.
    database: Option<TestDatabase>,
}

/// An answer that was read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
    pub(crate) text: String,
}

/// Set where the Python runtime must be there, such as in continuous integration.
const REQUIRE_PYTHON: &str = "BULKHEAD_REQUIRE_PYTHON";

/// Compiled once for all tests of this program, the fixtures and the runtimes of languages: every
/// server starts with these in its cache.
async fn compiled() -> &'static TempDir {
    static COMPILED: OnceCell<TempDir> = OnceCell::const_new();
    COMPILED
        .get_or_init(|| async {
            let folder = tempfile::tempdir().unwrap();
            let server = Server::start(config_in(folder.path())).await.unwrap();
            let url = server.url();
            for (name, bytes) in [
                ("friendly", bulkhead_fixtures::FRIENDLY),
                ("hostile", bulkhead_fixtures::HOSTILE),
                ("plain", bulkhead_fixtures::PLAIN),
            ] {
                let push = client().post(format!("{url}/v1/components?name={name}"));
                let answer = push
                    .header("content-type", "application/wasm")
                    .body(bytes)
                    .send()
                    .await;
                let answer = answer.unwrap();
                let status = answer.status();
                assert_eq!(status, 201, "{name}: {}", answer.text().await.unwrap());
            }
            let mut sources = vec![json!({
                "source_type": "javascript", "source_code": "function f() { return 1 }", "args": {},
            })];
            if has_python() {
                let source = "def f():\n    \"\"\"Gives one.\"\"\"\n    return 1\n";
                sources.push(json!({ "source_code": source, "args": {} }));
            }
            for source in sources {
                let run = client().post(format!("{url}/v1/tools/run")).json(&source);
                let answer = Answer::read(run.send().await.unwrap()).await;
                assert_eq!(answer.body["status"], "success", "{answer:?}");
            }
            server.shutdown().await.unwrap();
            folder
        })
        .await
}

/// Whether this build can run Python; says so where it can't.
pub(crate) fn has_python() -> bool {
    match bulkhead_tools::PYTHON {
        Ok(_) => true,
        Err(reason) if std::env::var_os(REQUIRE_PYTHON).is_some() => panic!("{reason}"),
        Err(reason) => {
            eprintln!("skipped, without the Python runtime: {reason}");
            false
        }
    }
}

fn client() -> reqwest::Client {
    // An error says that another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

fn config_in(folder: &Path) -> Config {
    let mut config = Config::new(folder);
    config.listen.set_port(0);
    config.builtin_tools = false;
    // Address space for many servers in one process.
    config.sandbox.slots = 8;
    config
}

impl TestServer {
    /// With SQLite in its own folder, and the fixtures in the cache.
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// As [`TestServer::start`], with other settings.
    pub(crate) async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        Self::start_on(None, change).await
    }

    /// With a database of this kind; none where it must be Postgres and there is none.
    pub(crate) async fn start_kind(kind: Kind) -> Option<Self> {
        let database = TestDatabase::create(kind).await?;
        Some(Self::start_on(Some(database), |_| {}).await)
    }

    async fn start_on(database: Option<TestDatabase>, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(compiled().await.path(), folder.path(), &["cache.key"]);
        let cache = folder.path().join("cache");
        std::fs::create_dir_all(&cache).unwrap();
        let from = compiled().await.path().join("cache");
        let names: Vec<_> = std::fs::read_dir(&from)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        share(&from, &cache, &names);
        let mut config = config_in(folder.path());
        config.database_url = database.as_ref().map(|database| database.url().to_owned());
        change(&mut config);
        let server = Server::start(config.clone()).await.unwrap();
        let url = server.url();
        let server = Some(server);
        Self {
            server,
            client: client(),
            url,
            config,
            _folder: folder,
            database,
        }
    }

    /// Another server on the database of this one, which was started by [`TestServer::start_kind`].
    pub(crate) async fn beside(&self) -> Self {
        let key = self.data_dir().join("installation.key");
        let key = std::fs::read_to_string(key).unwrap();
        let url = self.database().url().to_owned();
        Self::start_with(|config| {
            config.database_url = Some(url);
            config.key = Some(key.trim().to_owned());
        })
        .await
    }

    /// Other settings for the next start.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
    }

    /// Shuts the server down and starts another one on the same data.
    pub(crate) async fn restart(&mut self) {
        self.shutdown().await;
        self.restart_in_place().await;
    }

    /// Starts another server on the same data, after [`TestServer::shutdown`].
    pub(crate) async fn restart_in_place(&mut self) {
        let server = Server::start(self.config.clone()).await.unwrap();
        self.url = server.url();
        self.server = Some(server);
    }

    pub(crate) async fn shutdown(&mut self) {
        self.server.take().unwrap().shutdown().await.unwrap();
    }

    pub(crate) fn handle(&self) -> bulkhead_server::Handle {
        self.server.as_ref().unwrap().handle()
    }

    pub(crate) async fn wait(&mut self) {
        self.server.take().unwrap().wait().await.unwrap();
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.server.as_ref().unwrap().addr()
    }

    /// The database of a server that was started by [`TestServer::start_kind`].
    pub(crate) fn database(&self) -> &TestDatabase {
        self.database.as_ref().unwrap()
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.config.data_dir
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::read(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::read(
            self.request(Method::POST, path)
                .json(body)
                .send()
                .await
                .unwrap(),
        )
        .await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        let request = self.request(Method::PATCH, path).json(body);
        Answer::read(request.send().await.unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Answer::read(self.request(Method::DELETE, path).send().await.unwrap()).await
    }

    /// Pushes bytes under a name.
    pub(crate) async fn push(&self, name: &str, bytes: impl Into<reqwest::Body>) -> Answer {
        let push = self.request(Method::POST, &format!("/v1/components?name={name}"));
        let push = push.header("content-type", "application/wasm").body(bytes);
        Answer::read(push.send().await.unwrap()).await
    }

    /// Pushes the friendly fixture as `friendly`.
    pub(crate) async fn with_friendly(self) -> Self {
        let pushed = self.push("friendly", bulkhead_fixtures::FRIENDLY).await;
        assert_eq!(pushed.status, 201, "{pushed:?}");
        self
    }

    /// Pushes the hostile fixture as `hostile`.
    pub(crate) async fn with_hostile(self) -> Self {
        let pushed = self.push("hostile", bulkhead_fixtures::HOSTILE).await;
        assert_eq!(pushed.status, 201, "{pushed:?}");
        self
    }

    /// Calls `component/tool`.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Answer {
        self.call_with(tool, json!({ "input": input })).await
    }

    /// Calls `component/tool` with a whole body.
    pub(crate) async fn call_with(&self, tool: &str, body: Value) -> Answer {
        self.post(&call_path(tool), &body).await
    }

    /// Gives a grant and its id.
    pub(crate) async fn grant(&self, body: Value) -> String {
        let granted = self.post("/v1/grants", &body).await;
        assert_eq!(granted.status, 201, "{granted:?}");
        granted.body["id"].as_str().unwrap().to_owned()
    }
}

/// The path of a call of `component/tool`.
pub(crate) fn call_path(tool: &str) -> String {
    let (component, tool) = tool.split_once('/').unwrap();
    format!("/v1/components/{component}/tools/{tool}/call")
}

fn copy(from: &Path, to: &Path, names: &[impl AsRef<Path>]) {
    for name in names {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// As [`copy`], without a second copy on disk where that is possible: the runtimes are large. A
/// test that changes such a file must put another one in its place.
fn share(from: &Path, to: &Path, names: &[impl AsRef<Path>]) {
    for name in names {
        let (from, to) = (from.join(name), to.join(name));
        if std::fs::hard_link(&from, &to).is_err() {
            std::fs::copy(from, to).unwrap();
        }
    }
}

impl Answer {
    pub(crate) async fn read(response: Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Self {
            status,
            headers,
            body,
            text,
        }
    }

    /// The status and the code of a refusal, which always has this shape.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        let error = &self.body["error"];
        assert_eq!(error["message"], self.body["detail"], "{self:?}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{self:?}"
        );
        (self.status.as_u16(), error["code"].as_str().unwrap())
    }

    pub(crate) fn outcome(&self) -> &str {
        assert_eq!(self.status, 200, "{self:?}");
        self.body["outcome"].as_str().unwrap()
    }

    /// The places of all problems.
    pub(crate) fn places(&self) -> Vec<&str> {
        let problems = self.body["error"]["problems"].as_array().unwrap();
        problems
            .iter()
            .map(|problem| problem["at"].as_str().unwrap())
            .collect()
    }
}
