//! Archives: collections of passages, and which agents look them up.

mod agents;

use bulkhead_domain::{
    Archive, Timestamp,
    id::{AgentId, ArchiveId},
    platform::UserId,
};

use crate::{
    Paging, Result, Store, StoreError, check, compiled_here,
    owner::push_created_by,
    paging::Listing,
    sql::{Durability, Row, Statement, Transaction},
};

pub use agents::ArchiveAgentsFilter;

/// Bytes of all that is stored of an archive beside its passages.
const DOCUMENT_MAX: usize = 1 << 20;

const LISTING: Listing = Listing {
    what: "archive",
    table: "archives",
    columns: "document",
    key: "created_at",
    bytes: "size",
};

/// Which archives to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct ArchiveFilter {
    /// With this name.
    pub name: Option<String>,
    /// That this agent looks up.
    pub agent_id: Option<AgentId>,
    /// Made by this user of the platform, or for an agent of this user.
    pub created_by: Option<UserId>,
    /// Which part of the list; ordered by the time when archives were made.
    pub paging: Paging,
}

impl Store {
    /// Stores a new archive.
    #[compiled_here]
    pub async fn create_archive(&self, archive: &Archive) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        put(&mut transaction, archive, archive.created_by_id.as_deref()).await?;
        transaction.commit().await
    }

    /// The archive with this id.
    #[compiled_here]
    pub async fn archive(&self, id: &ArchiveId) -> Result<Option<Archive>> {
        let query = Statement::new("SELECT document FROM archives WHERE id = $1");
        let row = self.database().optional(query.bind(id.to_string())).await?;
        row.as_ref().map(record).transpose()
    }

    /// Archives, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn archives(&self, filter: &ArchiveFilter) -> Result<Vec<Archive>> {
        let name = filter.name.as_deref();
        check::text(
            "the archive's name",
            name.unwrap_or_default(),
            check::NAME_MAX,
        )?;
        let conditions = |query: &mut Statement| {
            query.push_if(" AND name = ", name);
            push_created_by(query, filter.created_by);
            if let Some(agent_id) = filter.agent_id {
                query.push(" AND id IN (SELECT archive_id FROM agent_archives WHERE agent_id = ");
                query.push_value(agent_id.to_string()).push(")");
            }
        };
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }

    /// Changes an archive; nobody else changes it from before `change` sees it until it is
    /// stored. Its id and when it was made stay what they were.
    pub async fn update_archive(
        &self,
        id: &ArchiveId,
        change: impl FnOnce(&mut Archive) + Send,
    ) -> Result<Archive> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let mut query = Statement::new("SELECT document FROM archives WHERE id = ");
        query
            .push_value(id.to_string())
            .push(transaction.for_update());
        let row = transaction.optional(query).await?;
        let former = record(&row.ok_or_else(|| missing(id))?)?;
        let mut archive = former.clone();
        change(&mut archive);
        archive.id = former.id;
        archive.created_at = former.created_at;
        archive.updated_at = Timestamp::now();
        put(&mut transaction, &archive, None).await?;
        transaction.commit().await?;
        Ok(archive)
    }

    /// Deletes an archive with its passages. Whether it was there.
    #[compiled_here]
    pub async fn delete_archive(&self, id: &ArchiveId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM archives WHERE id = $1");
        let deleted = transaction.execute(delete.bind(id.to_string())).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

/// Writes an archive, in place of the one with its id, which stays whose it is. `owner` is whose a
/// new one is.
async fn put(transaction: &mut Transaction, archive: &Archive, owner: Option<&str>) -> Result<()> {
    check::name("the archive's name", &archive.name)?;
    check::text(
        "the archive's creator",
        owner.unwrap_or_default(),
        check::NAME_MAX,
    )?;
    let what = "the archive";
    let unwritable = |_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    };
    let value = serde_json::to_value(archive).map_err(unwritable)?;
    let document = check::json(what, &value, DOCUMENT_MAX, "is larger than 1 MiB")?;
    let put = "INSERT INTO archives (id, name, created_at, size, document, created_by_id)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET
            name = excluded.name, size = excluded.size, document = excluded.document";
    let put = Statement::new(put)
        .bind(archive.id.to_string())
        .bind(archive.name.as_str())
        .bind(archive.created_at)
        .bind(i64::try_from(document.len()).unwrap_or(i64::MAX))
        .bind(document)
        .bind(owner);
    transaction.defer(put).await
}

pub(crate) fn missing(id: &ArchiveId) -> StoreError {
    StoreError::NotFound {
        what: "archive",
        id: id.to_string(),
    }
}

fn record(row: &Row) -> Result<Archive> {
    row.json(0, "archive")
}
