//! Sandbox configurations: what clients set up for all tools of one kind of sandbox.

use bulkhead_domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Result, SandboxType, Store, StoreError, Upserted, check, compiled_here,
    sql::{Durability, Row, Statement, Transaction},
};

/// Bytes of a configuration: a list of requirements with some thousand entries fits.
pub const SANDBOX_CONFIG_MAX: usize = 256 << 10;

const COLUMNS: &str = "id, sandbox_type, config, created_by_id, last_updated_by_id,
    created_at, updated_at";

/// A configuration to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSandboxConfig {
    /// For which kind of sandbox.
    pub sandbox_type: SandboxType,
    /// What is configured, as the client wrote it.
    pub config: Value,
    /// Who saves it.
    pub user_id: Option<String>,
}

/// A stored configuration. There is one a kind of sandbox at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SandboxConfig {
    /// `sandbox-<uuid>`.
    pub id: String,
    /// For which kind of sandbox.
    #[serde(rename = "type")]
    pub sandbox_type: SandboxType,
    /// What is configured, as the client wrote it.
    pub config: Value,
    /// Who saved it first.
    pub created_by_id: Option<String>,
    /// Who saved it last.
    pub last_updated_by_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
}

/// Which configurations to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct SandboxConfigFilter {
    /// For this kind of sandbox.
    pub sandbox_type: Option<SandboxType>,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
    /// Those that follow the one with this id in the list.
    pub after: Option<String>,
}

impl Store {
    /// Stores a configuration; [`StoreError::NameTaken`] where its kind of sandbox has one.
    #[compiled_here]
    pub async fn create_sandbox_config(&self, new: NewSandboxConfig) -> Result<SandboxConfig> {
        let sandbox_type = new.sandbox_type;
        let mut insert = insert(&new_id(), new)?;
        insert
            .push(" ON CONFLICT (sandbox_type) DO NOTHING RETURNING ")
            .push(COLUMNS);
        let mut transaction = self.database().begin(Durability::Power).await?;
        let stored = transaction.optional(insert).await?;
        let taken = || StoreError::NameTaken {
            what: "sandbox configuration",
            name: sandbox_type.as_str().to_owned(),
        };
        let stored = record(&stored.ok_or_else(taken)?)?;
        transaction.commit().await?;
        Ok(stored)
    }

    /// Stores a configuration in place of the one that its kind of sandbox has, whose id and
    /// variables stay.
    #[compiled_here]
    pub async fn upsert_sandbox_config(
        &self,
        new: NewSandboxConfig,
    ) -> Result<Upserted<SandboxConfig>> {
        let id = new_id();
        let mut upsert = insert(&id, new)?;
        upsert
            .push(
                " ON CONFLICT (sandbox_type) DO UPDATE SET config = excluded.config,
                last_updated_by_id = excluded.last_updated_by_id,
                updated_at = excluded.updated_at
                RETURNING ",
            )
            .push(COLUMNS);
        let mut transaction = self.database().begin(Durability::Power).await?;
        let stored = transaction.optional(upsert).await?;
        let stored = stored.ok_or(StoreError::Corrupt {
            what: "sandbox configuration",
            source: None,
        })?;
        let record = record(&stored)?;
        transaction.commit().await?;
        let is_new = record.id == id;
        Ok(Upserted { record, is_new })
    }

    /// The configuration with this id.
    #[compiled_here]
    pub async fn sandbox_config(&self, id: &str) -> Result<Option<SandboxConfig>> {
        check::name("the sandbox configuration's id", id)?;
        let row = self.database().optional(by_id(id)).await?;
        row.as_ref().map(record).transpose()
    }

    /// The configuration for this kind of sandbox.
    #[compiled_here]
    pub async fn sandbox_config_by_type(
        &self,
        sandbox_type: SandboxType,
    ) -> Result<Option<SandboxConfig>> {
        let mut query = select();
        query
            .push(" AND sandbox_type = ")
            .push_value(sandbox_type.as_str());
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }

