//! Which agents look up which archive: each agent one at most.

use bulkhead_domain::{
    Archive,
    id::{AgentId, ArchiveId},
    platform::UserId,
};

use super::{missing, put, record};
use crate::{
    Paging, Result, Store, StoreError, compiled_here,
    owner::push_agent_created_by,
    paging::Listing,
    sql::{Durability, Statement, Transaction},
};

/// Cursors are ids of agents: the rows are seen as if they had the agent's.
const LISTING: Listing = Listing {
    what: "agent",
    table: "(SELECT seq, agent_id AS id, agent_id, archive_id FROM agent_archives) AS attached",
    columns: "id",
    key: "seq",
    bytes: "1",
};

/// Which agents of an archive to list.
#[derive(Debug, Clone)]
pub struct ArchiveAgentsFilter {
    /// The archive.
    pub archive_id: ArchiveId,
    /// Of this user of the platform alone.
    pub created_by: Option<UserId>,
    /// Which part of the list; ordered by the time when agents were attached.
    pub paging: Paging,
}

impl Store {
    /// Lets an agent look up an archive. The same one again changes nothing;
    /// [`StoreError::AlreadyHas`] where it has another one.
    #[compiled_here]
    pub async fn attach_archive(&self, agent_id: &AgentId, archive_id: &ArchiveId) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock_agent(&mut transaction, agent_id).await?;
        let mut archive = Statement::new("SELECT 1 FROM archives WHERE id = ");
        archive.push_value(archive_id.to_string());
        archive.push(transaction.for_reference());
        if transaction.optional(archive).await?.is_none() {
            return Err(missing(archive_id));
        }
        match attached(&mut transaction, agent_id).await? {
            Some(other) if other.id != *archive_id => {
                return Err(StoreError::AlreadyHas {
                    owner: agent_id.to_string(),
                    what: "archive",
                    id: other.id.to_string(),
                });
            }
            Some(_) => {}
            None => attach(&mut transaction, agent_id, archive_id).await?,
        }
        transaction.commit().await
    }

    /// Takes an archive from an agent. Whether it had it.
    #[compiled_here]
    pub async fn detach_archive(&self, agent_id: &AgentId, archive_id: &ArchiveId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = "DELETE FROM agent_archives WHERE agent_id = $1 AND archive_id = $2";
        let delete = Statement::new(delete)
            .bind(agent_id.to_string())
            .bind(archive_id.to_string());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }

    /// The archive that an agent looks up.
    #[compiled_here]
    pub async fn archive_of_agent(&self, agent_id: &AgentId) -> Result<Option<Archive>> {
        let row = self.database().optional(of_agent(agent_id)).await?;
        row.as_ref().map(record).transpose()
    }

    /// The archive that an agent looks up; where it has none, `new` is stored and becomes its. It is
    /// then whose the agent is.
    #[compiled_here]
    pub async fn default_archive(&self, agent_id: &AgentId, new: &Archive) -> Result<Archive> {
        if let Some(archive) = self.archive_of_agent(agent_id).await? {
            return Ok(archive);
        }
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock_agent(&mut transaction, agent_id).await?;
        // Another request may have been first.
        if let Some(archive) = attached(&mut transaction, agent_id).await? {
            return Ok(archive);
        }
        let creator = "SELECT created_by_id FROM agents WHERE id = $1";
        let creator = Statement::new(creator).bind(agent_id.to_string());
        let creator = transaction.optional(creator).await?;
        let creator = creator.map_or(Ok(None), |row| row.optional_text(0))?;
        let owner = creator.as_deref().or(new.created_by_id.as_deref());
        put(&mut transaction, new, owner).await?;
        attach(&mut transaction, agent_id, &new.id).await?;
        transaction.commit().await?;
        Ok(new.clone())
    }

    /// The agents that look up an archive, the last that was attached first unless the paging
    /// says otherwise; its cursors are ids of agents.
    #[compiled_here]
    pub async fn agents_of_archive(&self, filter: &ArchiveAgentsFilter) -> Result<Vec<AgentId>> {
        let conditions = |query: &mut Statement| {
            query.push(" AND archive_id = ");
            query.push_value(filter.archive_id.to_string());
            push_agent_created_by(query, filter.created_by);
        };
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter()
            .map(|row| row.parsed(0, "agent of an archive"))
            .collect()
    }
}

/// Whoever gives an agent an archive locks it, so that it gets only one.
async fn lock_agent(transaction: &mut Transaction, agent_id: &AgentId) -> Result<()> {
    let mut lock = Statement::new("SELECT 1 FROM agents WHERE id = ");
    lock.push_value(agent_id.to_string())
        .push(transaction.for_update());
    let missing = || StoreError::NotFound {
        what: "agent",
        id: agent_id.to_string(),
    };
    transaction
        .optional(lock)
        .await?
        .map(drop)
        .ok_or_else(missing)
}

async fn attached(transaction: &mut Transaction, agent_id: &AgentId) -> Result<Option<Archive>> {
    let row = transaction.optional(of_agent(agent_id)).await?;
    row.as_ref().map(record).transpose()
}

async fn attach(
    transaction: &mut Transaction,
    agent_id: &AgentId,
    archive_id: &ArchiveId,
) -> Result<()> {
    let insert = "INSERT INTO agent_archives (agent_id, archive_id) VALUES ($1, $2)";
    let insert = Statement::new(insert)
        .bind(agent_id.to_string())
        .bind(archive_id.to_string());
    transaction.defer(insert).await
}

fn of_agent(agent_id: &AgentId) -> Statement {
    let query = "SELECT document FROM archives WHERE id =
        (SELECT archive_id FROM agent_archives WHERE agent_id = $1)";
    Statement::new(query).bind(agent_id.to_string())
}
