//! Components: named, their versions told apart by digest.

use bulkhead_domain::{Digest, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Row, Statement, Transaction},
    state,
};

const COLUMNS: &str = "SELECT digest, name, status, size, description, created_at, updated_at
    FROM components WHERE 1 = 1";

/// Where a version stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComponentStatus {
    /// The version that its name stands for; one a name at most.
    Active,
    /// It wishes for more than the version before it, and waits for a person.
    Pending,
    /// Another version took its place.
    Retired,
}

impl ComponentStatus {
    /// The stable name, as the database and the API write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Pending => "pending",
            Self::Retired => "retired",
        }
    }
}

/// What no status is called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a component's status is active, pending or retired")]
pub struct ParseStatusError;

impl std::str::FromStr for ComponentStatus {
    type Err = ParseStatusError;

    fn from_str(text: &str) -> Result<Self, ParseStatusError> {
        let all = [Self::Active, Self::Pending, Self::Retired];
        all.into_iter()
            .find(|status| status.as_str() == text)
            .ok_or(ParseStatusError)
    }
}

/// A version to store.
#[derive(Debug, Clone)]
pub struct NewComponent {
    /// What the versions of this component have in common.
    pub name: String,
    /// The digest of `bytes`.
    pub digest: Digest,
    /// The component itself.
    pub bytes: Vec<u8>,
    /// What its installation found: tools, imports, wishes. Pinned: never changed later.
    pub description: Value,
}

/// A stored version, without its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentRecord {
    /// The name that it has with other versions.
    pub name: String,
    /// What it is.
    pub digest: Digest,
    /// Where it stands.
    pub status: ComponentStatus,
    /// Bytes of the component.
    pub size: u64,
    /// What its installation found.
    pub description: Value,
    /// When it was first pushed.
    pub created_at: Timestamp,
    /// When its status last changed.
    pub updated_at: Timestamp,
}

/// What stands under the name of a version that is being stored.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// The active version.
    pub active: Option<&'a ComponentRecord>,
    /// Whether nothing was ever stored under the name, or all of it was deleted.
    pub is_first: bool,
}

/// Which versions to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct ComponentFilter {
    /// Of this name.
    pub name: Option<String>,
    /// Of this status.
    pub status: Option<ComponentStatus>,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
    /// Those that follow this one in the list.
    pub after: Option<Digest>,
}

