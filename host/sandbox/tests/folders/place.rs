//! A granted folder, what stands beside it, and calls on it.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::Duration,
};

use bulkhead_domain::HostCallOutcome;
use bulkhead_policy::{Capabilities, FolderRule};
use bulkhead_sandbox::{Authority, Call, Component, Report, Sandbox, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const SECRET: &str = "a secret beside the folder";
/// What no call here needs by far, and what a call that hangs does not reach.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) static ROOM: LazyLock<(Sandbox, Component)> = LazyLock::new(|| {
    // The first test that comes here may run inside a runtime, which can't wait for another.
    let install = || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let sandbox = Sandbox::new(Settings::default()).expect("a sandbox");
        let component = runtime.block_on(sandbox.install(bulkhead_fixtures::FILES));
        (sandbox, component.expect("the fixture installs"))
    };
    std::thread::spawn(install)
        .join()
        .expect("the installation does not panic")
});

/// A granted folder and what stands beside it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for folder in ["granted", "other", "outside", "neighbour"] {
            fs::create_dir(dir.path().join(folder)).expect("a folder");
        }
        fs::write(dir.path().join("outside/secret.txt"), SECRET).expect("a file outside");
        fs::write(dir.path().join("granted/note.txt"), "a note").expect("a file inside");
        Self(dir)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn granted(&self, path: &str) -> PathBuf {
        self.path("granted").join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect(path)
    }

    pub(crate) fn rule(&self, folder: &str, guest: &str, write: bool) -> FolderRule {
        FolderRule {
            host: self.path(folder).display().to_string(),
            guest: guest.to_owned(),
            write,
            quota_bytes: None,
        }
    }

    pub(crate) fn writable(&self) -> Vec<FolderRule> {
        vec![self.rule("granted", "/data", true)]
    }

    pub(crate) fn readable(&self) -> Vec<FolderRule> {
        vec![self.rule("granted", "/data", false)]
    }

    pub(crate) fn limited(&self, quota: u64) -> Vec<FolderRule> {
        vec![FolderRule {
            quota_bytes: Some(quota),
            ..self.rule("granted", "/data", true)
        }]
    }

    /// Runs steps under `rules`, beside a neighbour, and looks at what stands outside.
    pub(crate) async fn run(&self, rules: Vec<FolderRule>, steps: Value) -> (Vec<String>, Report) {
        let input = json!({ "steps": steps, "strict": false });
        let hostile = call("steps", rules, &input);
        let (report, ()) = tokio::join!(hostile, self.neighbour());
        self.assert_outside_untouched();
        (told(&report), report)
    }

    pub(crate) async fn neighbour(&self) {
        let rules = vec![self.rule("neighbour", "/data", true)];
        let steps = json!({ "steps": [
            { "op": "write", "path": "/data/n.txt", "text": "neighbour" },
            { "op": "read", "path": "/data/n.txt" },
        ]});
        let report = call("library_steps", rules, &steps).await;
        assert_eq!(told(&report), ["ok", "neighbour"], "{report:?}");
    }

    pub(crate) fn assert_outside_untouched(&self) {
        assert_eq!(self.read("outside/secret.txt"), SECRET);
        let secret = fs::metadata(self.path("outside/secret.txt")).expect("its metadata");
        assert_eq!(secret.nlink(), 1, "the file outside has another name");
        assert_eq!(names(&self.path("outside")), ["secret.txt"]);
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

pub(crate) async fn call(tool: &str, rules: Vec<FolderRule>, input: &Value) -> Report {
    let (sandbox, component) = &*ROOM;
    let granted = Capabilities {
        folders: rules,
        ..Capabilities::default()
    };
    let authority = Authority::for_tool(component, tool, &granted, None, Vec::new(), "files");
    let authority: Arc<Authority> = authority.expect("the component has the tool");
    let call = Call::new(tool, input.to_string()).with_authority(authority);
    tokio::time::timeout(PATIENCE, sandbox.call(component, call))
        .await
        .expect("the call ends")
}

/// What the guest told of its steps.
pub(crate) fn told(report: &Report) -> Vec<String> {
    let output = report
        .result
        .as_ref()
        .unwrap_or_else(|failure| panic!("{failure}"));
    let told = output.structured.as_ref().expect("a structured result")["told"].clone();
    serde_json::from_value(told).expect("a list of texts")
}

pub(crate) fn open(path: &str, flags: &[&str], name: &str) -> Value {
    json!({ "op": "open", "at": "/data", "path": path, "flags": flags, "name": name })
}

pub(crate) fn denied(report: &Report) -> usize {
    let calls = report.receipt.host_calls.iter();
    calls
        .filter(|call| call.outcome == HostCallOutcome::Denied)
        .count()
}
