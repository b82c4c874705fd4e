//! New agents, one agent by its id, and the end of one.

use bulkhead_domain::{Agent, id::AgentId};

use super::{
    NewAgent, limits,
    relations::{distinct, link_blocks, lock_blocks, put_identities},
    row::{self, by_id, record},
    secrets::put_secrets,
    tags::put_tags,
    tools::put_tools,
};
use crate::{
    Result, Store, StoreError, block, compiled_here,
    folder::{open, put_folders},
    group::{insert_pair, lock_with_owned},
    instance::{expect_room, insert_instance},
    message::insert_messages,
    seal::Sealer,
    sql::{Durability, Statement, Transaction},
};

impl Store {
    /// Stores an agent with its blocks, tools, tags, secrets, identities and messages, and with the
    /// agent that looks after its memory where it has one: all of it or nothing.
    ///
    /// [`StoreError::UnknownReferences`] where a block, tool or identity is not there;
    /// [`StoreError::NameTaken`] where two of its blocks have the same label. Of an instance,
    /// [`StoreError::NotFound`] where its project or its type is not there,
    /// [`StoreError::Invalid`] where the type is not active, and [`StoreError::Quota`] where the
    /// project has [`crate::instance::INSTANCES_MAX`].
    #[compiled_here]
    pub async fn create_agent(&self, new: &NewAgent) -> Result<()> {
        let durability = if new.secrets.is_empty() {
            Durability::Process
        } else {
            Durability::Power
        };
        let mut transaction = self.database().begin(durability).await?;
        insert_agent(&mut transaction, self.sealer(), new).await?;
        if let Some(sleeptime) = &new.sleeptime {
            insert_pair(&mut transaction, self.sealer(), &new.agent.id, sleeptime).await?;
        }
        transaction.commit().await
    }

    /// The agent with this id.
    #[compiled_here]
    pub async fn agent(&self, id: &AgentId) -> Result<Option<Agent>> {
        let row = self.database().optional(by_id(id)).await?;
        row.as_ref().map(record).transpose()
    }

    /// Deletes an agent with its messages, runs, steps, secrets and tags, the groups that it leads,
    /// the agents that were made to look after its memory, and the state that tools keep on behalf of
    /// each. Its blocks, tools and identities stay. Whether it was there.
    #[compiled_here]
    pub async fn delete_agent(&self, id: &AgentId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let owned = match lock_with_owned(&mut transaction, id).await {
            Ok(owned) => owned,
            Err(StoreError::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        for agent in owned.iter().chain([id]) {
            for delete in [
                "DELETE FROM agents WHERE id = $1",
                "DELETE FROM state_namespaces WHERE agent = $1",
            ] {
                let delete = Statement::new(delete).bind(agent.to_string());
                transaction.defer(delete).await?;
            }
        }
        transaction.commit().await?;
        Ok(true)
    }
}

/// Writes a new agent with all that hangs on it, but for the agent that looks after its memory.
pub(crate) async fn insert_agent(
    transaction: &mut Transaction,
    sealer: &Sealer,
    new: &NewAgent,
) -> Result<()> {
    let id = &new.agent.id;
    // Projects are locked before blocks and agents.
    if let Some(instance) = &new.instance {
        if instance.agent_id != *id {
            return Err(StoreError::Invalid {
                what: "the instance",
                reason: "is another agent's",
            });
        }
        expect_room(transaction, instance).await?;
    }
    let known = distinct(
        "the agent's list of blocks",
        &new.block_ids,
        limits::BLOCKS_MAX,
    )?;
    let known = lock_blocks(transaction, &known).await?;
    row::insert(transaction, &new.agent).await?;
    if let Some(instance) = &new.instance {
        insert_instance(transaction, instance).await?;
    }
    let creator = new.agent.created_by_id.as_deref();
    block::insert(transaction, &new.new_blocks, creator).await?;
    let blocks = new.new_blocks.iter();
    let mut blocks: Vec<_> = blocks
        .map(|block| (block.id, block.label.clone()))
        .collect();
    blocks.extend(known);
    link_blocks(transaction, id, &blocks).await?;
    put_tools(transaction, id, &new.tool_ids).await?;
    put_tags(transaction, id, &new.tags).await?;
    put_identities(transaction, id, &new.identity_ids).await?;
    put_secrets(transaction, sealer, id, &new.secrets).await?;
    if !new.folder_ids.is_empty() {
        put_folders(transaction, id, &new.folder_ids, &new.file_tool_ids).await?;
        open::sync(transaction, id).await?;
    }
    insert_messages(transaction, &new.messages).await
}