impl Store {
    /// Stores a version with the status that `decide` gives it, from what stands under its name
    /// at that moment: nobody changes the versions of the name until it is stored. An active one
    /// retires the former active one of its name.
    ///
    /// Pushing the same bytes under the same name again changes nothing but the status, and
    /// that only forwards: what is active stays active, what is pending becomes active if
    /// `decide` says so, and what was retired gets the status.
    pub async fn put_component<E: From<StoreError>>(
        &self,
        new: NewComponent,
        decide: impl FnOnce(Standing<'_>) -> Result<ComponentStatus, E> + Send,
    ) -> Result<ComponentRecord, E> {
        check::name("the component's name", &new.name)?;
        let description = check::document("the component's description", &new.description)?;
        let (bytes, digest) = digest_of(new.bytes).await?;
        if digest != new.digest {
            let what = "the component's digest";
            let reason = "is not that of its bytes";
            return Err(StoreError::Invalid { what, reason }.into());
        }
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock_name(&mut transaction, &new.name, now).await?;
        let versions = "SELECT COUNT(*) FROM components WHERE name = $1";
        let versions = Statement::new(versions).bind(new.name.as_str());
        let versions = transaction.optional(versions).await?;
        let active = find_active(&mut transaction, &new.name).await?;
        let status = decide(Standing {
            active: active.as_ref(),
            is_first: versions.map(|row| row.int(0)).transpose()? == Some(0),
        })?;
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        // Stored as retired, so that there is one way to become active.
        let insert = "INSERT INTO components
            (digest, name, status, size, description, created_at, updated_at, bytes)
            VALUES ($1, $2, 'retired', $3, $4, $5, $5, $6)
            ON CONFLICT (digest) DO NOTHING";
        let insert = Statement::new(insert)
            .bind(digest.to_string())
            .bind(new.name.as_str())
            .bind(size)
            .bind(description)
            .bind(now)
            .bind(bytes);
        transaction.defer(insert).await?;
        let stored = read(&mut transaction, &digest).await?;
        if stored.name != new.name {
            return Err(StoreError::OtherName { name: stored.name }.into());
        }
        let record = match (stored.status, status) {
            (ComponentStatus::Active, _) | (_, ComponentStatus::Retired) => stored,
            (ComponentStatus::Pending, ComponentStatus::Pending) => stored,
            (_, status) => set_status(&mut transaction, &stored, status, now).await?,
        };
        transaction.commit().await?;
        Ok(record)
    }

    /// Makes a version the active one of its name and retires the former: consent was given.
    #[compiled_here]
    pub async fn activate_component(&self, name: &str, digest: &Digest) -> Result<ComponentRecord> {
        let missing = || StoreError::NotFound {
            what: "component",
            id: format!("{name} {digest}"),
        };
        check::name("the component's name", name)?;
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock_name(&mut transaction, name, now).await?;
        let stored = find(&mut transaction, digest).await?;
        let stored = stored
            .filter(|stored| stored.name == name)
            .ok_or_else(missing)?;
        let record = match stored.status {
            ComponentStatus::Active => stored,
            _ => set_status(&mut transaction, &stored, ComponentStatus::Active, now).await?,
        };
        transaction.commit().await?;
        Ok(record)
    }

    /// The version with this digest.
    #[compiled_here]
    pub async fn component(&self, digest: &Digest) -> Result<Option<ComponentRecord>> {
        let mut query = Statement::new(COLUMNS);
        query.push(" AND digest = ").push_value(digest.to_string());
        self.database()
            .optional(query)
            .await?
            .as_ref()
            .map(record)
            .transpose()
    }

    /// The active version of this name.
    #[compiled_here]
    pub async fn component_by_name(&self, name: &str) -> Result<Option<ComponentRecord>> {
        check::name("the component's name", name)?;
        self.database()
            .optional(active(name))
            .await?
            .as_ref()
            .map(record)
            .transpose()
    }

    /// Versions, the newest first.
    #[compiled_here]
    pub async fn components(&self, filter: &ComponentFilter) -> Result<Vec<ComponentRecord>> {
        let mut query = Statement::new(COLUMNS);
        if let Some(name) = &filter.name {
            check::name("the component's name", name)?;
        }
        query.push_if(" AND name = ", filter.name.clone());
        query.push_if(" AND status = ", filter.status.map(ComponentStatus::as_str));
        if let Some(after) = &filter.after {
            let at = Statement::new("SELECT created_at FROM components WHERE digest = $1");
            let at = self.database().optional(at.bind(after.to_string())).await?;
            let missing = || StoreError::NotFound {
                what: "component",
                id: after.to_string(),
            };
            let at = at.ok_or_else(missing)?.int(0)?;
            query.push(" AND (created_at, digest) < (").push_value(at);
            query.push(", ").push_value(after.to_string()).push(")");
        }
        query.push(" ORDER BY created_at DESC, digest DESC LIMIT ");
        query.push_value(check::page(filter.limit));
        self.database()
            .all(query)
            .await?
            .iter()
            .map(record)
            .collect()
    }

    /// The bytes of a version, checked against its digest.
    #[compiled_here]
    pub async fn component_bytes(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        let query = Statement::new("SELECT bytes FROM components WHERE digest = $1");
        let row = self
            .database()
            .optional(query.bind(digest.to_string()))
            .await?;
        let Some(row) = row else { return Ok(None) };
        let (bytes, found) = digest_of(row.blob(0)?).await?;
        if found != *digest {
            return Err(StoreError::Corrupt {
                what: "component",
                source: None,
            });
        }
        Ok(Some(bytes))
    }

    /// Deletes a version; with the last one of a name its grants and its tools' state
    /// go too. Receipts stay.
    /// Whether it was there.
    #[compiled_here]
    pub async fn delete_component(&self, digest: &Digest) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let Some(stored) = find(&mut transaction, digest).await? else {
            return Ok(false);
        };
        let name = stored.name.as_str();
        lock_name(&mut transaction, name, Timestamp::now()).await?;
        let delete = Statement::new("DELETE FROM components WHERE digest = $1");
        let deleted = transaction.execute(delete.bind(digest.to_string())).await? > 0;
        let last = "DELETE FROM component_names WHERE name = $1
            AND NOT EXISTS (SELECT 1 FROM components WHERE name = $1)";
        if transaction.execute(Statement::new(last).bind(name)).await? > 0 {
            let grants = Statement::new("DELETE FROM grants WHERE component = $1");
            transaction.defer(grants.bind(name)).await?;
            state::delete_of_component(&mut transaction, name).await?;
        }
        transaction.commit().await?;
        Ok(deleted)
    }
}

