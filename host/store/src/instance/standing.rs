//! Pausing, resuming and terminating.

use bulkhead_domain::{Timestamp, id::AgentId, platform::Standing};

use super::{
    InstanceRecord,
    row::{by_agent, record},
};
use crate::{
    Result, Store, StoreError,
    agent::missing,
    compiled_here,
    sql::{Durability, Statement},
};

impl Store {
    /// Makes an instance stand otherwise if it stands as one of `from`; gives it as it is then. From
    /// the moment when this is stored no run of the agent begins unless it is active. Runs that go on
    /// are the caller's to cancel.
    ///
    /// [`StoreError::NotFound`] where the agent is no instance, [`StoreError::WrongStanding`] where
    /// it stands otherwise.
    #[compiled_here]
    pub async fn set_standing(
        &self,
        agent: AgentId,
        from: &[Standing],
        to: Standing,
    ) -> Result<InstanceRecord> {
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        let set = "UPDATE agents SET standing = $2
            WHERE id = $1 AND id IN (SELECT agent_id FROM instances) AND standing IN (";
        let mut set = Statement::new(set)
            .bind(agent.to_string())
            .bind(to.as_str());
        set.push_list(from.iter().map(|standing| standing.as_str()));
        let is_set = transaction.execute(set).await? > 0;
        if is_set {
            let terminated_at = (to == Standing::Terminated).then_some(now);
            let note = "UPDATE instances SET updated_at = $2,
                terminated_at = COALESCE($3, terminated_at) WHERE agent_id = $1";
            let note = Statement::new(note)
                .bind(agent.to_string())
                .bind(now)
                .bind(terminated_at);
            transaction.defer(note).await?;
        }
        let row = transaction.optional(by_agent(agent)).await?;
        let record = record(&row.ok_or_else(|| missing("instance", agent))?)?;
        if !is_set {
            return Err(StoreError::WrongStanding {
                agent: agent.to_string(),
                status: record.facts.status(),
            });
        }
        transaction.commit().await?;
        Ok(record)
    }
}
