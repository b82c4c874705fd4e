//! A transaction of either driver. Dropped without a commit, it is rolled back.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::TryStreamExt as _;
use sqlx::{Either, Executor as _, Postgres, Sqlite, SqliteConnection, pool::PoolConnection};

use super::{Row, Statement, checkpoint::Commits};
use crate::Result;

pub(crate) enum Transaction {
    Sqlite(SqliteTransaction),
    Postgres(sqlx::Transaction<'static, Postgres>),
}

/// Bytes of text and values that wait to be sent together. SQLite takes a million of text at once.
const WAITING_MAX: usize = 256 << 10;

/// The writer's connection inside a transaction that is begun and ended by plain statements.
///
/// Every message to the connection's thread costs two switches between threads, more than a
/// statement costs SQLite. So the begin and what nobody waits for are sent with the next statement
/// that somebody waits for.
///
/// sqlx's own transactions count their depth. SQLite ends a transaction by itself when the
/// disk is full; the driver's rollback then fails, its count stays, and the connection
/// refuses every later transaction. Here a flag says that a transaction may be open, and the
/// pool rolls it back when the connection returns.
pub(crate) struct SqliteTransaction {
    connection: PoolConnection<Sqlite>,
    open: Arc<AtomicBool>,
    /// What is sent before the next statement that somebody waits for.
    waiting: Option<Statement>,
    commits: Option<Arc<Commits>>,
}

impl SqliteTransaction {
    pub(super) fn begin(
        connection: PoolConnection<Sqlite>,
        open: Arc<AtomicBool>,
        commits: Option<Arc<Commits>>,
    ) -> Self {
        Self {
            connection,
            open,
            commits,
            waiting: Some(Statement::new("BEGIN IMMEDIATE")),
        }
    }

    /// A statement behind those that wait.
    fn with_waiting(&mut self, statement: Statement) -> Statement {
        self.open.store(true, Ordering::Release);
        match self.waiting.take() {
            None => statement,
            Some(mut waiting) => {
                waiting.append(statement);
                waiting
            }
        }
    }

    async fn flush(&mut self) -> Result<()> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        self.open.store(true, Ordering::Release);
        waiting.sqlite().execute(&mut *self.connection).await?;
        Ok(())
    }

