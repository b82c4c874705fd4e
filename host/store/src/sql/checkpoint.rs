//! SQLite's log is folded into the database beside the connection that writes.
//!
//! A commit that finds the log long folds it in itself: it writes to two files, syncs both, and every
//! other writer waits meanwhile. A connection of its own does that while others go on to write; the
//! writer does it only where the log grew long nevertheless, and finds most of it written.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use sqlx::{Row as _, SqlitePool};
use tokio::{
    select,
    sync::{Mutex, Notify},
    task::JoinSet,
};

use super::Statement;
use crate::Result;

/// Commits between two: a megabyte or a few, in a log that the writer folds in at 64.
const COMMITS: u32 = 64;

/// The first version of SQLite in which one connection may fold the log in while another begins it
/// anew: in older ones that could, rarely, damage the database (sqlite.org/wal.html, "WAL-reset bug").
const SAFE_SINCE: [u32; 3] = [3, 51, 3];

/// Folds the log in from time to time, until it is dropped.
pub(super) struct Checkpoints {
    connection: SqlitePool,
    commits: Arc<Commits>,
    task: Mutex<JoinSet<()>>,
}

/// What was committed since the log was folded in.
#[derive(Default)]
pub(super) struct Commits {
    count: AtomicU32,
    enough: Notify,
    over: Notify,
}

impl Commits {
    pub(super) fn add(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) + 1 >= COMMITS {
            self.count.store(0, Ordering::Relaxed);
            self.enough.notify_one();
        }
    }
}

impl Checkpoints {
    /// `connection`: to the same database, used by nobody else.
    pub(super) fn start(connection: SqlitePool) -> Self {
        let commits = Arc::new(Commits::default());
        let mut task = JoinSet::new();
        task.spawn(run(connection.clone(), Arc::clone(&commits)));
        Self {
            connection,
            commits,
            task: Mutex::new(task),
        }
    }

    /// Where commits are counted.
    pub(super) fn commits(&self) -> Arc<Commits> {
        Arc::clone(&self.commits)
    }

    /// Ends it, and closes its connection. It is not cut off: a connection that is opened just now
    /// would be the last one to close.
    pub(super) async fn close(&self) {
        self.commits.over.notify_one();
        self.task.lock().await.join_next().await;
        self.connection.close().await;
    }
}

/// Whether the SQLite behind a connection can do this, which is part of this program unless somebody
/// built it with another.
pub(super) async fn are_safe(connection: &SqlitePool) -> Result<bool> {
    let version = sqlx::query("SELECT sqlite_version()");
    let version: String = version.fetch_one(connection).await?.try_get(0)?;
    Ok(is_safe(&version))
}

fn is_safe(version: &str) -> bool {
    let numbers: Vec<u32> = version
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect();
    numbers.as_slice() >= SAFE_SINCE.as_slice()
}

async fn run(connection: SqlitePool, commits: Arc<Commits>) {
    loop {
        select! {
            biased;
            () = commits.over.notified() => return,
            () = commits.enough.notified() => {}
        }
        // Passive: it waits for nobody, and folds in as much as no reader needs as it was.
        let fold = Statement::new("PRAGMA wal_checkpoint(PASSIVE)").sqlite();
        if let Err(error) = fold.fetch_optional(&connection).await {
            tracing::warn!(%error, "the log was not folded in; the next commits ask again");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::{COMMITS, is_safe};
    use crate::sql::{Database, Durability, Options, Statement};

    #[test]
    fn an_older_sqlite_folds_its_log_in_by_itself() {
        for safe in ["3.51.3", "3.52.0", "4.0.0", "3.60"] {
            assert!(is_safe(safe), "{safe}");
        }
        for unsafe_before in ["3.51.2", "3.46.1", "3.9.0", "2.99.99", ""] {
            assert!(!is_safe(unsafe_before), "{unsafe_before}");
        }
    }

    #[tokio::test]
    async fn the_log_is_folded_in_while_the_database_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.db");
        let url = format!("sqlite://{}", file.display());
        let database = Database::connect(&url, &Options::default()).await.unwrap();
        let execute = async |statement: Statement| {
            let mut transaction = database.begin(Durability::Process).await.unwrap();
            transaction.execute(statement).await.unwrap();
            transaction.commit().await.unwrap();
        };
        execute(Statement::new("CREATE TABLE texts (text TEXT NOT NULL)")).await;
        let text = "x".repeat(4096);
        for _ in 0..COMMITS {
            let insert = "INSERT INTO texts (text) VALUES ($1)";
            execute(Statement::new(insert).bind(text.as_str())).await;
        }
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        let written = u64::from(COMMITS) * 4096;
        let folded = async {
            while size(&file) < written {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), folded)
            .await
            .expect("the texts are in the database's file before it is closed");
        // However busy it is just then, the writer closes last and leaves no log behind.
        for _ in 0..COMMITS {
            let insert = "INSERT INTO texts (text) VALUES ($1)";
            execute(Statement::new(insert).bind(text.as_str())).await;
        }
        database.close().await;
        assert!(!folder.path().join("test.db-wal").exists());
    }
}
