//! Changes of an agent.

use bulkhead_domain::{
    Agent, Timestamp,
    id::{AgentId, BlockId},
};

use super::{
    AgentRelations, limits, missing,
    relations::{distinct, link_blocks, lock_blocks, put_identities},
    row::{self, by_id, record},
    secrets::put_secrets,
    tags::put_tags,
    tools::{add_rules, approval_rules, put_tools},
};
use crate::{
    Result, Store, StoreError,
    folder::{open, put_folders},
    group::{insert_pair, lock_with_owned, mirror},
    instance::note_instance,
    sql::{Durability, Statement},
};

impl Store {
    /// Changes an agent and what hangs on it, all or nothing; gives the agent as it is then. An agent
    /// that was made to look after its memory gets and loses blocks with it.
    ///
    /// Nobody else changes the agent from before `edit` sees it until it is stored. Its id and
    /// when it was made stay what they were. The ids of its messages are written only where
    /// `edit` changes them. With tools that it did not have come the rules of those that require
    /// approval by default.
    ///
    /// [`StoreError::NotFound`] where it is not there, [`StoreError::UnknownReferences`] where
    /// something that is to hang on it is not, [`StoreError::NameTaken`] where two of its blocks
    /// would have the same label; where `edit` fails, nothing is stored.
    pub async fn update_agent<E: From<StoreError>>(
        &self,
        id: &AgentId,
        edit: impl FnOnce(&mut Agent) -> Result<(), E> + Send,
        relations: &AgentRelations,
    ) -> Result<Agent, E> {
        let durability = if relations.secrets.is_some() {
            Durability::Power
        } else {
            Durability::Process
        };
        let mut transaction = self.database().begin(durability).await?;
        // Blocks are locked before agents.
        let blocks = match &relations.block_ids {
            None => None,
            Some(ids) => {
                let ids = distinct("the agent's list of blocks", ids, limits::BLOCKS_MAX)?;
                Some(lock_blocks(&mut transaction, &ids).await?)
            }
        };
        // Those that were made for it have the same blocks.
        let owned = match blocks {
            Some(_) => lock_with_owned(&mut transaction, id).await?,
            None => Vec::new(),
        };
        let mut query = by_id(id);
        query.push(transaction.for_update());
        let former = transaction.optional(query).await?;
        let former = record(&former.ok_or_else(|| missing("agent", id))?)?;
        let mut agent = former.clone();
        edit(&mut agent)?;
        if let Some(ids) = &relations.tool_ids {
            let ids = distinct("the agent's list of tools", ids, limits::TOOLS_MAX)?;
            add_rules(
                &mut agent,
                approval_rules(&mut transaction, id, &ids).await?,
            );
        }
        agent.id = former.id;
        agent.created_at = former.created_at;
        agent.updated_at = Timestamp::now();
        row::replace(&mut transaction, &former, &agent).await?;
        if agent.name != former.name {
            note_instance(&mut transaction, agent.id, agent.updated_at).await?;
        }
        if let Some(blocks) = blocks {
            let had = "SELECT block_id FROM agent_blocks WHERE agent_id = $1";
            let had = transaction.all(Statement::new(had).bind(id.to_string()));
            let mut lost = Vec::new();
            for row in &had.await? {
                let block: BlockId = row.parsed(0, "block id")?;
                if !blocks.iter().any(|(kept, _)| *kept == block) {
                    lost.push(block);
                }
            }
            let unlink = Statement::new("DELETE FROM agent_blocks WHERE agent_id = $1");
            transaction.defer(unlink.bind(id.to_string())).await?;
            link_blocks(&mut transaction, id, &blocks).await?;
            mirror(&mut transaction, &owned, &lost, &blocks).await?;
        }
        if let Some(ids) = &relations.tool_ids {
            put_tools(&mut transaction, id, ids).await?;
        }
        if let Some(tags) = &relations.tags {
            put_tags(&mut transaction, id, tags).await?;
        }
        if let Some(ids) = &relations.identity_ids {
            put_identities(&mut transaction, id, ids).await?;
        }
        if let Some(secrets) = &relations.secrets {
            put_secrets(&mut transaction, self.sealer(), id, secrets).await?;
        }
        if let Some(folders) = &relations.folder_ids {
            put_folders(&mut transaction, id, folders, &relations.file_tool_ids).await?;
            open::sync(&mut transaction, id).await?;
        }
        if let Some(sleeptime) = &relations.sleeptime {
            insert_pair(&mut transaction, self.sealer(), id, sleeptime).await?;
        }
        transaction.commit().await?;
        Ok(agent)
    }
}
