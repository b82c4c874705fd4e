//! The end of a project.

use bulkhead_domain::{
    Timestamp,
    id::AgentId,
    platform::{ProjectId, Standing},
};

use super::row::lock;
use crate::{
    Result, Store,
    sql::{Durability, Statement},
};

impl Store {
    /// Deletes a project: from now on it answers like one that is not there, and its slug is free. Its
    /// living instances are terminated in the same transaction; gives their agents, whose runs are
    /// the caller's to cancel. What they did stays, and so does what it cost.
    ///
    /// [`crate::StoreError::NotFound`] where it is not there or was deleted before.
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
        living
            .iter()
            .map(|row| row.parsed(0, "agent of an instance"))
            .collect()
    }
}
