//! The pools of either driver.

use std::{
    path::Path,
    str::FromStr as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{
    PgPool, SqlitePool,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    Row, Statement, Transaction,
    checkpoint::{self, Checkpoints},
    transaction::{self, SqliteTransaction},
};
use crate::{Result, StoreError};

/// How long SQLite waits for another process that writes. Within this process writers queue
/// for the one connection instead.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Each is a thread with a page cache of up to 2 MB. More than a few gain nothing: reads are
/// short, and they wait for a free one.
const SQLITE_READERS: u32 = 4;
/// The log of changes shrinks back to this after a burst; otherwise it keeps its largest size.
const SQLITE_LOG_BYTES: &str = "67108864";
/// Pages in the log from which on a commit folds it into the database, where nobody else did: 64 MB.
const SQLITE_LOG_PAGES: &str = "16000";
/// Well below Postgres' default of 100, so that several servers share one database.
const POSTGRES_CONNECTIONS: u32 = 16;
/// Beside them, for what must not wait until one of them is free.
const POSTGRES_RESERVED: u32 = 1;
/// How long a call waits for a connection before it is told that the database is unavailable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// What SQLite's pages measure unless a database was made with another size.
const SQLITE_PAGE_BYTES: u64 = 4096;

/// What must happen to a commit before it is acknowledged. Postgres always does its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It survives a crash of this process; a loss of power may take the last ones.
    Process,
    /// It survives a loss of power.
    Power,
}

/// What may differ from one database to another.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// The size beyond which a SQLite database refuses to grow ([`StoreError::Full`]).
    /// Postgres has quotas of its own.
    pub sqlite_max_bytes: Option<u64>,
}

pub(crate) enum Database {
    Sqlite(SqliteDatabase),
    Postgres(PostgresDatabase),
}

pub(crate) struct PostgresDatabase {
    pool: PgPool,
    /// Connected when it is needed first.
    reserved: PgPool,
}

pub(crate) struct SqliteDatabase {
    /// One connection: SQLite has one writer, and waiting here is fair and takes no timer.
    writer: SqlitePool,
    /// The same pool for a database in memory, which is the property of its connection.
    readers: SqlitePool,
    /// Whether the writer's connection may be inside a transaction. Set by whoever begins
    /// one, cleared by its commit or by the pool's rollback.
    open: Arc<AtomicBool>,
    /// Whether the writer's connection may be set to [`Durability::Power`].
    full_sync: AtomicBool,
    /// None for a database in memory, which has no log, and where SQLite is too old.
    checkpoints: Option<Checkpoints>,
}

impl Database {
    pub(crate) async fn connect(url: &str, options: &Options) -> Result<Self> {
        let scheme = url.split(':').next().unwrap_or_default();
        match scheme {
            "sqlite" => Ok(Self::Sqlite(SqliteDatabase::connect(url, options).await?)),
            "postgres" | "postgresql" => Ok(Self::Postgres(PostgresDatabase::connect(url).await?)),
            _ => Err(StoreError::Url(None)),
        }
    }

    /// All rows of a query, outside any transaction.
    pub(crate) async fn all(&self, statement: Statement) -> Result<Vec<Row>> {
        match self {
            Self::Sqlite(database) => {
                let rows = statement.sqlite().fetch_all(&database.readers).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Self::Postgres(database) => {
                let rows = statement.postgres().fetch_all(&database.pool).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    /// The rows of each of several queries, none of which needs another's answer. They see the
    /// database at different moments.
    pub(crate) async fn each(&self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        match self {
            Self::Sqlite(database) => {
                let mut connection = database.readers.acquire().await?;
                transaction::each(&mut connection, statements).await
            }
            Self::Postgres(_) => {
                let mut answers = Vec::with_capacity(statements.len());
                for statement in statements {
                    answers.push(self.all(statement).await?);
                }
                Ok(answers)
            }
        }
    }

    /// The row of a query that gives one at most.
    pub(crate) async fn optional(&self, statement: Statement) -> Result<Option<Row>> {
        Ok(self.all(statement).await?.pop())
    }

    pub(crate) async fn begin(&self, durability: Durability) -> Result<Transaction> {
        match self {
            Self::Sqlite(database) => database.begin(durability).await.map(Transaction::Sqlite),
            Self::Postgres(database) => Ok(Transaction::Postgres(database.pool.begin().await?)),
        }
    }

    /// Runs a statement that must not wait until others are done, in a transaction of its own. On
    /// Postgres it has a connection of its own; SQLite has one writer, and it takes its turn.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] where it took longer than `most`.
    pub(crate) async fn execute_at_once(&self, statement: Statement, most: Duration) -> Result<()> {
        let late = || StoreError::from(sqlx::Error::PoolTimedOut);
        match self {
            Self::Sqlite(_) => {
                let executed = async {
                    let mut transaction = self.begin(Durability::Process).await?;
                    transaction.execute(statement).await?;
                    transaction.commit().await
                };
                let executed = tokio::time::timeout(most, executed).await;
                executed.unwrap_or_else(|_| Err(late()))
            }
            Self::Postgres(database) => {
                let acquired = tokio::time::timeout(most, database.reserved.acquire()).await;
                let mut connection = acquired.map_err(|_| late())??;
                let executed = statement.postgres().execute(&mut *connection);
                if let Ok(executed) = tokio::time::timeout(most, executed).await {
                    executed?;
                    return Ok(());
                }
                // Whoever comes next does not wait for its answer: it may never come.
                drop(connection.detach());
                Err(late())
            }
        }
    }

    /// What follows a query whose rows nobody else may change until the end of the transaction, and
    /// that leaves out those which somebody else is changing. SQLite has one writer anyway.
    pub(crate) fn skip_locked(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " FOR NO KEY UPDATE SKIP LOCKED",
        }
    }

    /// Waits for what runs, then closes every connection.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(database) => {
                // The last connection to close folds the log into the database: the writer's.
                if let Some(checkpoints) = &database.checkpoints {
                    checkpoints.close().await;
                }
                database.readers.close().await;
                database.writer.close().await;
            }
            Self::Postgres(database) => {
                database.reserved.close().await;
                database.pool.close().await;
            }
        }
    }
}

