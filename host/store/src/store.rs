//! The store: an open database and the key that seals its secrets.

use std::sync::Arc;

use crate::{
    InstallationKey, Result, StoreError, compiled_here,
    seal::Sealer,
    sql::{Database, Durability, Options, Statement},
};

/// An open database. Clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    database: Database,
    sealer: Sealer,
}

impl Store {
    /// Opens a database and brings its schema up to date.
    ///
    /// `url` is `sqlite:///path/file.db` (made where it is missing, with its folder),
    /// `sqlite::memory:` (gone when the store is closed), or `postgres://…`. A database from a
    /// newer release, or one that was made with another key, is refused and not changed.
    #[compiled_here]
    pub async fn open(url: &str, key: InstallationKey) -> Result<Self> {
        Self::open_with(url, key, Options::default()).await
    }

    /// Like [`Store::open`], with options.
    #[compiled_here]
    pub async fn open_with(url: &str, key: InstallationKey, options: Options) -> Result<Self> {
        let database = Database::connect(url, &options).await?;
        let store = Self {
            inner: Arc::new(Inner {
                database,
                sealer: Sealer::new(&key),
            }),
        };
        let prepared = store.prepare().await;
        if let Err(error) = prepared {
            store.close().await;
            return Err(error);
        }
        Ok(store)
    }

    async fn prepare(&self) -> Result<()> {
        self.database().migrate().await?;
        let read = "SELECT key_check FROM installation WHERE id = 1";
        let mut check = self.database().optional(Statement::new(read)).await?;
        if check.is_none() {
            let mut transaction = self.database().begin(Durability::Power).await?;
            let insert = "INSERT INTO installation (id, key_check) VALUES (1, $1)
                ON CONFLICT (id) DO NOTHING";
            let insert = Statement::new(insert).bind(self.sealer().key_check()?);
            transaction.defer(insert).await?;
            check = transaction.optional(Statement::new(read)).await?;
            transaction.commit().await?;
        }
        let check = check.ok_or(StoreError::Corrupt {
            what: "key check",
            source: None,
        })?;
        if self.sealer().is_key_check(&check.blob(0)?) {
            Ok(())
        } else {
            Err(StoreError::WrongKey)
        }
    }

    /// Whether the database answers.
    #[compiled_here]
    pub async fn ping(&self) -> Result<()> {
        self.database()
            .all(Statement::new("SELECT 1"))
            .await
            .map(drop)
    }

    /// Waits for what runs, then closes every connection. What is called later fails with
    /// [`StoreError::Unavailable`].
    #[compiled_here]
    pub async fn close(&self) {
        self.database().close().await;
    }

    pub(crate) fn database(&self) -> &Database {
        &self.inner.database
    }

    pub(crate) fn sealer(&self) -> &Sealer {
        &self.inner.sealer
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let driver = match self.database() {
            Database::Sqlite(_) => "sqlite",
            Database::Postgres(_) => "postgres",
        };
        f.debug_struct("Store")
            .field("driver", &driver)
            .finish_non_exhaustive()
    }
}
