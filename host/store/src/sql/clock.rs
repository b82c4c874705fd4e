//! The clock of the database: the same one for all servers that share it. Their own ones may differ
//! by more than the times for which they wait for each other.

use std::time::Duration;

use super::{Database, Transaction};

/// Microseconds since 1970 as an expression, with the precision of milliseconds: of the machine that
/// all who use the file are on.
const SQLITE: &str = "CAST(unixepoch('now', 'subsec') * 1000000 AS INTEGER)";
/// The moment of the statement: a transaction may have waited for long.
const POSTGRES: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";

impl Database {
    /// Now, as an expression in a statement.
    pub(crate) fn clock(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => SQLITE,
            Self::Postgres(_) => POSTGRES,
        }
    }
}

impl Transaction {
    /// Now, as an expression in a statement.
    pub(crate) fn clock(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => SQLITE,
            Self::Postgres(_) => POSTGRES,
        }
    }
}

/// A time as such expressions count it.
pub(crate) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
