//! Settings: each is declared once, in [`Options`], which is at the same time the command
//! line's flags, the `BULKHEAD_*` variables and the keys of the TOML file.
//!
//! Layers, the later ones win: the defaults here, the file, the environment, the flags. clap
//! folds the last two into one `Options`; [`Config::load`] puts the file below it.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use crate::{LimitsPatch, telemetry::LogFormat};

/// The port that clients of this kind of server expect.
const DEFAULT_PORT: u16 = 8283;
/// The settings' file inside the data folder.
const FILE_NAME: &str = "bulkhead.toml";
/// Calls that are running at shutdown may go on for so long; the default deadline of a call is
/// 30 s, and service managers kill after 90 s.
const DEFAULT_GRACE: Duration = Duration::from_secs(20);
/// Connections at once. Each costs a file descriptor; the usual limit of a process is 1,024.
const DEFAULT_CONNECTIONS: usize = 900;
/// `BULKHEAD_TOOL_ENV_NAME=value` gives tools that are granted it the variable `NAME`.
const TOOL_ENV_PREFIX: &str = "BULKHEAD_TOOL_ENV_";

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
    /// Whether the built-in tools are installed at the first start
    #[arg(long, env = "BULKHEAD_BUILTIN_TOOLS", value_name = "BOOL")]
    pub builtin_tools: Option<bool>,
    /// What is logged, for example info or bulkhead_server=debug
    #[arg(long, env = "BULKHEAD_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// How log lines are written
    #[arg(long, env = "BULKHEAD_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Table `[ceiling]` of the file: what a call may ask for at most.
    #[arg(skip)]
    pub ceiling: LimitsPatch,
    /// Table `[env]` of the file: variables for tools that are granted them.
    #[arg(skip)]
    pub env: BTreeMap<String, String>,
}

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
    /// What every request must bring.
    pub token: Option<String>,
    /// The installation key in hex, where it is not in its file.
    pub key: Option<String>,
    /// Sizes of the sandbox. Its cache folder and key are set by the server.
    pub sandbox: bulkhead_sandbox::Settings,
    /// Settings of the way out to the network.
    pub egress: bulkhead_egress::Settings,
    /// Connections at once.
    pub max_connections: usize,
    /// How long running calls may go on at shutdown.
    pub grace: Duration,
    /// Whether the built-in tools are installed at the first start.
    pub builtin_tools: bool,
    /// What is logged; read by [`crate::telemetry::init`].
    pub log: String,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// Variables for tools that are granted them.
    pub env: BTreeMap<String, String>,
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
            token: None,
            key: None,
            sandbox: bulkhead_sandbox::Settings::default(),
            egress: bulkhead_egress::Settings::default(),
            max_connections: DEFAULT_CONNECTIONS,
            grace: DEFAULT_GRACE,
            builtin_tools: true,
            log: "info".to_owned(),
            log_format: LogFormat::Text,
            env: BTreeMap::new(),
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
        options.env.extend(environment.filter_map(|(name, value)| {
            let name = name.strip_prefix(TOOL_ENV_PREFIX)?;
            (!name.is_empty()).then(|| (name.to_owned(), value))
        }));
        options.resolve()
    }

    /// The database's URL.
    pub(crate) fn database(&self) -> String {
        match &self.database_url {
            Some(url) => url.clone(),
            None => format!("sqlite://{}", self.data_dir.join("bulkhead.db").display()),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Token, key, database URL and tools' variables may be secrets.
        f.debug_struct("Config")
            .field("listen", &self.listen)
            .field("data_dir", &self.data_dir)
            .finish_non_exhaustive()
    }
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
    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        toml::from_str(&text).map_err(|error| ConfigError::File {
            path: path.to_owned(),
            message: error.to_string(),
        })
    }

    fn read_if_present(path: &Path) -> Result<Self, ConfigError> {
        match Self::read(path) {
            Err(ConfigError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    fn over(self, file: Self) -> Self {
        let mut env = file.env;
        env.extend(self.env);
        Self {
            config: self.config,
            listen: self.listen.or(file.listen),
            data_dir: self.data_dir.or(file.data_dir),
            database_url: self.database_url.or(file.database_url),
            token: self.token.or(file.token),
            key: self.key.or(file.key),
            slots: self.slots.or(file.slots),
            queue: self.queue.or(file.queue),
            max_connections: self.max_connections.or(file.max_connections),
            cache_mb: self.cache_mb.or(file.cache_mb),
            grace: self.grace.or(file.grace),
            builtin_tools: self.builtin_tools.or(file.builtin_tools),
            log: self.log.or(file.log),
            log_format: self.log_format.or(file.log_format),
            ceiling: self.ceiling.over(file.ceiling),
            env,
        }
    }

    fn resolve(self) -> Result<Config, ConfigError> {
        let data_dir = self
            .data_dir
            .or_else(default_data_dir)
            .ok_or(ConfigError::NoDataDir)?;
        let mut config = Config::new(data_dir);
        config.listen = self.listen.unwrap_or(config.listen);
        config.database_url = self.database_url;
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
        config.builtin_tools = self.builtin_tools.unwrap_or(config.builtin_tools);
        config.log = self.log.unwrap_or(config.log);
        config.log_format = self.log_format.unwrap_or(config.log_format);
        config.env = self.env;
        Ok(config)
    }
}

fn positive(key: &'static str, given: Option<usize>, default: usize) -> Result<usize, ConfigError> {
    match given {
        Some(0) => Err(ConfigError::Invalid {
            key,
            reason: "must be at least 1",
        }),
        given => Ok(given.unwrap_or(default)),
    }
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
fn default_data_dir() -> Option<PathBuf> {
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

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    fn in_folder(file: &str) -> (tempfile::TempDir, Options) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), file).unwrap();
        let options = Options {
            data_dir: Some(folder.path().to_owned()),
            ..Options::default()
        };
        (folder, options)
    }

    fn load(options: Options) -> Result<Config, ConfigError> {
        Config::load_with(options, std::iter::empty())
    }

    #[test]
    fn a_flag_beats_the_file_and_the_file_beats_the_default() {
        let (_folder, mut options) = in_folder("slots = 3\nqueue = 4\n[ceiling]\nfuel = 5\n");
        options.queue = Some(9);
        let config = load(options).unwrap();
        assert_eq!((config.sandbox.slots, config.sandbox.queue), (3, 9));
        assert_eq!(config.sandbox.ceiling.fuel, 5);
        assert_eq!(config.listen.port(), DEFAULT_PORT);
    }

    #[test]
    fn an_unknown_key_is_refused_by_its_name() {
        for file in ["slotz = 3", "[ceiling]\nfule = 3"] {
            let (_folder, options) = in_folder(file);
            let error = load(options).unwrap_err().to_string();
            assert!(error.contains("slotz") || error.contains("fule"), "{error}");
        }
    }

    #[test]
    fn a_file_that_was_named_must_exist() {
        let options = Options {
            config: Some("/nonexistent/b.toml".into()),
            ..Options::default()
        };
        assert!(matches!(load(options), Err(ConfigError::Read { .. })));
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for file in [
            "slots = 0",
            "max_connections = 0",
            "token = ''",
            "token = 'ä'",
        ] {
            let (_folder, options) = in_folder(file);
            assert!(
                matches!(load(options), Err(ConfigError::Invalid { .. })),
                "{file}"
            );
        }
    }

    #[test]
    fn every_flag_has_a_variable_and_a_key_of_the_same_name() {
        let command = Options::augment_args(clap::Command::new("serve"));
        for argument in command.get_arguments() {
            let key = argument.get_id().as_str();
            let variable = argument.get_env().unwrap().to_str().unwrap();
            let expected = match key {
                "database_url" => "DATABASE_URL".to_owned(),
                key => format!("BULKHEAD_{}", key.to_uppercase()),
            };
            assert_eq!(variable, expected);
            let Err(error) = toml::from_str::<Options>(&format!("{key} = {{}}")) else {
                panic!("{key} takes a table");
            };
            assert_eq!(
                error.to_string().contains("unknown field"),
                key == "config",
                "{error}"
            );
        }
    }

    #[test]
    fn tools_variables_come_from_the_file_and_the_environment() {
        let (_folder, options) = in_folder("[env]\nA = '1'\nB = '2'\n");
        let variables = [
            ("BULKHEAD_TOOL_ENV_B", "3"),
            ("BULKHEAD_TOOL_ENV_", "4"),
            ("C", "5"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = Config::load_with(options, variables.into_iter()).unwrap();
        let expected = [("A", "1"), ("B", "3")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(config.env, BTreeMap::from(expected));
    }

    #[test]
    fn no_secret_is_in_the_debug_text() {
        let mut config = Config::new("/tmp");
        config.token = Some("hunter2".to_owned());
        config.database_url = Some("postgres://u:hunter2@h/d".to_owned());
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
