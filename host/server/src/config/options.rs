//! The settings as a person gives them, in all their forms.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use super::{Config, ConfigError};
use crate::{LimitsPatch, platform::prices::Prices, telemetry::LogFormat};

/// Settings as a person gives them; what is none comes from the layer below.
#[derive(Clone, Default, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// TOML file with settings [default: bulkhead.toml in the data folder, where there is one]
    #[arg(long, env = "BULKHEAD_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Address to listen on; any but a loopback address needs a token [default: 127.0.0.1:8283]
    #[arg(long, env = "BULKHEAD_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Folder for the database, keys and compiled components [default: the user's data folder]
    #[arg(long, env = "BULKHEAD_DATA_DIR", value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Database, sqlite://PATH or postgres://… [default: SQLite in the data folder]
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,
    /// Megabytes that the SQLite database may have [default: what the disk has]
    #[arg(long, env = "BULKHEAD_DATABASE_MB", value_name = "MB")]
    pub database_mb: Option<u64>,
    /// Access token that every request must bring; better in the environment than here
    #[arg(
        long,
        env = "BULKHEAD_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    pub token: Option<String>,
    /// Key that seals stored credentials, 64 hex digits [default: a file in the data folder]
    #[arg(
        long,
        env = "BULKHEAD_KEY",
        hide_env_values = true,
        hide = true,
        value_name = "HEX"
    )]
    pub key: Option<String>,
    /// Calls that run at once
    #[arg(long, env = "BULKHEAD_SLOTS", value_name = "N")]
    pub slots: Option<usize>,
    /// Calls that may wait for a slot
    #[arg(long, env = "BULKHEAD_QUEUE", value_name = "N")]
    pub queue: Option<usize>,
    /// Connections at once; further ones wait
    #[arg(long, env = "BULKHEAD_MAX_CONNECTIONS", value_name = "N")]
    pub max_connections: Option<usize>,
    /// Megabytes of compiled components that are kept
    #[arg(long, env = "BULKHEAD_CACHE_MB", value_name = "MB")]
    pub cache_mb: Option<u64>,
    /// Seconds that running calls may go on at shutdown
    #[arg(long, env = "BULKHEAD_GRACE", value_name = "SECONDS")]
    pub grace: Option<u64>,
    /// Days that receipts are kept
    #[arg(long, env = "BULKHEAD_RECEIPTS_DAYS", value_name = "DAYS")]
    pub receipts_days: Option<u64>,
    /// Receipts that are kept at most; the oldest go first
    #[arg(long, env = "BULKHEAD_RECEIPTS_MAX", value_name = "N")]
    pub receipts_max: Option<u64>,
    /// Seconds without a word from its server after which an agent's run has failed; the same for
    /// all servers that share a database
    #[arg(long, env = "BULKHEAD_RUN_SILENCE", value_name = "SECONDS")]
    pub run_silence: Option<u64>,
    /// Whether missing built-in tools are installed at each start; false keeps deleted ones away
    #[arg(long, env = "BULKHEAD_BUILTIN_TOOLS", value_name = "BOOL")]
    pub builtin_tools: Option<bool>,
    /// Private addresses that MCP servers may have, between commas: RANGE for servers that are
    /// registered by an address, NAME=RANGE for those registered by that name; or none [default:
    /// loopback where there is no token, otherwise none]
    #[arg(long, env = "BULKHEAD_MCP_PRIVATE", value_name = "RANGES")]
    pub mcp_private: Option<String>,
    /// Addresses of reverse proxies in front of this server, as ranges between commas: what they say
    /// by X-Forwarded-For is whose tries of a password are counted [default: none]
    #[arg(long, env = "BULKHEAD_TRUSTED_PROXIES", value_name = "RANGES")]
    pub trusted_proxies: Option<String>,
    /// Whether people may make accounts for themselves [default: only where the address to listen on is
    /// a loopback address]
    #[arg(long, env = "BULKHEAD_REGISTRATION", value_name = "BOOL")]
    pub registration: Option<bool>,
    /// What is logged, for example info or bulkhead_server=debug
    #[arg(long, env = "BULKHEAD_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// How log lines are written
    #[arg(long, env = "BULKHEAD_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Table `[ceiling]` of the file: what a call may ask for at most.
    #[arg(skip)]
    pub ceiling: LimitsPatch,
    /// Tables `[prices."provider/model"]` of the file: what models cost.
    #[arg(skip)]
    pub prices: Option<Prices>,
    /// Table `[env]` of the file: variables for tools that are granted them.
    #[arg(skip)]
    pub env: BTreeMap<String, String>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As for `Config`.
        f.debug_struct("Options")
            .field("listen", &self.listen)
            .field("data_dir", &self.data_dir)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// The file at `path`.
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        toml::from_str(&text).map_err(|error| ConfigError::File {
            path: path.to_owned(),
            message: error.to_string(),
        })
    }

    /// As [`Options::read`]; nothing where there is no file.
    pub(super) fn read_if_present(path: &Path) -> Result<Self, ConfigError> {
        match Self::read(path) {
            Err(ConfigError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    /// These, where they are given, over those of the file.
    pub(super) fn over(self, file: Self) -> Self {
        let mut env = file.env;
        env.extend(self.env);
        Self {
            config: self.config,
            listen: self.listen.or(file.listen),
            data_dir: self.data_dir.or(file.data_dir),
            database_url: self.database_url.or(file.database_url),
            database_mb: self.database_mb.or(file.database_mb),
            token: self.token.or(file.token),
            key: self.key.or(file.key),
            slots: self.slots.or(file.slots),
            queue: self.queue.or(file.queue),
            max_connections: self.max_connections.or(file.max_connections),
            cache_mb: self.cache_mb.or(file.cache_mb),
            grace: self.grace.or(file.grace),
            receipts_days: self.receipts_days.or(file.receipts_days),
            receipts_max: self.receipts_max.or(file.receipts_max),
            run_silence: self.run_silence.or(file.run_silence),
            builtin_tools: self.builtin_tools.or(file.builtin_tools),
            mcp_private: self.mcp_private.or(file.mcp_private),
            trusted_proxies: self.trusted_proxies.or(file.trusted_proxies),
            registration: self.registration.or(file.registration),
            prices: self.prices.or(file.prices),
            log: self.log.or(file.log),
            log_format: self.log_format.or(file.log_format),
            ceiling: self.ceiling.over(file.ceiling),
            env,
        }
    }

    /// The settings with the defaults below them.
    pub(super) fn resolve(self) -> Result<Config, ConfigError> {
        let data_dir = self
            .data_dir
            .or_else(default_data_dir)
            .ok_or(ConfigError::NoDataDir)?;
        let mut config = Config::new(data_dir);
        config.listen = self.listen.unwrap_or(config.listen);
        config.database_url = self.database_url;
        config.database_max_bytes = self
            .database_mb
            .map(|megabytes| megabytes.saturating_mul(1 << 20));
        config.token = self.token.map(usable_token).transpose()?;
        config.key = self.key;
        config.sandbox.slots = positive("slots", self.slots, config.sandbox.slots)?;
        config.sandbox.queue = self.queue.unwrap_or(config.sandbox.queue);
        config.sandbox.ceiling = self.ceiling.applied_to(&config.sandbox.ceiling);
        if let Some(megabytes) = self.cache_mb {
            config.sandbox.cache_max_bytes = megabytes.saturating_mul(1 << 20);
        }
        config.max_connections = positive(
            "max_connections",
            self.max_connections,
            config.max_connections,
        )?;
        config.grace = self.grace.map_or(config.grace, Duration::from_secs);
        config.receipts_days = positive("receipts_days", self.receipts_days, config.receipts_days)?;
        config.receipts_max = positive("receipts_max", self.receipts_max, config.receipts_max)?;
        let silence = positive(
            "run_silence",
            self.run_silence,
            config.run_silence.as_secs(),
        )?;
        config.run_silence = Duration::from_secs(silence);
        config.builtin_tools = self.builtin_tools.unwrap_or(config.builtin_tools);
        let private = self.mcp_private.as_deref();
        config.mcp_private = private
            .map(|text| entries("mcp_private", PRIVATE, text))
            .transpose()?;
        let proxies = self.trusted_proxies.as_deref().unwrap_or_default();
        config.trusted_proxies = entries("trusted_proxies", RANGES, proxies)?;
        config.registration = self.registration.or(config.registration);
        config.prices = self.prices.unwrap_or_default();
        if let Some(reason) = config.prices.fault() {
            return Err(ConfigError::Invalid {
                key: "prices",
                reason,
            });
        }
        config.log = self.log.unwrap_or(config.log);
        config.log_format = self.log_format.unwrap_or(config.log_format);
        config.env = self.env;
        Ok(config)
    }
}

fn positive<T: PartialEq + From<u8>>(
    key: &'static str,
    given: Option<T>,
    default: T,
) -> Result<T, ConfigError> {
    match given {
        Some(given) if given == T::from(0) => Err(ConfigError::Invalid {
            key,
            reason: "must be at least 1",
        }),
        given => Ok(given.unwrap_or(default)),
    }
}

const PRIVATE: &str = "takes entries like 10.0.0.0/8,mcp.internal=fd00::/8, or none";
const RANGES: &str = "takes ranges like 10.0.0.0/8,fd00::/8, or none";

/// Entries between commas; `none` for none. `form` says what they look like.
fn entries<T: std::str::FromStr>(
    key: &'static str,
    form: &'static str,
    text: &str,
) -> Result<Vec<T>, ConfigError> {
    let text = text.trim();
    if text.is_empty() || text == "none" {
        return Ok(Vec::new());
    }
    let entries = text.split(',').map(|entry| entry.trim().parse());
    let entries: Result<_, T::Err> = entries.collect();
    entries.map_err(|_| ConfigError::Invalid { key, reason: form })
}

fn usable_token(token: String) -> Result<String, ConfigError> {
    let invalid = |reason| {
        Err(ConfigError::Invalid {
            key: "token",
            reason,
        })
    };
    match token.as_bytes() {
        [] => invalid("must not be empty; leave it out for none"),
        bytes if !bytes.iter().all(u8::is_ascii_graphic) => {
            invalid("may have visible ASCII characters only, since it travels in a header")
        }
        _ => Ok(token),
    }
}

/// Where the platform keeps a user's data.
pub(super) fn default_data_dir() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("bulkhead"))
}
