//! Structured logs. Lines hold names, sizes, ids and outcomes; never inputs, outputs or
//! secrets.

use serde::Deserialize;
use tracing_subscriber::{EnvFilter, fmt};

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The log could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The filter is malformed.
    #[error("the setting log is no filter like info or bulkhead_server=debug")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// This process has a log already.
    #[error("this process has a log already")]
    Twice,
}

/// Sends this process's log to stderr, what `filter` lets through.
pub fn init(filter: &str, format: LogFormat) -> Result<(), LogError> {
    let filter = EnvFilter::try_new(filter)?;
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    }
    .map_err(|_| LogError::Twice)
}
