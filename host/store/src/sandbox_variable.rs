//! Variables of a sandbox configuration: what its tools find in their environment. Clients put
//! keys of services there, so the values are sealed at rest and shown in no log.

use bulkhead_domain::Timestamp;
use zeroize::Zeroizing;

use crate::{
    Result, SandboxType, Store, StoreError, Upserted, check, compiled_here,
    sandbox_config::{self, check_user},
    seal::Sealer,
    sql::{Durability, Row, Statement, Transaction},
};

/// Bytes of a value: a private key with its chain of certificates fits.
pub const VARIABLE_VALUE_MAX: usize = 64 << 10;
/// Bytes of a description.
pub const VARIABLE_DESCRIPTION_MAX: usize = 4096;
/// Variables of one configuration. Every call gets all of them, 16 MiB at most.
pub const VARIABLES_MAX: u64 = 256;

const SELECT: &str = "SELECT v.id, v.sandbox_config_id, v.key, v.description, v.created_by_id,
    v.last_updated_by_id, v.created_at, v.updated_at, v.sealed, c.sandbox_type
    FROM sandbox_variables v JOIN sandbox_configs c ON c.id = v.sandbox_config_id WHERE 1 = 1";

/// A variable to store.
#[derive(Clone, PartialEq)]
pub struct NewSandboxVariable {
    /// Its name in the environment.
    pub key: String,
    /// Its value. Wiped from memory when dropped.
    pub value: Zeroizing<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who saves it.
    pub user_id: Option<String>,
}

/// A stored variable with its value. Printed without it.
#[derive(Clone, PartialEq)]
pub struct SandboxVariable {
    /// `sandbox-env-<uuid>`.
    pub id: String,
    /// The configuration that it belongs to.
    pub sandbox_config_id: String,
    /// Its name in the environment. No other variable of the configuration has it.
    pub key: String,
    /// Its value. Wiped from memory when dropped.
    pub value: Zeroizing<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Who saved it first.
    pub created_by_id: Option<String>,
    /// Who saved it last.
    pub last_updated_by_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
}

