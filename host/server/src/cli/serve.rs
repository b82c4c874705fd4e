//! `bulkhead serve`: the server, until it is asked to stop.

use std::path::PathBuf;

use clap::Args;

use super::{error::CliError, exit::Exit, screen::Screen};
use crate::{Config, Options, Server, StartError, telemetry};

const EXAMPLES: &str = "\
Examples:
  bulkhead serve
  BULKHEAD_TOKEN=$(openssl rand -hex 32) bulkhead serve --listen 0.0.0.0:8283
  DATABASE_URL=postgres://bulkhead@db/bulkhead bulkhead serve --log-format json
  BULKHEAD_TOOL_ENV_BULKHEAD_SEARCH_PROVIDER=tavily bulkhead serve

A flag beats its environment variable, that beats the TOML file, and that beats the default. The
file has the same names with underscores, and tables [ceiling] and [env]. The address to listen on
is IP:PORT. BULKHEAD_TOOL_ENV_NAME=value, as NAME = \"value\" under [env], is the variable NAME of
every tool that is granted it. The API is described at /docs and /openapi.json. SIGTERM and Ctrl-C
finish running calls, then end the server.";

/// Run the server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    options: Options,
    /// Write the port to this file once the server listens; for --listen with port 0
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
}

pub(crate) async fn serve(args: ServeArgs, screen: Screen) -> Result<Exit, CliError> {
    let config = Config::load(args.options).map_err(|error| CliError {
        exit: Exit::Usage,
        ..failed("invalid_settings", &error)
    })?;
    telemetry::init(&config.log, config.log_format).map_err(|error| CliError {
        exit: Exit::Usage,
        ..failed("invalid_settings", &error)
    })?;
    // Listened for from the start: a signal during the start must not be lost.
    let mut stop = Stop::listen()?;
    let server = Server::start(config)
        .await
        .map_err(|error| start_error(&error))?;
    if let Some(path) = &args.port_file {
        write_port(path, server.addr().port()).map_err(|error| {
            CliError::host(format_args!("can't write {}", path.display()), error)
        })?;
    }
    if screen.json {
        screen.document(&serde_json::json!({"url": server.url()}));
    } else {
        screen.note(format_args!(
            "bulkhead listens at {}; the API is described at /docs",
            server.url()
        ));
    }
    let handle = server.handle();
    let mut ended = std::pin::pin!(server.wait());
    let served = tokio::select! {
        served = &mut ended => served,
        () = stop.asked() => {
            handle.shutdown();
            tokio::select! {
                served = &mut ended => served,
                // Whoever asks twice does not want to wait for running calls.
                () = stop.asked() => return Ok(Exit::Interrupted),
            }
        }
    };
    served.map_err(|error| failed("host_error", &error))?;
    Ok(Exit::Done)
}

/// Ctrl-C and, on Unix, SIGTERM.
struct Stop {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Stop {
    fn listen() -> Result<Self, CliError> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let terminate = signal(SignalKind::terminate())
                .map_err(|error| CliError::host("signals can't be received", error))?;
            Ok(Self { terminate })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Ends when the process is asked to stop.
    async fn asked(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Written under another name first: whoever waits for the file never reads half a port.
fn write_port(path: &std::path::Path, port: u16) -> std::io::Result<()> {
    let fresh = path.with_extension("tmp");
    std::fs::write(&fresh, format!("{port}\n"))?;
    std::fs::rename(fresh, path)
}

fn start_error(error: &StartError) -> CliError {
    match error {
        StartError::TokenRequired(_) => CliError {
            exit: Exit::Denied,
            ..failed("token_required", error)
        },
        StartError::Listen { .. } => {
            failed("cannot_listen", error).hint("choose another address with --listen")
        }
        _ => failed("start_failed", error),
    }
}

/// The error with everything that it came from.
pub(super) fn failed(code: &str, error: &dyn std::error::Error) -> CliError {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(": ");
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    CliError::new(Exit::Host, code, message)
}
