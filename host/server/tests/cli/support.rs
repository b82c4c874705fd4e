//! Runs the program.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// The program, with an environment that changes nothing about it.
pub(crate) fn bulkhead(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bulkhead"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("BULKHEAD_") || matches!(&*name, "DATABASE_URL" | "COLUMNS" | "BLESS") {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Ended {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.out,
            self.err
        );
        self
    }

    /// Standard output, which is one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("one JSON document on standard output")
    }
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    bulkhead(arguments)
        .output()
        .expect("the program runs")
        .into()
}

/// Runs the program with something on its standard input.
pub(crate) fn run_with_input(arguments: &[&str], input: &str) -> Ended {
    let mut child = bulkhead(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input.as_bytes()).expect("the program reads");
    drop(pipe);
    child.wait_with_output().expect("the program ends").into()
}

/// A temporary folder with the demo's component in it, and the component's path.
pub(crate) fn demo_component() -> (tempfile::TempDir, String) {
    component("demo.wasm", bulkhead_tools::DEMO)
}

/// A temporary folder with a file in it, and the file's path.
pub(crate) fn component(name: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("writable");
    (folder, text(path))
}

pub(crate) fn text(path: impl Into<PathBuf>) -> String {
    path.into().into_os_string().into_string().expect("UTF-8")
}

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts the program as a server on a free port.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self::start_in(folder, arguments, "warn", Stdio::null())
    }

    /// As [`Server::start`], with a log of everything in the file `log` of its folder.
    pub(crate) fn start_logging() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = std::fs::File::create(folder.path().join("log")).expect("writable");
        Self::start_in(folder, &[], "trace", log.into())
    }

    fn start_in(folder: tempfile::TempDir, arguments: &[&str], log: &str, errors: Stdio) -> Self {
        let port_file = folder.path().join("port");
        let child = bulkhead(&["serve", "--listen", "127.0.0.1:0", "--log", log])
            .args(["--builtin-tools", "false", "--data-dir"])
            .arg(folder.path().join("data"))
            .arg("--port-file")
            .arg(&port_file)
            .args(arguments)
            .stderr(errors)
            .spawn()
            .expect("the program runs");
        let port = wait_for(&port_file);
        Self {
            child,
            url: format!("http://127.0.0.1:{}", port.trim()),
            folder,
        }
    }

    /// A command of the command line against this server.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = bulkhead(arguments);
        command
            .env("BULKHEAD_URL", &self.url)
            .output()
            .expect("the program runs")
            .into()
    }

    /// What it has logged, where it was started by [`Server::start_logging`].
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).expect("a log")
    }

    /// Asks the API, with an access token or none; the status and the answer.
    pub(crate) async fn ask(
        &self,
        method: reqwest::Method,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> (u16, Value) {
        // An error says that another test was first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build();
        let client = client.expect("a client");
        let mut request = client.request(method, format!("{}{path}", self.url));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let request = request.header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await;
        let answer = answer.expect("the server answers");
        let status = answer.status().as_u16();
        let text = answer.text().await.expect("an answer");
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// Its data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Asks the server to stop and gives its exit code.
    #[cfg(unix)]
    pub(crate) fn terminate(mut self) -> Option<i32> {
        signal(&self.child, "TERM");
        self.child.wait().expect("the program ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process that a test started.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
}

/// The text of a file that another process is about to write.
pub(crate) fn wait_for(path: &Path) -> String {
    let start = Instant::now();
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if !text.is_empty() => return text,
            _ if start.elapsed() > Duration::from_secs(60) => {
                panic!("{} was not written", path.display())
            }
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
