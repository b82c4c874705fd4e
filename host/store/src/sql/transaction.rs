//! A transaction of either driver. Dropped without a commit, it is rolled back.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use sqlx::{Postgres, Sqlite, pool::PoolConnection};

use super::{Row, Statement};
use crate::Result;

pub(crate) enum Transaction {
    Sqlite(SqliteTransaction),
    Postgres(sqlx::Transaction<'static, Postgres>),
}

/// The writer's connection inside a transaction that is begun and ended by plain statements.
///
/// sqlx's own transactions count their depth. SQLite ends a transaction by itself when the
/// disk is full; the driver's rollback then fails, its count stays, and the connection
/// refuses every later transaction. Here a flag says that a transaction may be open, and the
/// pool rolls it back when the connection returns.
pub(crate) struct SqliteTransaction {
    connection: PoolConnection<Sqlite>,
    open: Arc<AtomicBool>,
}

impl SqliteTransaction {
    pub(super) async fn begin(
        mut connection: PoolConnection<Sqlite>,
        open: Arc<AtomicBool>,
    ) -> Result<Self> {
        open.store(true, Ordering::Release);
        Statement::new("BEGIN IMMEDIATE")
            .sqlite()
            .execute(&mut *connection)
            .await?;
        Ok(Self { connection, open })
    }

    /// The setting of the connection, as SQLite numbers it.
    #[cfg(test)]
    pub(super) async fn synchronous(&mut self) -> i64 {
        let query = sqlx::raw_sql("PRAGMA synchronous");
        sqlx::Row::get(&query.fetch_one(&mut *self.connection).await.unwrap(), 0)
    }

    async fn commit(mut self) -> Result<()> {
        Statement::new("COMMIT")
            .sqlite()
            .execute(&mut *self.connection)
            .await?;
        self.open.store(false, Ordering::Release);
        Ok(())
    }
}

impl Transaction {
    /// All rows of a query, or of a statement with RETURNING.
    pub(crate) async fn all(&mut self, statement: Statement) -> Result<Vec<Row>> {
        match self {
            Self::Sqlite(transaction) => {
                let rows = statement
                    .sqlite()
                    .fetch_all(&mut *transaction.connection)
                    .await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
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
            Self::Sqlite(transaction) => {
                let done = statement
                    .sqlite()
                    .execute(&mut *transaction.connection)
                    .await?;
                Ok(done.rows_affected())
            }
            Self::Postgres(transaction) => Ok(statement
                .postgres()
                .execute(&mut **transaction)
                .await?
                .rows_affected()),
        }
    }

    /// Runs a script of several statements without values.
    pub(crate) async fn script(&mut self, script: &'static str) -> Result<()> {
        match self {
            Self::Sqlite(transaction) => {
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
