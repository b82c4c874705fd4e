//! An installation's key and database, for the server and for the commands that need no server.

use bulkhead_store::{InstallationKey, KeyError, Options, Store, StoreError};

use crate::Config;

/// The installation key: the configured one, or that of the data folder, which is made where it is
/// missing.
pub(crate) fn key(config: &Config) -> Result<InstallationKey, KeyError> {
    match &config.key {
        Some(hex) => InstallationKey::from_hex(hex),
        None => InstallationKey::load_or_create(&config.data_dir.join("installation.key")),
    }
}

/// Opens the database, which is made or brought up to date where that is due.
pub(crate) async fn open(config: &Config, key: InstallationKey) -> Result<Store, StoreError> {
    let mut options = Options::default();
    options.sqlite_max_bytes = config.database_max_bytes;
    Store::open_with(&config.database(), key, options).await
}
