//! The database of an installation, opened without its server.

use std::path::PathBuf;

use bulkhead_store::Store;
use clap::Args;

use crate::{
    Config, Options,
    cli::{error::CliError, exit::Exit, serve::failed},
    data_dir, database,
};

/// Which installation: the same settings as those of `bulkhead serve`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Installation")]
pub(super) struct DatabaseArgs {
    /// TOML file with the server's settings [default: bulkhead.toml in the data folder, where there
    /// is one]
    #[arg(long, env = "BULKHEAD_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the server's database and keys [default: the user's data folder]
    #[arg(long, env = "BULKHEAD_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The server's database, sqlite://PATH or postgres://… [default: SQLite in the data folder]
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: Option<String>,
    /// Key of the installation, 64 hex digits [default: a file in the data folder]
    #[arg(
        long,
        env = "BULKHEAD_KEY",
        hide_env_values = true,
        hide = true,
        value_name = "HEX"
    )]
    key: Option<String>,
}

impl DatabaseArgs {
    /// Opens the database, made where it is missing, as `serve` does it.
    pub(super) async fn open(self) -> Result<Store, CliError> {
        let options = Options {
            config: self.config,
            data_dir: self.data_dir,
            database_url: self.database_url,
            key: self.key,
            ..Options::default()
        };
        let config = Config::load(options).map_err(|error| CliError {
            exit: Exit::Usage,
            ..failed("invalid_settings", &error)
        })?;
        let folder = &config.data_dir;
        data_dir::make_private(folder).map_err(|error| {
            CliError::host(
                format_args!("the data folder {} cannot be used", folder.display()),
                error,
            )
        })?;
        let key = database::key(&config).map_err(|error| failed("key_error", &error))?;
        let store = database::open(&config, key).await;
        store.map_err(|error| failed("database_error", &error))
    }
}
