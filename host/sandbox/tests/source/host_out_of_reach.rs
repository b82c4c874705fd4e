//! Source that looks for the host: there is nothing of it to be found.

use bulkhead_domain::Outcome;
use bulkhead_sandbox::SourceReport;
use serde_json::json;

use crate::common::*;

/// Calls a Python tool of these lines.
async fn call(lines: &str) -> SourceReport {
    let text = format!("def t():\n    {}\n", lines.replace('\n', "\n    "));
    Tool::python(&text).tight().call(json!({})).await
}

/// Calls a Python tool of these lines that must raise; gives kind and text.
async fn refused(lines: &str) -> (String, String) {
    let report = call(lines).await;
    assert_eq!(
        outcome(&report),
        Outcome::ToolError,
        "{lines}: {:?}",
        report.report.result
    );
    let exception = raised(report);
    (exception.kind, exception.message)
}

#[tokio::test]
async fn the_environment_of_the_host_is_not_seen() {
    assert!(std::env::var_os("PATH").is_some());
    if has_python() {
        let text = "import os, posix\ndef t():\n    return [dict(os.environ), len(posix.environ), os.getenv('PATH')]\n";
        assert_eq!(
            value(Tool::python(text).call(json!({})).await),
            json!([{}, 0, null])
        );
        let report = Tool::python(text)
            .variables(&[("A", "1"), ("B", "x=y\n")])
            .call(json!({}))
            .await;
        assert_eq!(value(report)[0], json!({"A": "1", "B": "x=y\n"}));
    }
    let text = "function t() { return process.env }";
    assert_eq!(
        value(Tool::javascript(text).call(json!({})).await),
        json!({})
    );
    let report = Tool::javascript(text)
        .variables(&[("A", "1")])
        .call(json!({}))
        .await;
    assert_eq!(value(report), json!({"A": "1"}));
}

