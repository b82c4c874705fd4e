//! One group, by its id.

use bulkhead_domain::{
    Group, Timestamp,
    id::{AgentId, GroupId},
};

use super::{
    GroupRelations,
    row::{by_id, expect, insert, link_agents, lock, record, relate, replace, with_relations},
};
use crate::{
    Result, Store, StoreError,
    agent::missing,
    compiled_here,
    sql::{Durability, Statement},
};

impl Store {
    /// Stores a group and what belongs to it.
    ///
    /// [`StoreError::UnknownReferences`] where an agent or a block is not there.
    #[compiled_here]
    pub async fn create_group(&self, group: &Group) -> Result<()> {
        self.create_owning_group(group, &[]).await
    }

    /// As [`Self::create_group`]. Those of its agents that are `owned` look after the memory of the one
    /// that leads it: they get and lose blocks with it, and go with it.
    #[compiled_here]
    pub async fn create_owning_group(&self, group: &Group, owned: &[AgentId]) -> Result<()> {
        let relations = GroupRelations {
            agent_ids: Some(group.agent_ids.clone()),
            shared_block_ids: Some(group.shared_block_ids.clone()),
        };
        let mut transaction = self.database().begin(Durability::Process).await?;
        expect(&mut transaction, &relations, group.manager.agent_id()).await?;
        insert(&mut transaction, group).await?;
        link_agents(&mut transaction, &group.id, &group.agent_ids, |agent| {
            owned.contains(agent)
        })
        .await?;
        let blocks = GroupRelations {
            agent_ids: None,
            ..relations
        };
        relate(&mut transaction, &group.id, &blocks).await?;
        transaction.commit().await
    }

    /// The group with this id.
    #[compiled_here]
    pub async fn group(&self, id: &GroupId) -> Result<Option<Group>> {
        let row = self.database().optional(by_id(id)).await?;
        let group = row.iter().map(|row| record(row, 0));
        let group = group.collect::<Result<Vec<_>>>()?;
        Ok(with_relations(self, group).await?.pop())
    }

    /// Changes a group and what belongs to it; gives it as it is then. Nobody else changes it, nor
    /// counts a request to the agent that leads it, from before `edit` sees it until it is stored.
    /// `edit` sees it without its agents and blocks, which `relations` change. Its id and when it was
    /// made stay what they were.
    ///
    /// [`StoreError::NotFound`] where it is not there, [`StoreError::UnknownReferences`] where an
    /// agent or a block is not; where `edit` fails, nothing is stored.
    pub async fn update_group<E: From<StoreError>>(
        &self,
        id: &GroupId,
        edit: impl FnOnce(&mut Group) -> Result<(), E> + Send,
        relations: &GroupRelations,
    ) -> Result<Group, E> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        expect(&mut transaction, relations, None).await?;
        let former = lock(&mut transaction, id).await?;
        let mut group = former.clone();
        edit(&mut group)?;
        group.id = former.id;
        group.created_at = former.created_at;
        group.updated_at = Timestamp::now();
        if group.manager.agent_id() != former.manager.agent_id() {
            let none = GroupRelations::default();
            expect(&mut transaction, &none, group.manager.agent_id()).await?;
        }
        replace(&mut transaction, &group).await?;
        relate(&mut transaction, id, relations).await?;
        transaction.commit().await?;
        let group = self.group(id).await?;
        Ok(group.ok_or_else(|| missing("group", id))?)
    }

    /// Deletes a group; its agents and blocks stay. Whether it was there.
    #[compiled_here]
    pub async fn delete_group(&self, id: &GroupId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM agent_groups WHERE id = $1").bind(id.to_string());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}