impl SqliteDatabase {
    async fn connect(url: &str, options: &Options) -> Result<Self> {
        let parsed = SqliteConnectOptions::from_str(url)?;
        let in_memory = url.contains(":memory:") || url.contains("mode=memory");
        if !in_memory {
            create_private(parsed.get_filename()).map_err(sqlx::Error::Io)?;
        }
        let mut connect = parsed
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .synchronous(SqliteSynchronous::Normal)
            .pragma("journal_size_limit", SQLITE_LOG_BYTES)
            .pragma("wal_autocheckpoint", SQLITE_LOG_PAGES)
            .pragma("temp_store", "memory");
        if !in_memory {
            connect = connect.journal_mode(SqliteJournalMode::Wal);
        }
        // They are opened when they are needed; the writer has made the file by then.
        let beside = connect.clone().create_if_missing(false);
        let reader = beside.clone().pragma("query_only", "1");
        if let Some(bytes) = options.sqlite_max_bytes {
            let pages = (bytes / SQLITE_PAGE_BYTES).max(1);
            connect = connect.pragma("max_page_count", pages.to_string());
        }
        let open = Arc::new(AtomicBool::new(false));
        let writer = writer_pool(Arc::clone(&open)).connect_with(connect).await?;
        let (readers, checkpoints) = if in_memory {
            (writer.clone(), None)
        } else {
            let readers = pool_options(SQLITE_READERS).connect_lazy_with(reader);
            let checkpoints = match checkpoint::are_safe(&writer).await? {
                true => Some(Checkpoints::start(
                    pool_options(1).connect_lazy_with(beside),
                )),
                false => None,
            };
            (readers, checkpoints)
        };
        Ok(Self {
            writer,
            readers,
            open,
            full_sync: AtomicBool::new(false),
            checkpoints,
        })
    }

    async fn begin(&self, durability: Durability) -> Result<SqliteTransaction> {
        let mut connection = self.writer.acquire().await?;
        // The setting belongs to the connection. The flag says "full" whenever it may be, and
        // "full" is set anew each time, so a replaced connection is never taken for a full one.
        // Not by a prepared statement: this PRAGMA acts while it is prepared, not when it runs.
        if durability == Durability::Power {
            self.full_sync.store(true, Ordering::Release);
            sqlx::raw_sql("PRAGMA synchronous = FULL")
                .execute(&mut *connection)
                .await?;
        } else if self.full_sync.load(Ordering::Acquire) {
            sqlx::raw_sql("PRAGMA synchronous = NORMAL")
                .execute(&mut *connection)
                .await?;
            self.full_sync.store(false, Ordering::Release);
        }
        let commits = self.checkpoints.as_ref().map(Checkpoints::commits);
        let open = Arc::clone(&self.open);
        Ok(SqliteTransaction::begin(connection, open, commits))
    }
}

/// Connections are kept for good and not probed: nothing but this process can break them.
fn pool_options(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
}

fn writer_pool(open: Arc<AtomicBool>) -> SqlitePoolOptions {
    pool_options(1).after_release(move |connection, _| {
        let open = Arc::clone(&open);
        Box::pin(async move {
            if open.load(Ordering::Acquire) {
                // An error says that SQLite has already ended the transaction by itself.
                let rolled_back = Statement::new("ROLLBACK")
                    .sqlite()
                    .execute(&mut *connection)
                    .await;
                if let Err(error) = rolled_back {
                    tracing::debug!(%error, "the transaction had ended before its rollback");
                }
                open.store(false, Ordering::Release);
            }
            Ok(true)
        })
    })
}

impl PostgresDatabase {
    async fn connect(url: &str) -> Result<Self> {
        let connect = PgConnectOptions::from_str(url)?.application_name("bulkhead");
        let options = |connections| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(ACQUIRE_TIMEOUT)
        };
        let reserved = options(POSTGRES_RESERVED).connect_lazy_with(connect.clone());
        let pool = options(POSTGRES_CONNECTIONS).connect_with(connect);
        Ok(Self {
            pool: pool.await?,
            reserved,
        })
    }
}

/// Makes the file for its owner alone; SQLite gives its log the same mode.
fn create_private(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_commit_is_synced_as_its_transaction_asked() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/test.db", folder.path().display());
        let database = Database::connect(&url, &Options::default()).await.unwrap();
        let (normal, full) = (1, 2);
        for (durability, expected) in [
            (Durability::Process, normal),
            (Durability::Power, full),
            (Durability::Process, normal),
            (Durability::Power, full),
            (Durability::Power, full),
            (Durability::Process, normal),
        ] {
            let mut transaction = database.begin(durability).await.unwrap();
            // Read without a prepared statement, for the same reason as it is set.
            let Transaction::Sqlite(sqlite) = &mut transaction else {
                panic!("not SQLite")
            };
            assert_eq!(sqlite.synchronous().await, expected);
            transaction.commit().await.unwrap();
        }
    }
}