#[tokio::test]
async fn the_files_of_the_host_are_not_seen() {
    if !has_python() {
        return;
    }
    for lines in [
        "open('/etc/passwd').read()",
        "open('../../../../etc/passwd').read()",
        "open('/proc/self/environ', 'rb').read()",
        "open(b'/dev/urandom', 'rb').read(1)",
        "import pathlib\nreturn pathlib.Path('/etc/hostname').read_text()",
        "import os\nreturn os.listdir('/')",
        "import os\nreturn os.listdir('.')",
        "import os\nreturn os.stat('/')",
        "open('/tmp/x', 'w').write('x')",
        "open('x', 'w').write('x')",
        "import tempfile\nreturn tempfile.mkdtemp()",
        "import os\nos.symlink('/etc', 'x')",
        "import os\nos.mkdir('/x')",
        "import os\nos.chdir('/etc')",
        "import io\nreturn io.FileIO('/etc/passwd').read()",
        "import os\nreturn os.read(os.open('/etc/passwd', os.O_RDONLY), 9)",
        "import os\nreturn os.read(3, 9)",
        "import shutil\nshutil.rmtree('/')",
        "import sqlite3\nsqlite3.connect('/tmp/x.db').execute('create table t (a)')",
    ] {
        let (kind, message) = refused(lines).await;
        let expected = [
            "FileNotFoundError",
            "OSError",
            "PermissionError",
            "OperationalError",
            "NotADirectoryError",
        ];
        assert!(
            expected.contains(&kind.as_str()),
            "{lines}: {kind}: {message}"
        );
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn processes_sockets_and_native_code_are_refused_with_what_helps() {
    if !has_python() {
        return;
    }
    for (lines, kind, part) in [
        (
            "import subprocess\nsubprocess.run(['id'])",
            "PermissionError",
            "without other processes",
        ),
        (
            "import subprocess\nsubprocess.check_output('id', shell=True)",
            "PermissionError",
            "without other processes",
        ),
        (
            "import os\nos.system('id')",
            "PermissionError",
            "without other processes",
        ),
        (
            "import os\nos.popen('id')",
            "PermissionError",
            "without other processes",
        ),
        (
            "import os\nos.fork()",
            "PermissionError",
            "without other processes",
        ),
        (
            "import multiprocessing\nmultiprocessing.Process(target=print).start()",
            "PermissionError",
            "without other processes",
        ),
        (
            "import socket\nsocket.socket()",
            "PermissionError",
            "for HTTP use requests",
        ),
        (
            "import socket\nsocket.create_connection(('127.0.0.1', 22))",
            "PermissionError",
            "for HTTP use requests",
        ),
        (
            "import socket\nsocket.getaddrinfo('localhost', 80)",
            "PermissionError",
            "for HTTP use requests",
        ),
        (
            "import ctypes\nctypes.CDLL('libc.so.6')",
            "ModuleNotFoundError",
            "without native code",
        ),
        ("import numpy", "ModuleNotFoundError", "pip_requirements"),
        (
            "import pkg_that_is_not_there.part",
            "ModuleNotFoundError",
            "pip_requirements",
        ),
        (
            "import threading\nthreading.Thread(target=print).start()",
            "RuntimeError",
            "one thread",
        ),
    ] {
        let (found, message) = refused(lines).await;
        assert_eq!(found, kind, "{lines}: {message}");
        assert!(message.contains(part), "{lines}: {message}");
    }
    the_next_call_is_unharmed().await;
}

/// What the runtime says of sockets is a courtesy; what keeps them shut is the host.
#[tokio::test]
async fn going_around_the_runtime_leads_nowhere() {
    if !has_python() {
        return;
    }
    for lines in [
        "import _socket\nreturn _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(('127.0.0.1', 22))",
        "import _socket\nreturn _socket.getaddrinfo('localhost', 80)",
        "import _posixsubprocess",
        "import _ctypes",
        "import posix\nreturn posix.open('/etc/passwd', 0)",
        "import importlib\nreturn importlib.import_module('numpy')",
        "import sys, importlib.machinery\nreturn importlib.machinery.ExtensionFileLoader('x', '/lib/x.so').create_module(None)",
    ] {
        let report = call(lines).await;
        // Without the runtime's courtesy the C library gets its refusal from the host, and can stop on it.
        let found = outcome(&report);
        assert!(
            matches!(found, Outcome::ToolError | Outcome::Trap),
            "{lines}: {found}"
        );
    }
    the_next_call_is_unharmed().await;
}

/// The modules of the interface are there for whoever looks: grants are checked behind them.
#[tokio::test]
async fn the_hosts_interfaces_check_what_is_granted_themselves() {
    if !has_python() {
        return;
    }
    for (lines, capability) in [
        (
            "from wit_world.imports import peers\npeers.call('other', '{}')",
            "peers",
        ),
        (
            "from wit_world.imports import state\nstate.get('key')",
            "state",
        ),
        (
            "from wit_world.imports import http\nhttp.fetch(http.Request('GET', 'http://127.0.0.1:1/', [], None, None, None))",
            "http",
        ),
    ] {
        let report = call(lines).await;
        assert_eq!(outcome(&report), Outcome::Denied, "{lines}: {report:?}");
        assert_eq!(report.report.receipt.denials[0].capability, capability);
    }
}

#[tokio::test]
async fn what_the_host_is_stays_unknown() {
    if has_python() {
        let text = "import os, platform, sys\ndef t():\n    \
                    return [sys.platform, platform.node(), sys.argv, sys.path, sys.executable or '']\n";
        let found = value(Tool::python(text).call(json!({})).await);
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        assert_eq!(found[0], "wasi", "{found}");
        assert!(found[1] != json!(host.trim()), "{found}");
        assert_eq!(found[3], json!([]), "{found}");
        let home = std::env::var("HOME").unwrap();
        assert!(!found.to_string().contains(&home), "{found}");
    }
    let text = "function t() { return [typeof Deno, typeof Bun, typeof document, process.argv.length, process.platform] }";
    let found = value(Tool::javascript(text).call(json!({})).await);
    assert_eq!(
        found,
        json!(["undefined", "undefined", "undefined", 0, "wasi"])
    );
}

#[tokio::test]
async fn modules_of_node_are_not_there() {
    for name in [
        "fs",
        "node:fs",
        "child_process",
        "net",
        "os",
        "http",
        "worker_threads",
        "left-pad",
        "../x.js",
    ] {
        for code in [
            format!("require('{name}')"),
            format!("await import('{name}')"),
        ] {
            let report = Tool::javascript(&format!("async function t() {{ return {code} }}"))
                .call(json!({}))
                .await;
            let message = raised(report).message;
            assert!(
                message.contains(&format!("module '{name}' can't be imported")),
                "{code}: {message}"
            );
        }
    }
    the_next_call_is_unharmed().await;
}
