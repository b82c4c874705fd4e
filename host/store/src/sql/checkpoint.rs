//! SQLite's log is folded into the database beside the connection that writes.
//!
//! A commit that finds the log long folds it in itself: it writes to two files, syncs both, and every
//! other writer waits meanwhile. A connection of its own does that while others go on to write; the
//! writer does it only where the log grew long nevertheless, and finds most of it done.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use sqlx::SqlitePool;
use tokio::{sync::Notify, task::AbortHandle};

use super::Statement;

/// Commits between two: a megabyte or a few, in a log that the writer folds in at 64.
const COMMITS: u32 = 64;

/// Folds the log in from time to time, until it is dropped.
pub(super) struct Checkpoints {
    connection: SqlitePool,
    commits: Arc<Commits>,
    task: AbortHandle,
}

/// What was committed since the log was folded in.
#[derive(Default)]
pub(super) struct Commits {
    count: AtomicU32,
    enough: Notify,
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
        let task = tokio::spawn(run(connection.clone(), Arc::clone(&commits)));
        Self {
            connection,
            commits,
            task: task.abort_handle(),
        }
    }

    /// Where commits are counted.
    pub(super) fn commits(&self) -> Arc<Commits> {
        Arc::clone(&self.commits)
    }

    /// Ends it, and closes its connection.
    pub(super) async fn close(&self) {
        self.task.abort();
        self.connection.close().await;
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(connection: SqlitePool, commits: Arc<Commits>) {
    loop {
        commits.enough.notified().await;
        // Passive: it waits for nobody, and folds in as much as no reader needs as it was.
        let fold = Statement::new("PRAGMA wal_checkpoint(PASSIVE)").sqlite();
        if let Err(error) = fold.fetch_optional(&connection).await {
            tracing::debug!(%error, "the log was not folded in; the next commits ask again");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::COMMITS;
    use crate::sql::{Database, Durability, Options, Statement};

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
        database.close().await;
    }
}
