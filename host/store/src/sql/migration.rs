//! The schema: numbered scripts, the same numbers for both databases, applied in one
//! transaction under a lock, so that two servers that start at once do not race.
//!
//! Not sqlx's migrator: on SQLite it takes no lock and commits step by step, and it tells
//! a newer database from a changed script only after both.

use super::{Database, Durability, Statement, Transaction};
use crate::{Result, StoreError};

struct Migration {
    sqlite: &'static str,
    postgres: &'static str,
}

/// In order; version 1 is the first. Never changed once released, only added to.
const MIGRATIONS: &[Migration] = &[
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0001_initial.sql"),
        postgres: include_str!("../../../../migrations/postgres/0001_initial.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0002_tools.sql"),
        postgres: include_str!("../../../../migrations/postgres/0002_tools.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0003_agents.sql"),
        postgres: include_str!("../../../../migrations/postgres/0003_agents.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0004_history.sql"),
        postgres: include_str!("../../../../migrations/postgres/0004_history.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0005_run_otids.sql"),
        postgres: include_str!("../../../../migrations/postgres/0005_run_otids.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0006_platform.sql"),
        postgres: include_str!("../../../../migrations/postgres/0006_platform.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0007_mcp.sql"),
        postgres: include_str!("../../../../migrations/postgres/0007_mcp.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0008_folders.sql"),
        postgres: include_str!("../../../../migrations/postgres/0008_folders.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0009_mcp_approvals.sql"),
        postgres: include_str!("../../../../migrations/postgres/0009_mcp_approvals.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0010_turns.sql"),
        postgres: include_str!("../../../../migrations/postgres/0010_turns.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0011_groups.sql"),
        postgres: include_str!("../../../../migrations/postgres/0011_groups.sql"),
    },
    Migration {
        sqlite: include_str!("../../../../migrations/sqlite/0012_message_groups.sql"),
        postgres: include_str!("../../../../migrations/postgres/0012_message_groups.sql"),
    },
];

/// An arbitrary number that all versions of this program use for this lock.
const POSTGRES_LOCK: i64 = 0x6275_6c6b_6865_6164;

const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_versions (
    version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)";

impl Database {
    /// Brings the schema to the newest version that this program knows.
    pub(crate) async fn migrate(&self) -> Result<()> {
        let mut transaction = self.begin(Durability::Power).await?;
        if let Transaction::Postgres(_) = &transaction {
            let lock = Statement::new("SELECT pg_advisory_xact_lock($1)").bind(POSTGRES_LOCK);
            transaction.all(lock).await?;
        }
        transaction.script(VERSIONS).await?;
        let newest = Statement::new("SELECT COALESCE(MAX(version), 0) FROM schema_versions");
        let found = transaction.optional(newest).await?;
        let found = found.map_or(Ok(0), |row| row.int(0))?;
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        if found > known {
            return Err(StoreError::NewerDatabase { found, known });
        }
        for (version, migration) in (1..).zip(MIGRATIONS) {
            if version > found {
                apply(&mut transaction, version, migration).await?;
            }
        }
        transaction.commit().await
    }
}

async fn apply(transaction: &mut Transaction, version: i64, migration: &Migration) -> Result<()> {
    let script = match transaction {
        Transaction::Sqlite(_) => migration.sqlite,
        Transaction::Postgres(_) => migration.postgres,
    };
    transaction.script(script).await?;
    let record = "INSERT INTO schema_versions (version, applied_at) VALUES ($1, $2)";
    let now = bulkhead_domain::Timestamp::now();
    transaction
        .execute(Statement::new(record).bind(version).bind(now))
        .await?;
    tracing::info!(version, "the database schema was brought to this version");
    Ok(())
}