    async fn defer(&mut self, statement: Statement) -> Result<()> {
        let all = self.with_waiting(statement);
        let is_much = all.size() > WAITING_MAX;
        self.waiting = Some(all);
        match is_much {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    async fn all(&mut self, statement: Statement) -> Result<Vec<Row>> {
        let all = self.with_waiting(statement);
        Ok(answers(&mut self.connection, all)
            .await?
            .pop()
            .map_or_else(Vec::new, |last| last.rows))
    }

    async fn each(&mut self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        let count = statements.len();
        let Some(all) = together(statements) else {
            return Ok(Vec::new());
        };
        let all = self.with_waiting(all);
        let mut answers = answers(&mut self.connection, all).await?;
        let waited = answers.len().saturating_sub(count);
        Ok(answers.drain(waited..).map(|answer| answer.rows).collect())
    }

    async fn execute(&mut self, statement: Statement) -> Result<u64> {
        let all = self.with_waiting(statement);
        let last = answers(&mut self.connection, all).await?.pop();
        Ok(last.map_or(0, |last| last.changed))
    }

    /// The setting of the connection, as SQLite numbers it.
    #[cfg(test)]
    pub(super) async fn synchronous(&mut self) -> i64 {
        let query = sqlx::raw_sql("PRAGMA synchronous");
        sqlx::Row::get(&query.fetch_one(&mut *self.connection).await.unwrap(), 0)
    }

    async fn commit(mut self) -> Result<()> {
        let all = self.with_waiting(Statement::new("COMMIT")).sqlite();
        all.execute(&mut *self.connection).await?;
        self.open.store(false, Ordering::Release);
        if let Some(commits) = &self.commits {
            commits.add();
        }
        Ok(())
    }
}

/// What SQLite answered to one of several statements.
struct Answer {
    rows: Vec<Row>,
    changed: u64,
}

/// What SQLite answers to statements that are sent together, one answer to each.
async fn answers(connection: &mut SqliteConnection, all: Statement) -> Result<Vec<Answer>> {
    let mut pieces = connection.fetch_many(all.sqlite());
    let mut answers = Vec::new();
    let mut rows = Vec::new();
    while let Some(piece) = pieces.try_next().await? {
        match piece {
            Either::Right(row) => rows.push(Row::Sqlite(row)),
            Either::Left(done) => answers.push(Answer {
                rows: std::mem::take(&mut rows),
                changed: done.rows_affected(),
            }),
        }
    }
    Ok(answers)
}

/// Statements as one message to SQLite.
fn together(statements: Vec<Statement>) -> Option<Statement> {
    statements.into_iter().reduce(|mut all, next| {
        all.append(next);
        all
    })
}

/// The rows of several queries, sent to SQLite together.
pub(super) async fn each(
    connection: &mut SqliteConnection,
    statements: Vec<Statement>,
) -> Result<Vec<Vec<Row>>> {
    let Some(all) = together(statements) else {
        return Ok(Vec::new());
    };
    let answers = answers(connection, all).await?;
    Ok(answers.into_iter().map(|answer| answer.rows).collect())
}

impl Transaction {
    /// The rows of each of several queries, none of which needs another's answer.
    pub(crate) async fn each(&mut self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        if let Self::Sqlite(transaction) = self {
            return transaction.each(statements).await;
        }
        let mut answers = Vec::with_capacity(statements.len());
        for statement in statements {
            answers.push(self.all(statement).await?);
        }
        Ok(answers)
    }

    /// All rows of a query, or of a statement with RETURNING.
    pub(crate) async fn all(&mut self, statement: Statement) -> Result<Vec<Row>> {
        match self {
            Self::Sqlite(transaction) => transaction.all(statement).await,
            Self::Postgres(transaction) => {
                let rows = statement.postgres().fetch_all(&mut **transaction).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    /// The row of a statement that gives one at most.
    pub(crate) async fn optional(&mut self, statement: Statement) -> Result<Option<Row>> {
        Ok(self.all(statement).await?.pop())
    }

    /// What follows a query whose rows nobody else may change or delete until the end of the
    /// transaction. Others may still refer to them. SQLite has one writer anyway.
    pub(crate) fn for_update(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " FOR NO KEY UPDATE",
        }
    }

    /// What follows a query whose rows nobody else may delete until the end of the transaction.
    pub(crate) fn for_reference(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " FOR KEY SHARE",
        }
    }

    /// Runs a statement; gives the number of rows that it changed.
    pub(crate) async fn execute(&mut self, statement: Statement) -> Result<u64> {
        match self {
            Self::Sqlite(transaction) => transaction.execute(statement).await,
            Self::Postgres(transaction) => Ok(statement
                .postgres()
                .execute(&mut **transaction)
                .await?
                .rows_affected()),
        }
    }

    /// Runs a statement for which nobody waits. Where it fails, a later one or the commit says so.
    pub(crate) async fn defer(&mut self, statement: Statement) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => transaction.defer(statement).await,
            Self::Postgres(_) => self.execute(statement).await.map(drop),
        }
    }

    /// Runs a script of several statements without values.
    pub(crate) async fn script(&mut self, script: &'static str) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => {
                transaction.flush().await?;
                sqlx::raw_sql(script)
                    .execute(&mut *transaction.connection)
                    .await?;
            }
            Self::Postgres(transaction) => {
                sqlx::raw_sql(script).execute(&mut **transaction).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().await,
            Self::Postgres(transaction) => Ok(transaction.commit().await?),
        }
    }
}
