//! Settings: each is declared once, in [`Options`], which is at the same time the command
//! line's flags, the `BULKHEAD_*` variables and the keys of the TOML file.
//!
//! Layers, the later ones win: the defaults here, the file, the environment, the flags. clap
//! folds the last two into one `Options`; [`Config::load`] puts the file below it.

mod options;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use bulkhead_mcp::PrivateRange;
use bulkhead_policy::Cidr;

pub use self::options::Options;
use self::options::default_data_dir;
use crate::{platform::prices::Prices, telemetry::LogFormat};

/// The port that clients of this kind of server expect.
const DEFAULT_PORT: u16 = 8283;
/// The settings' file inside the data folder.
const FILE_NAME: &str = "bulkhead.toml";
/// Calls that are running at shutdown may go on for so long; the default deadline of a call is
/// 30 s, and service managers kill after 90 s.
const DEFAULT_GRACE: Duration = Duration::from_secs(20);
/// Connections at once. Each costs a file descriptor; the usual limit of a process is 1,024.
const DEFAULT_CONNECTIONS: usize = 900;
/// How long a client may give no sign of life where one is due: far longer than networks fail for a
/// moment, and as long as clients themselves wait for a word.
const DEFAULT_CLIENT_TIMEOUT: Duration = Duration::from_secs(60);
/// Days that receipts are kept: long enough to look into what somebody notices late.
const DEFAULT_RECEIPTS_DAYS: u64 = 30;
/// Receipts that are kept: about one gigabyte of them.
const DEFAULT_RECEIPTS_MAX: u64 = 1_000_000;
/// `BULKHEAD_TOOL_ENV_NAME=value` gives tools that are granted it the variable `NAME`.
const TOOL_ENV_PREFIX: &str = "BULKHEAD_TOOL_ENV_";

/// All settings of a server. [`Config::new`] gives the defaults with a data folder of one's
/// own, as tests and embedders want it; [`Config::load`] what a person configured.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// Where to listen; port 0 for any free one.
    pub listen: SocketAddr,
    /// The folder of the database, the keys and compiled components.
    pub data_dir: PathBuf,
    /// Another database than SQLite in the data folder.
    pub database_url: Option<String>,
    /// Bytes that the SQLite database may have; none for what the disk has.
    pub database_max_bytes: Option<u64>,
    /// What every request must bring.
    pub token: Option<String>,
    /// The installation key in hex, where it is not in its file.
    pub key: Option<String>,
    /// Sizes of the sandbox. Its cache folder and key are set by the server.
    pub sandbox: bulkhead_sandbox::Settings,
    /// Settings of the way out to the network.
    pub egress: bulkhead_egress::Settings,
    /// Settings of the client of MCP servers. Its ranges of addresses are set by the server.
    pub mcp: bulkhead_mcp::Settings,
    /// Private addresses that MCP servers may have; none for those of this machine, where
    /// there is no token, so that whoever can ask this server is on it anyway.
    pub mcp_private: Option<Vec<PrivateRange>>,
    /// Proxies in front of this server, which say by `X-Forwarded-For` for whom they ask.
    pub trusted_proxies: Vec<Cidr>,
    /// Connections at once.
    pub max_connections: usize,
    /// How long a client may take nothing of what it is sent, or on a WebSocket leave a ping without
    /// an answer or a message half sent, before its connection is closed; that ends what goes on for
    /// this client alone.
    pub client_timeout: Duration,
    /// How long running calls may go on at shutdown.
    pub grace: Duration,
    /// Days that receipts are kept.
    pub receipts_days: u64,
    /// Receipts that are kept at most; the oldest go first.
    pub receipts_max: u64,
    /// After this long without a word from the server that works on it, a run has failed. The same
    /// for all servers that share a database; each speaks four times as often.
    pub run_silence: Duration,
    /// Whether built-in tools whose name has no version are installed at each start.
    pub builtin_tools: bool,
    /// What models cost, for the metrics of projects.
    pub prices: Prices,
    /// Whether people may make accounts for themselves; superusers can in any case. None for where this
    /// server listens on this machine alone: elsewhere whoever finds it could.
    pub registration: Option<bool>,
    /// What is logged; read by [`crate::telemetry::init`].
    pub log: String,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// Variables for tools that are granted them.
    pub env: BTreeMap<String, String>,
    /// Variables that name providers of models, by the names that the vendors' own clients read:
    /// `OPENAI_API_KEY`, `OPENAI_BASE_URL` …. [`Config::load`] takes those of the process.
    pub provider_env: BTreeMap<String, String>,
}

