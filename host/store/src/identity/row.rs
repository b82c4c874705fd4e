//! An identity as a row, and the links to what belongs to it.

use std::collections::{HashMap, HashSet};

use bulkhead_domain::{Identity, id::IdentityId};

use super::{IDENTITY_BYTES_MAX, IdentityRelations, LINKS_SHOWN};
use crate::{
    Result, Store, StoreError,
    agent::{expect_known, missing, texts},
    check,
    sql::{Argument, Row, Statement, Transaction},
};

/// The columns of [`record`].
pub(super) const COLUMNS: &str = "document";

/// A kind of thing that belongs to identities.
pub(super) struct Links {
    /// What one is called.
    pub(super) what: &'static str,
    /// Where such things are.
    pub(super) table: &'static str,
    /// Which are linked.
    select: &'static str,
    insert: &'static str,
    pub(super) delete: &'static str,
}

pub(super) const AGENTS: Links = Links {
    what: "agent",
    table: "agents",
    select: "SELECT identity_id, agent_id FROM (SELECT identity_id, agent_id, seq,
        ROW_NUMBER() OVER (PARTITION BY identity_id ORDER BY seq) AS place FROM identity_agents
        WHERE identity_id IN (",
    insert: "INSERT INTO identity_agents (identity_id, agent_id) VALUES ",
    delete: "DELETE FROM identity_agents WHERE identity_id = $1",
};

pub(super) const BLOCKS: Links = Links {
    what: "block",
    table: "blocks",
    select: "SELECT identity_id, block_id FROM (SELECT identity_id, block_id, seq,
        ROW_NUMBER() OVER (PARTITION BY identity_id ORDER BY seq) AS place FROM identity_blocks
        WHERE identity_id IN (",
    insert: "INSERT INTO identity_blocks (identity_id, block_id) VALUES ",
    delete: "DELETE FROM identity_blocks WHERE identity_id = $1",
};

impl Links {
    /// Links things to an identity, but those that are linked; gives how many that were.
    pub(super) async fn insert(
        &self,
        transaction: &mut Transaction,
        identity: &IdentityId,
        ids: &[String],
    ) -> Result<u64> {
        if ids.is_empty() {
            return Ok(0);
        }
        expect_known(transaction, self.what, self.table, ids).await?;
        let mut insert = Statement::new(self.insert);
        for (index, id) in ids.iter().enumerate() {
            insert.push_row(
                index == 0,
                [identity.to_string().into(), id.as_str().into()],
            );
        }
        insert.push(" ON CONFLICT DO NOTHING");
        transaction.execute(insert).await
    }

    /// The first things of each of these identities.
    async fn of(&self, store: &Store, identities: &[String]) -> Result<Vec<(IdentityId, String)>> {
        let mut query = Statement::new(self.select);
        query.push_list(identities.iter().map(String::as_str));
        query
            .push(") AS linked WHERE place <= ")
            .push_value(LINKS_SHOWN);
        query.push(" ORDER BY seq");
        let rows = store.database().all(query).await?;
        rows.iter()
            .map(|row| Ok((row.parsed(0, "identity id")?, row.text(1)?)))
            .collect()
    }
}

/// The columns of an identity and its document, each within its limits.
pub(super) fn columns(identity: &Identity) -> Result<[Argument; 10]> {
    check::name("the identity's identifier key", &identity.identifier_key)?;
    check::text("the identity's name", &identity.name, check::NAME_MAX)?;
    let project = identity.project_id.as_deref();
    check::text(
        "the identity's project",
        project.unwrap_or_default(),
        check::NAME_MAX,
    )?;
    let creator = identity.created_by_id.as_deref();
    check::text(
        "the identity's creator",
        creator.unwrap_or_default(),
        check::NAME_MAX,
    )?;
    let what = "the identity";
    let bare = Identity {
        agent_ids: Vec::new(),
        block_ids: Vec::new(),
        ..identity.clone()
    };
    let document = serde_json::to_value(bare).map_err(|_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    })?;
    let reason = "is larger than 256 KiB";
    let document = check::json(what, &document, IDENTITY_BYTES_MAX, reason)?;
    Ok([
        identity.id.to_string().into(),
        identity.identifier_key.as_str().into(),
        identity.name.as_str().into(),
        identity.identity_type.as_str().into(),
        project.into(),
        identity.created_at.into(),
        identity.updated_at.into(),
        i64::try_from(document.len()).unwrap_or(i64::MAX).into(),
        document.into(),
        creator.into(),
    ])
}

/// The identity, which from here to the end of the transaction nobody else changes or deletes.
/// Without what belongs to it.
pub(super) async fn lock(transaction: &mut Transaction, id: &IdentityId) -> Result<Identity> {
    let mut query = by_id(id);
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    record(&row.ok_or_else(|| missing("identity", id))?)
}

pub(super) fn by_id(id: &IdentityId) -> Statement {
    let query = Statement::new("SELECT document FROM identities WHERE id = $1");
    query.bind(id.to_string())
}

/// Makes exactly these what belongs to an identity, which is locked or new.
pub(super) async fn relate(
    transaction: &mut Transaction,
    identity: &IdentityId,
    relations: &IdentityRelations,
) -> Result<()> {
    let agents = relations.agent_ids.as_deref().map(texts);
    let blocks = relations.block_ids.as_deref().map(texts);
    // Blocks are locked before agents.
    for (links, ids) in [(BLOCKS, blocks), (AGENTS, agents)] {
        let Some(ids) = ids else { continue };
        if ids.len() > usize::try_from(LINKS_SHOWN).unwrap_or(usize::MAX) {
            return Err(StoreError::Quota {
                what: "the identity's list of agents or blocks",
                limit: LINKS_SHOWN.unsigned_abs(),
            });
        }
        let delete = Statement::new(links.delete).bind(identity.to_string());
        transaction.defer(delete).await?;
        links.insert(transaction, identity, &ids).await?;
    }
    Ok(())
}

/// The identities with these ids that are there.
pub(crate) async fn with_ids(
    store: &Store,
    ids: HashSet<IdentityId>,
) -> Result<HashMap<IdentityId, Identity>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let mut query = Statement::new("SELECT document FROM identities WHERE id IN (");
    query.push_list(ids.iter().map(ToString::to_string));
    let rows = store.database().all(query).await?;
    let identities = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
    let identities = with_links(store, identities).await?;
    Ok(identities
        .into_iter()
        .map(|identity| (identity.id, identity))
        .collect())
}

/// Identities with what belongs to them.
pub(super) async fn with_links(
    store: &Store,
    mut identities: Vec<Identity>,
) -> Result<Vec<Identity>> {
    if identities.is_empty() {
        return Ok(identities);
    }
    let ids: Vec<_> = identities
        .iter()
        .map(|identity| identity.id.to_string())
        .collect();
    let mut places = HashMap::new();
    for (place, identity) in identities.iter().enumerate() {
        places.insert(identity.id, place);
    }
    for (identity, agent) in AGENTS.of(store, &ids).await? {
        if let Some(place) = places.get(&identity) {
            let agent = agent
                .parse()
                .map_err(|error| StoreError::corrupt("agent id", error))?;
            identities[*place].agent_ids.push(agent);
        }
    }
    for (identity, block) in BLOCKS.of(store, &ids).await? {
        if let Some(place) = places.get(&identity) {
            let block = block
                .parse()
                .map_err(|error| StoreError::corrupt("block id", error))?;
            identities[*place].block_ids.push(block);
        }
    }
    Ok(identities)
}

/// An identity without what belongs to it.
pub(super) fn record(row: &Row) -> Result<Identity> {
    row.json(0, "identity")
}
