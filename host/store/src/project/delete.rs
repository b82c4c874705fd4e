//! The end of a project.

use bulkhead_domain::{
    Timestamp,
    id::AgentId,
    platform::{ProjectId, Standing, UserId},
};

use super::row::lock;
use crate::{
    Result, Store, compiled_here,
    sql::{Durability, Row, Statement},
};

impl Store {
    /// Deletes a project: from now on it answers like one that is not there, and its slug is free. Its
    /// living instances are terminated in the same transaction; gives their agents, whose runs are
    /// the caller's to cancel. What they did stays, and so does what it cost.
    ///
    /// [`crate::StoreError::NotFound`] where it is not there or was deleted before.
    #[compiled_here]
    pub async fn delete_project(&self, id: ProjectId, now: Timestamp) -> Result<Vec<AgentId>> {
        let project = id.to_string();
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction, id).await?;
        let living = "SELECT id FROM agents WHERE standing <> 'terminated'
            AND id IN (SELECT agent_id FROM instances WHERE project_id = $1) ORDER BY id";
        let mut living = Statement::new(living).bind(project.as_str());
        living.push(transaction.for_update());
        let living = transaction.all(living).await?;
        let delete = "UPDATE projects SET deleted_at = $2, updated_at = $2 WHERE id = $1";
        let delete = Statement::new(delete).bind(project.as_str()).bind(now);
        transaction.defer(delete).await?;
        let terminate = "UPDATE agents SET standing = $2 WHERE standing <> $2
            AND id IN (SELECT agent_id FROM instances WHERE project_id = $1)";
        let terminate = Statement::new(terminate)
            .bind(project.as_str())
            .bind(Standing::Terminated.as_str());
        transaction.defer(terminate).await?;
        let note = "UPDATE instances SET terminated_at = $2, updated_at = $2
            WHERE project_id = $1 AND terminated_at IS NULL";
        let note = Statement::new(note).bind(project).bind(now);
        transaction.defer(note).await?;
        transaction.commit().await?;
        agents(&living)
    }

    /// The agents that a project had when it was deleted, where it was deleted and is this owner's, or
    /// anybody's where none is named: for who deletes it once more, because the first time may have
    /// ended before they were stopped.
    #[compiled_here]
    pub async fn agents_of_deleted(
        &self,
        id: ProjectId,
        owner: Option<UserId>,
    ) -> Result<Vec<AgentId>> {
        let query = "SELECT i.agent_id FROM instances i JOIN projects p ON p.id = i.project_id
            WHERE p.id = $1 AND p.deleted_at IS NOT NULL AND i.terminated_at = p.deleted_at";
        let mut query = Statement::new(query).bind(id.to_string());
        query.push_if(" AND p.owner_id = ", owner.map(|owner| owner.to_string()));
        query.push(" ORDER BY i.seq");
        agents(&self.database().all(query).await?)
    }
}

fn agents(rows: &[Row]) -> Result<Vec<AgentId>> {
    let agent = |row: &Row| row.parsed(0, "agent of an instance");
    rows.iter().map(agent).collect()
}