/// Hashing megabytes would hold up everything else on this thread.
async fn digest_of(bytes: Vec<u8>) -> Result<(Vec<u8>, Digest)> {
    let hashed = tokio::task::spawn_blocking(move || {
        let digest = Digest::of(&bytes);
        (bytes, digest)
    });
    hashed
        .await
        .map_err(|error| StoreError::Unavailable(Box::new(error)))
}

/// From here to the end of the transaction nobody else changes the versions of this name.
async fn lock_name(transaction: &mut Transaction, name: &str, now: Timestamp) -> Result<()> {
    let lock = "INSERT INTO component_names (name, updated_at) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at";
    transaction
        .execute(Statement::new(lock).bind(name).bind(now))
        .await
        .map(drop)
}

fn active(name: &str) -> Statement {
    let mut query = Statement::new(COLUMNS);
    query
        .push(" AND status = 'active' AND name = ")
        .push_value(name);
    query
}

async fn find_active(transaction: &mut Transaction, name: &str) -> Result<Option<ComponentRecord>> {
    transaction
        .optional(active(name))
        .await?
        .as_ref()
        .map(record)
        .transpose()
}

async fn find(transaction: &mut Transaction, digest: &Digest) -> Result<Option<ComponentRecord>> {
    let mut query = Statement::new(COLUMNS);
    query.push(" AND digest = ").push_value(digest.to_string());
    transaction
        .optional(query)
        .await?
        .as_ref()
        .map(record)
        .transpose()
}

async fn read(transaction: &mut Transaction, digest: &Digest) -> Result<ComponentRecord> {
    let missing = || StoreError::NotFound {
        what: "component",
        id: digest.to_string(),
    };
    find(transaction, digest).await?.ok_or_else(missing)
}

async fn set_status(
    transaction: &mut Transaction,
    stored: &ComponentRecord,
    status: ComponentStatus,
    now: Timestamp,
) -> Result<ComponentRecord> {
    if status == ComponentStatus::Active {
        let retire = "UPDATE components SET status = 'retired', updated_at = $1
            WHERE name = $2 AND status = 'active'";
        let retire = Statement::new(retire).bind(now).bind(stored.name.as_str());
        transaction.defer(retire).await?;
    }
    let set = "UPDATE components SET status = $1, updated_at = $2 WHERE digest = $3";
    let set = Statement::new(set)
        .bind(status.as_str())
        .bind(now)
        .bind(stored.digest.to_string());
    transaction.defer(set).await?;
    read(transaction, &stored.digest).await
}

fn record(row: &Row) -> Result<ComponentRecord> {
    Ok(ComponentRecord {
        digest: row.parsed(0, "digest")?,
        name: row.text(1)?,
        status: row.parsed(2, "component status")?,
        size: row.unsigned(3)?,
        description: row.json(4, "component description")?,
        created_at: row.timestamp(5)?,
        updated_at: row.timestamp(6)?,
    })
}