    /// Configurations, the oldest first.
    #[compiled_here]
    pub async fn sandbox_configs(
        &self,
        filter: &SandboxConfigFilter,
    ) -> Result<Vec<SandboxConfig>> {
        let mut query = select();
        query.push_if(
            " AND sandbox_type = ",
            filter.sandbox_type.map(SandboxType::as_str),
        );
        if let Some(after) = &filter.after {
            let after = self
                .sandbox_config(after)
                .await?
                .ok_or_else(|| missing(after))?;
            query
                .push(" AND (created_at, id) > (")
                .push_value(after.created_at);
            query.push(", ").push_value(after.id).push(")");
        }
        query.push(" ORDER BY created_at, id LIMIT ");
        query.push_value(check::page(filter.limit));
        self.database()
            .all(query)
            .await?
            .iter()
            .map(record)
            .collect()
    }

    /// Changes a configuration; nobody else changes it from before `change` sees it until it is
    /// stored. Its id, its kind of sandbox, and who made it and when stay what they were.
    pub async fn update_sandbox_config<E: From<StoreError>>(
        &self,
        id: &str,
        change: impl FnOnce(&mut SandboxConfig) -> Result<(), E> + Send,
    ) -> Result<SandboxConfig, E> {
        check::name("the sandbox configuration's id", id)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction, id).await?;
        let row = transaction.optional(by_id(id)).await?;
        let mut changed = record(&row.ok_or_else(|| missing(id))?)?;
        change(&mut changed)?;
        check_user(changed.last_updated_by_id.as_deref())?;
        let mut update = Statement::new("UPDATE sandbox_configs SET config = ");
        update.push_value(document(&changed.config)?);
        update
            .push(", last_updated_by_id = ")
            .push_value(changed.last_updated_by_id);
        update.push(", updated_at = ").push_value(Timestamp::now());
        update.push(" WHERE id = ").push_value(id);
        update.push(" RETURNING ").push(COLUMNS);
        let row = transaction.optional(update).await?;
        let changed = record(&row.ok_or_else(|| missing(id))?)?;
        transaction.commit().await?;
        Ok(changed)
    }

    /// Deletes a configuration with its variables. Whether it was there.
    #[compiled_here]
    pub async fn delete_sandbox_config(&self, id: &str) -> Result<bool> {
        check::name("the sandbox configuration's id", id)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM sandbox_configs WHERE id = $1").bind(id);
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

/// From here to the end of the transaction nobody else changes this configuration or the set of
/// its variables. Gives its kind of sandbox.
pub(crate) async fn lock(transaction: &mut Transaction, id: &str) -> Result<SandboxType> {
    let lock = "UPDATE sandbox_configs SET updated_at = updated_at WHERE id = $1
        RETURNING sandbox_type";
    let row = transaction.optional(Statement::new(lock).bind(id)).await?;
    row.ok_or_else(|| missing(id))?.parsed(0, "sandbox type")
}

pub(crate) fn missing(id: &str) -> StoreError {
    StoreError::NotFound {
        what: "sandbox configuration",
        id: id.to_owned(),
    }
}

pub(crate) fn check_user(id: Option<&str>) -> Result<()> {
    check::text("the user's id", id.unwrap_or_default(), check::NAME_MAX)
}

fn new_id() -> String {
    format!("sandbox-{}", uuid::Uuid::new_v4())
}

fn insert(id: &str, new: NewSandboxConfig) -> Result<Statement> {
    check_user(new.user_id.as_deref())?;
    let insert = "INSERT INTO sandbox_configs (id, sandbox_type, config, created_by_id,
        last_updated_by_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $4, $5, $5)";
    Ok(Statement::new(insert)
        .bind(id)
        .bind(new.sandbox_type.as_str())
        .bind(document(&new.config)?)
        .bind(new.user_id)
        .bind(Timestamp::now()))
}

fn document(config: &Value) -> Result<String> {
    let what = "the sandbox configuration";
    check::json(what, config, SANDBOX_CONFIG_MAX, "is larger than 256 KiB")
}

fn select() -> Statement {
    let mut query = Statement::new("SELECT ");
    query
        .push(COLUMNS)
        .push(" FROM sandbox_configs WHERE 1 = 1");
    query
}

fn by_id(id: &str) -> Statement {
    let mut query = select();
    query.push(" AND id = ").push_value(id);
    query
}

fn record(row: &Row) -> Result<SandboxConfig> {
    Ok(SandboxConfig {
        id: row.text(0)?,
        sandbox_type: row.parsed(1, "sandbox type")?,
        config: row.json(2, "sandbox configuration")?,
        created_by_id: row.optional_text(3)?,
        last_updated_by_id: row.optional_text(4)?,
        created_at: row.timestamp(5)?,
        updated_at: row.timestamp(6)?,
    })
}
