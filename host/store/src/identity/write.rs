//! One identity, by its id or by its identifier key.

use bulkhead_domain::{Identity, IdentityProperty, Timestamp, id::IdentityId};

use super::{
    IdentityRelations,
    row::{by_id, columns, lock, record, relate, with_links},
};
use crate::{
    Result, Store, StoreError, Upserted,
    agent::missing,
    check, compiled_here,
    sql::{Durability, Statement, Transaction},
};

impl Store {
    /// Stores an identity and what belongs to it.
    ///
    /// [`StoreError::NameTaken`] with the identifier key where another one of its project has it,
    /// [`StoreError::UnknownReferences`] where an agent or block is not there.
    #[compiled_here]
    pub async fn create_identity(&self, identity: &Identity) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        if !insert(&mut transaction, identity).await? {
            return Err(taken(identity));
        }
        let relations = IdentityRelations {
            agent_ids: Some(identity.agent_ids.clone()),
            block_ids: Some(identity.block_ids.clone()),
        };
        relate(&mut transaction, &identity.id, &relations).await?;
        transaction.commit().await
    }

    /// Stores an identity in place of the one of its project with its identifier key: the id of
    /// that one stays, who made it and when, and what belongs to it where `relations` say nothing.
    #[compiled_here]
    pub async fn upsert_identity(
        &self,
        identity: &Identity,
        relations: &IdentityRelations,
    ) -> Result<Upserted<Identity>> {
        let mut stored = identity.clone();
        let mut transaction = self.database().begin(Durability::Process).await?;
        let is_new = insert(&mut transaction, &stored).await?;
        if !is_new {
            let former = find_key(&mut transaction, identity).await?;
            let former = former.ok_or_else(|| taken(identity))?;
            stored.id = former.id;
            stored.created_at = former.created_at;
            stored.created_by_id = former.created_by_id;
            stored.updated_at = Timestamp::now();
            replace(&mut transaction, &stored).await?;
        }
        relate(&mut transaction, &stored.id, relations).await?;
        transaction.commit().await?;
        let record = self.read(&stored.id).await?;
        Ok(Upserted { record, is_new })
    }

    /// The identity with this id.
    #[compiled_here]
    pub async fn identity(&self, id: &IdentityId) -> Result<Option<Identity>> {
        let row = self.database().optional(by_id(id)).await?;
        let identity = row.iter().map(record).collect::<Result<Vec<_>>>()?;
        Ok(with_links(self, identity).await?.pop())
    }

    /// Changes an identity and what belongs to it; gives it as it is then. Nobody else changes it
    /// from before `edit` sees it until it is stored. `edit` sees it without its agents and
    /// blocks, which `relations` change. Its id, who made it and when stay what they were.
    ///
    /// [`StoreError::NotFound`] where it is not there, [`StoreError::NameTaken`] where `edit`
    /// gives it the identifier key of another one, [`StoreError::UnknownReferences`] where an
    /// agent or block is not there; where `edit` fails, nothing is stored.
    pub async fn update_identity<E: From<StoreError>>(
        &self,
        id: &IdentityId,
        edit: impl FnOnce(&mut Identity) -> Result<(), E> + Send,
        relations: &IdentityRelations,
    ) -> Result<Identity, E> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let former = lock(&mut transaction, id).await?;
        let mut identity = former.clone();
        edit(&mut identity)?;
        identity.id = former.id;
        identity.created_at = former.created_at;
        identity.created_by_id.clone_from(&former.created_by_id);
        identity.updated_at = Timestamp::now();
        let key =
            |identity: &Identity| (identity.identifier_key.clone(), identity.project_id.clone());
        if key(&identity) != key(&former) && find_key(&mut transaction, &identity).await?.is_some()
        {
            return Err(taken(&identity).into());
        }
        replace(&mut transaction, &identity).await?;
        relate(&mut transaction, id, relations).await?;
        transaction.commit().await?;
        Ok(self.read(id).await?)
    }

    /// Adds properties to an identity, each in place of the one with its key; gives the identity
    /// as it is then. [`StoreError::NotFound`] where it is not there.
    #[compiled_here]
    pub async fn upsert_identity_properties(
        &self,
        id: &IdentityId,
        properties: &[IdentityProperty],
    ) -> Result<Identity> {
        let merge = |identity: &mut Identity| {
            for property in properties {
                let former = identity.properties.iter_mut();
                match former.into_iter().find(|former| former.key == property.key) {
                    Some(former) => former.clone_from(property),
                    None => identity.properties.push(property.clone()),
                }
            }
            Ok(())
        };
        self.update_identity(id, merge, &IdentityRelations::default())
            .await
    }

    /// Deletes an identity. What belonged to it stays. Whether it was there.
    #[compiled_here]
    pub async fn delete_identity(&self, id: &IdentityId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM identities WHERE id = $1").bind(id.to_string());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }

    /// An identity that was there just now.
    async fn read(&self, id: &IdentityId) -> Result<Identity> {
        let identity = self.identity(id).await?;
        identity.ok_or_else(|| missing("identity", id))
    }
}

fn taken(identity: &Identity) -> StoreError {
    StoreError::NameTaken {
        what: "identity",
        name: identity.identifier_key.clone(),
    }
}

/// Writes an identity that is not there yet; false where its id or identifier key is taken.
async fn insert(transaction: &mut Transaction, identity: &Identity) -> Result<bool> {
    let mut insert = Statement::new(
        "INSERT INTO identities (id, identifier_key, name, identity_type, project_id, created_at,
            updated_at, size, document, created_by_id) VALUES ",
    );
    insert.push_row(true, columns(identity)?);
    insert.push(" ON CONFLICT DO NOTHING");
    Ok(transaction.execute(insert).await? > 0)
}

/// Writes an identity in place of the one with its id, whose row is locked.
async fn replace(transaction: &mut Transaction, identity: &Identity) -> Result<()> {
    let replace = "UPDATE identities SET identifier_key = $2, name = $3, identity_type = $4,
        project_id = $5, created_at = $6, updated_at = $7, size = $8, document = $9,
        created_by_id = $10 WHERE id = $1";
    let mut replace = Statement::new(replace);
    for column in columns(identity)? {
        replace = replace.bind(column);
    }
    transaction.defer(replace).await
}

/// The identity of the same project with the same identifier key, locked.
async fn find_key(transaction: &mut Transaction, identity: &Identity) -> Result<Option<Identity>> {
    check::name("the identity's identifier key", &identity.identifier_key)?;
    let find = "SELECT document FROM identities
        WHERE identifier_key = $1 AND COALESCE(project_id, '') = $2";
    let mut find = Statement::new(find)
        .bind(identity.identifier_key.as_str())
        .bind(identity.project_id.as_deref().unwrap_or_default());
    find.push(transaction.for_update());
    let row = transaction.optional(find).await?;
    row.as_ref().map(record).transpose()
}