/// The settings can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file could not be read.
    #[error("the settings file {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is no TOML, or has an unknown key or a value of another type; the message
    /// names the key.
    #[error("the settings file {} is not valid: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        message: String,
    },
    /// A value can't be used.
    #[error("the setting {key} {reason}")]
    Invalid {
        /// Its name.
        key: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no home folder to put the data folder in.
    #[error("no data folder is known here; set --data-dir or BULKHEAD_DATA_DIR")]
    NoDataDir,
}

impl Config {
    /// The defaults, with everything under `data_dir`.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            data_dir: data_dir.into(),
            database_url: None,
            database_max_bytes: None,
            token: None,
            key: None,
            sandbox: bulkhead_sandbox::Settings::default(),
            egress: bulkhead_egress::Settings::default(),
            mcp: bulkhead_mcp::Settings::default(),
            mcp_private: None,
            trusted_proxies: Vec::new(),
            max_connections: DEFAULT_CONNECTIONS,
            client_timeout: DEFAULT_CLIENT_TIMEOUT,
            grace: DEFAULT_GRACE,
            receipts_days: DEFAULT_RECEIPTS_DAYS,
            receipts_max: DEFAULT_RECEIPTS_MAX,
            run_silence: bulkhead_store::run::SILENCE_MAX,
            builtin_tools: true,
            prices: Prices::default(),
            registration: None,
            log: "info".to_owned(),
            log_format: LogFormat::Text,
            env: BTreeMap::new(),
            provider_env: BTreeMap::new(),
        }
    }

    /// What flags and environment say (`options`), over the file, over the defaults.
    pub fn load(options: Options) -> Result<Self, ConfigError> {
        Self::load_with(
            options,
            std::env::vars_os().filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.into_string().ok()?))
            }),
        )
    }

    fn load_with(
        options: Options,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let file = match &options.config {
            Some(path) => Options::read(path)?,
            None => match options.data_dir.clone().or_else(default_data_dir) {
                Some(folder) => Options::read_if_present(&folder.join(FILE_NAME))?,
                None => Options::default(),
            },
        };
        let mut options = options.over(file);
        let mut provider_env = BTreeMap::new();
        for (name, value) in environment {
            match name.strip_prefix(TOOL_ENV_PREFIX) {
                Some("") => {}
                Some(name) => drop(options.env.insert(name.to_owned(), value)),
                None if names_provider(&name) => drop(provider_env.insert(name, value)),
                None => {}
            }
        }
        let mut config = options.resolve()?;
        config.provider_env = provider_env;
        Ok(config)
    }

    /// Whether people may make accounts for themselves.
    pub(crate) fn is_registration_open(&self) -> bool {
        let is_local = self.listen.ip().to_canonical().is_loopback();
        self.registration.unwrap_or(is_local)
    }

    /// The database's URL.
    pub(crate) fn database(&self) -> String {
        if let Some(url) = &self.database_url {
            return url.clone();
        }
        self.own_database()
    }

    /// Whether other servers may use the same database: any but the data folder's own, which
    /// only the server that has locked the folder opens.
    pub(crate) fn is_shared(&self) -> bool {
        self.database() != self.own_database()
    }

    fn own_database(&self) -> String {
        // In the path of a URL these two have a meaning.
        let path = self.data_dir.join("bulkhead.db").display().to_string();
        format!("sqlite://{}", path.replace('%', "%25").replace('?', "%3F"))
    }
}

/// Whether a variable may name a provider of models. Which of them does, the models' own catalog
/// knows.
fn names_provider(variable: &str) -> bool {
    const ENDS: [&str; 4] = ["_API_KEY", "_BASE_URL", "_API_BASE", "OLLAMA_HOST"];
    ENDS.iter().any(|end| variable.ends_with(end))
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Token, key, database URL and variables may be secrets.
        f.debug_struct("Config")
            .field("listen", &self.listen)
            .field("data_dir", &self.data_dir)
            .finish_non_exhaustive()
    }
}
