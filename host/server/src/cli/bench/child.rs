//! A server in a process of its own, as a person would start it.

use std::{
    fs::File,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::process::{Child, Command};

use super::wire::{self, Connection};
use crate::cli::error::CliError;

/// A server that is not healthy by then will not be.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Between two looks: small beside what is measured.
const POLL: Duration = Duration::from_micros(500);

/// Lines of its messages that are told when it fails: the first says why.
const MESSAGES: usize = 5;

/// A running server; it ends with this value.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
    /// From the start of the process to the first healthy answer.
    pub(super) started_in: Duration,
}

impl Server {
    /// Starts this very program as a server on a free port.
    pub(super) async fn start(data: &Path) -> Result<Self, CliError> {
        Self::start_on(data, None).await
    }

    /// The same on this database, or on SQLite in its data folder.
    pub(super) async fn start_on(data: &Path, database: Option<&str>) -> Result<Self, CliError> {
        let program = std::env::current_exe()
            .map_err(|error| CliError::host("this program can't find itself", error))?;
        let port_file = data.join("port");
        // What an earlier server of this run left would be taken for the new one's.
        let _ = std::fs::remove_file(&port_file);
        let log = data.join("stderr.log");
        let said = File::create(&log)
            .map_err(|error| CliError::host("the server's messages have no place", error))?;
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("BULKHEAD_") || name == "DATABASE_URL" {
                command.env_remove(name);
            }
        }
        if let Some(database) = database {
            // Not as an argument, which others on this machine could read.
            command.env("DATABASE_URL", database);
        }
        command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--log",
                "warn",
                "--builtin-tools",
                "false",
            ])
            .arg("--data-dir")
            .arg(data)
            .arg("--port-file")
            .arg(&port_file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .kill_on_drop(true);
        let start = Instant::now();
        let mut child = command
            .spawn()
            .map_err(|error| CliError::host("the server could not be started", error))?;
        loop {
            if let Some(address) = healthy(&port_file).await {
                return Ok(Self {
                    child,
                    address,
                    started_in: start.elapsed(),
                });
            }
            if let Ok(Some(status)) = child.try_wait() {
                return Err(CliError::host(
                    format_args!("the server ended, {status}"),
                    messages(&log),
                ));
            }
            if start.elapsed() > START_TIMEOUT {
                return Err(CliError::host(
                    "the server never was healthy",
                    messages(&log),
                ));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The process, while it runs.
    pub(super) fn process(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends the server and waits until it is gone.
    pub(super) async fn stop(mut self) -> Result<(), CliError> {
        self.child
            .kill()
            .await
            .map_err(|error| CliError::host("the server could not be ended", error))
    }
}

/// What the server said, as far as it helps.
fn messages(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().take(MESSAGES).collect::<Vec<_>>().join("; ")
}

/// The address of the server that wrote this file, once it answers.
async fn healthy(port_file: &Path) -> Option<SocketAddr> {
    let port = std::fs::read_to_string(port_file)
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut connection = Connection::open(address).await.ok()?;
    connection.exchange(&wire::get("/v1/health/")).await.ok()?;
    Some(address)
}