impl std::fmt::Debug for NewSandboxVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewSandboxVariable")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SandboxVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxVariable")
            .field("id", &self.id)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Stores a variable of a configuration; [`StoreError::NameTaken`] where it has one of
    /// that key.
    #[compiled_here]
    pub async fn create_sandbox_variable(
        &self,
        config_id: &str,
        new: NewSandboxVariable,
    ) -> Result<SandboxVariable> {
        let stored = self.put_sandbox_variable(config_id, new, false).await?;
        Ok(stored.record)
    }

    /// Stores a variable of a configuration, in place of one of that key, whose id stays.
    #[compiled_here]
    pub async fn upsert_sandbox_variable(
        &self,
        config_id: &str,
        new: NewSandboxVariable,
    ) -> Result<Upserted<SandboxVariable>> {
        self.put_sandbox_variable(config_id, new, true).await
    }

    async fn put_sandbox_variable(
        &self,
        config_id: &str,
        new: NewSandboxVariable,
        replaces: bool,
    ) -> Result<Upserted<SandboxVariable>> {
        check::name("the sandbox configuration's id", config_id)?;
        let now = Timestamp::now();
        let mut record = SandboxVariable {
            id: format!("sandbox-env-{}", uuid::Uuid::new_v4()),
            sandbox_config_id: config_id.to_owned(),
            key: new.key,
            value: new.value,
            description: new.description,
            created_by_id: new.user_id.clone(),
            last_updated_by_id: new.user_id,
            created_at: now,
            updated_at: now,
        };
        record.check()?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let sandbox_type = sandbox_config::lock(&mut transaction, config_id).await?;
        let former = find_key(&mut transaction, config_id, &record.key).await?;
        let is_new = former.is_none();
        match former {
            Some(_) if !replaces => return Err(record.taken()),
            Some(row) => {
                record.id = row.text(0)?;
                record.created_by_id = row.optional_text(1)?;
                record.created_at = row.timestamp(2)?;
            }
            None => expect_room(&mut transaction, config_id).await?,
        }
        put(&mut transaction, self.sealer(), &record, sandbox_type).await?;
        transaction.commit().await?;
        Ok(Upserted { record, is_new })
    }

    /// The variable with this id. [`StoreError::Corrupt`] where its row is not as this
    /// installation wrote it.
    #[compiled_here]
    pub async fn sandbox_variable(&self, id: &str) -> Result<Option<SandboxVariable>> {
        check::name("the sandbox variable's id", id)?;
        let mut query = Statement::new(SELECT);
        query.push(" AND v.id = ").push_value(id);
        let row = self.database().optional(query).await?;
        row.map(|row| record(self.sealer(), &row)).transpose()
    }

    /// Variables of a configuration, the oldest first: those that follow the one with the id
    /// `after`, [`crate::PAGE_DEFAULT`] where no limit is said, never over
    /// [`crate::PAGE_MAX`].
    #[compiled_here]
    pub async fn sandbox_variables(
        &self,
        config_id: &str,
        after: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Vec<SandboxVariable>> {
        let config = self.sandbox_config(config_id).await?;
        config.ok_or_else(|| sandbox_config::missing(config_id))?;
        let mut query = Statement::new(SELECT);
        query
            .push(" AND v.sandbox_config_id = ")
            .push_value(config_id);
        if let Some(after) = after {
            check::name("the sandbox variable's id", after)?;
            let at = "SELECT created_at FROM sandbox_variables
                WHERE id = $1 AND sandbox_config_id = $2";
            let at = Statement::new(at).bind(after).bind(config_id);
            let at = self.database().optional(at).await?;
            let at = at.ok_or_else(|| missing(after))?.int(0)?;
            query.push(" AND (v.created_at, v.id) > (").push_value(at);
            query.push(", ").push_value(after).push(")");
        }
        query.push(" ORDER BY v.created_at, v.id LIMIT ");
        query.push_value(check::page(limit));
        let rows = self.database().all(query).await?;
        rows.iter().map(|row| record(self.sealer(), row)).collect()
    }

    /// What tools in this kind of sandbox find in their environment, by key. Empty where
    /// nothing is configured.
    #[compiled_here]
    pub async fn sandbox_variables_of(
        &self,
        sandbox_type: SandboxType,
    ) -> Result<Vec<(String, Zeroizing<String>)>> {
        let mut query = Statement::new(SELECT);
        query
            .push(" AND c.sandbox_type = ")
            .push_value(sandbox_type.as_str());
        query.push(" ORDER BY v.key");
        let rows = self.database().all(query).await?;
        let variables = rows.iter().map(|row| record(self.sealer(), row));
        variables
            .map(|variable| variable.map(|variable| (variable.key, variable.value)))
            .collect()
    }

    /// Changes a variable; nobody else changes it from before `change` sees it until it is
    /// stored. Its id, its configuration, and who made it and when stay what they were.
    /// [`StoreError::NameTaken`] where `change` gives it the key of another one.
    pub async fn update_sandbox_variable<E: From<StoreError>>(
        &self,
        id: &str,
        change: impl FnOnce(&mut SandboxVariable) -> Result<(), E> + Send,
    ) -> Result<SandboxVariable, E> {
        check::name("the sandbox variable's id", id)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let sandbox_type = lock(&mut transaction, id).await?;
        let sandbox_type = sandbox_type.ok_or_else(|| missing(id))?;
        let mut query = Statement::new(SELECT);
        query.push(" AND v.id = ").push_value(id);
        let row = transaction.optional(query).await?;
        let former = record(self.sealer(), &row.ok_or_else(|| missing(id))?)?;
        let mut changed = former.clone();
        change(&mut changed)?;
        changed.id = former.id;
        changed.sandbox_config_id = former.sandbox_config_id;
        changed.created_by_id = former.created_by_id;
        changed.created_at = former.created_at;
        changed.updated_at = Timestamp::now();
        changed.check()?;
        if changed.key != former.key {
            let config_id = &changed.sandbox_config_id;
            let other = find_key(&mut transaction, config_id, &changed.key).await?;
            other.map_or(Ok(()), |_| Err(changed.taken()))?;
        }
        put(&mut transaction, self.sealer(), &changed, sandbox_type).await?;
        transaction.commit().await?;
        Ok(changed)
    }

    /// Deletes a variable. Whether it was there.
    #[compiled_here]
    pub async fn delete_sandbox_variable(&self, id: &str) -> Result<bool> {
        check::name("the sandbox variable's id", id)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction, id).await?;
        let delete = Statement::new("DELETE FROM sandbox_variables WHERE id = $1").bind(id);
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

impl SandboxVariable {
    fn check(&self) -> Result<()> {
        check_key("the sandbox variable's key", &self.key)?;
        check::text(
            "the sandbox variable's value",
            &self.value,
            VARIABLE_VALUE_MAX,
        )?;
        let description = self.description.as_deref().unwrap_or_default();
        let what = "the sandbox variable's description";
        check::text(what, description, VARIABLE_DESCRIPTION_MAX)?;
        check_user(self.created_by_id.as_deref())?;
        check_user(self.last_updated_by_id.as_deref())
    }

    /// What the value is bound to: a row with any of it changed does not open.
    fn bound(&self, sandbox_type: SandboxType) -> [&str; 5] {
        let config = self.sandbox_config_id.as_str();
        let kind = sandbox_type.as_str();
        ["sandbox variable", &self.id, config, kind, &self.key]
    }

    fn taken(&self) -> StoreError {
        StoreError::NameTaken {
            what: "sandbox variable",
            name: self.key.clone(),
        }
    }
}

/// The name of a variable of an environment.
pub(crate) fn check_key(what: &'static str, key: &str) -> Result<()> {
    check::name(what, key)?;
    if key.contains('=') {
        let reason = "contains an equals sign, which no environment allows";
        return Err(StoreError::Invalid { what, reason });
    }
    Ok(())
}

fn missing(id: &str) -> StoreError {
    StoreError::NotFound {
        what: "sandbox variable",
        id: id.to_owned(),
    }
}

/// Locks the configuration of a variable, as everything that writes a variable does, so that a
/// change does not bring back what is deleted meanwhile. Gives its kind of sandbox; none where
/// the variable is not there.
async fn lock(transaction: &mut Transaction, id: &str) -> Result<Option<SandboxType>> {
    let lock = "UPDATE sandbox_configs SET updated_at = updated_at
        WHERE id = (SELECT sandbox_config_id FROM sandbox_variables WHERE id = $1)
        RETURNING sandbox_type";
    let row = transaction.optional(Statement::new(lock).bind(id)).await?;
    row.map(|row| row.parsed(0, "sandbox type")).transpose()
}

/// What stays of the variable with this key when it is replaced.
async fn find_key(
    transaction: &mut Transaction,
    config_id: &str,
    key: &str,
) -> Result<Option<Row>> {
    let query = "SELECT id, created_by_id, created_at FROM sandbox_variables
        WHERE sandbox_config_id = $1 AND key = $2";
    let query = Statement::new(query).bind(config_id).bind(key);
    transaction.optional(query).await
}

async fn expect_room(transaction: &mut Transaction, config_id: &str) -> Result<()> {
    let count = "SELECT COUNT(*) FROM sandbox_variables WHERE sandbox_config_id = $1";
    let count = transaction
        .optional(Statement::new(count).bind(config_id))
        .await?;
    if count.map_or(Ok(0), |row| row.unsigned(0))? < VARIABLES_MAX {
        return Ok(());
    }
    Err(StoreError::Quota {
        what: "variables of one sandbox configuration",
        limit: VARIABLES_MAX,
    })
}

/// Writes a variable, in place of the one with its id.
async fn put(
    transaction: &mut Transaction,
    sealer: &Sealer,
    variable: &SandboxVariable,
    sandbox_type: SandboxType,
) -> Result<()> {
    let sealed = sealer.seal(variable.value.as_bytes(), &variable.bound(sandbox_type))?;
    let put = "INSERT INTO sandbox_variables (id, sandbox_config_id, key, description,
            created_by_id, last_updated_by_id, created_at, updated_at, sealed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (id) DO UPDATE SET
            key = excluded.key, description = excluded.description,
            last_updated_by_id = excluded.last_updated_by_id,
            updated_at = excluded.updated_at, sealed = excluded.sealed";
    let put = Statement::new(put)
        .bind(variable.id.as_str())
        .bind(variable.sandbox_config_id.as_str())
        .bind(variable.key.as_str())
        .bind(variable.description.clone())
        .bind(variable.created_by_id.clone())
        .bind(variable.last_updated_by_id.clone())
        .bind(variable.created_at)
        .bind(variable.updated_at)
        .bind(sealed);
    transaction.defer(put).await
}

fn record(sealer: &Sealer, row: &Row) -> Result<SandboxVariable> {
    let mut variable = SandboxVariable {
        id: row.text(0)?,
        sandbox_config_id: row.text(1)?,
        key: row.text(2)?,
        value: Zeroizing::new(String::new()),
        description: row.optional_text(3)?,
        created_by_id: row.optional_text(4)?,
        last_updated_by_id: row.optional_text(5)?,
        created_at: row.timestamp(6)?,
        updated_at: row.timestamp(7)?,
    };
    let bound = variable.bound(row.parsed(9, "sandbox type")?);
    let value = sealer.open(&row.blob(8)?, &bound);
    let value = value.ok_or(StoreError::Corrupt {
        what: "sandbox variable",
        source: None,
    })?;
    let value = std::str::from_utf8(&value)
        .map_err(|error| StoreError::corrupt("sandbox variable", error))?;
    variable.value = Zeroizing::new(value.to_owned());
    Ok(variable)
}
