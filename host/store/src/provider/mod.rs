//! Providers of models that were configured through the API. Their keys are sealed at rest, and
//! read by [`Store::provider_keys`] alone.

mod keys;
mod row;

use bulkhead_domain::{Timestamp, id::ProviderId};
use zeroize::Zeroizing;

use crate::{
    Paging, Result, Store, StoreError, check, compiled_here,
    paging::Listing,
    sql::{Durability, Statement, Transaction},
};

pub use keys::{KEY_MAX, ProviderKeys};

/// Providers of one installation; the list of models asks each.
pub const PROVIDERS_MAX: u64 = 1000;

const LISTING: Listing = Listing {
    what: "provider",
    table: "providers",
    columns: row::COLUMNS,
    key: "created_at",
    bytes: "size",
};

/// A provider to store.
#[derive(Debug)]
pub struct NewProvider {
    /// Its name, the first part of its models' handles. No other provider has it.
    pub name: String,
    /// What it speaks, for example `openai`.
    pub provider_type: String,
    /// Where it is, where that is not where its type has it.
    pub base_url: Option<String>,
    /// The region of those that have some.
    pub region: Option<String>,
    /// The version of its API, of those that have some.
    pub api_version: Option<String>,
    /// Its keys.
    pub keys: ProviderKeys,
}

/// A stored provider, without its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRecord {
    /// Its id.
    pub id: ProviderId,
    /// Its name, the first part of its models' handles.
    pub name: String,
    /// What it speaks.
    pub provider_type: String,
    /// Where it is, where that is not where its type has it.
    pub base_url: Option<String>,
    /// The region of those that have some.
    pub region: Option<String>,
    /// The version of its API, of those that have some.
    pub api_version: Option<String>,
    /// When its models were listed last.
    pub last_synced: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// A change of a provider. What is none stays.
#[derive(Debug, Default)]
pub struct ProviderChange {
    /// Its key.
    pub api_key: Option<Zeroizing<String>>,
    /// Its second key.
    pub access_key: Option<Zeroizing<String>>,
    /// Where it is.
    pub base_url: Option<String>,
    /// Its region.
    pub region: Option<String>,
    /// The version of its API.
    pub api_version: Option<String>,
    /// When its models were listed last.
    pub last_synced: Option<Timestamp>,
}

/// Which providers to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct ProviderFilter {
    /// With this name.
    pub name: Option<String>,
    /// Of this type.
    pub provider_type: Option<String>,
    /// Which part of the list; ordered by the time when providers were made.
    pub paging: Paging,
}

impl Store {
    /// Stores a provider; [`StoreError::NameTaken`] where one has its name.
    #[compiled_here]
    pub async fn create_provider(&self, new: NewProvider) -> Result<ProviderRecord> {
        let now = Timestamp::now();
        let record = ProviderRecord {
            id: ProviderId::random(),
            name: new.name,
            provider_type: new.provider_type,
            base_url: new.base_url,
            region: new.region,
            api_version: new.api_version,
            last_synced: None,
            created_at: now,
            updated_at: now,
        };
        let sealed = new.keys.seal(self.sealer(), &record)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        expect_room(&mut transaction).await?;
        if !row::insert(&mut transaction, &record, sealed).await? {
            return Err(StoreError::NameTaken {
                what: "provider",
                name: record.name,
            });
        }
        transaction.commit().await?;
        Ok(record)
    }

    /// The provider with this id.
    #[compiled_here]
    pub async fn provider(&self, id: &ProviderId) -> Result<Option<ProviderRecord>> {
        let row = self.database().optional(row::by_id(id)).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// The keys of a provider. [`StoreError::Corrupt`] where its row is not as this installation
    /// wrote it.
    #[compiled_here]
    pub async fn provider_keys(&self, id: &ProviderId) -> Result<Option<ProviderKeys>> {
        let Some(row) = self.database().optional(row::by_id(id)).await? else {
            return Ok(None);
        };
        let record = row::record(&row)?;
        ProviderKeys::open(self.sealer(), &record, &row::sealed(&row)?).map(Some)
    }

    /// Providers, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn providers(&self, filter: &ProviderFilter) -> Result<Vec<ProviderRecord>> {
        let (name, kind) = (filter.name.as_deref(), filter.provider_type.as_deref());
        for value in [name, kind].into_iter().flatten() {
            check::text("the filter of providers", value, check::NAME_MAX)?;
        }
        let conditions = |query: &mut Statement| {
            query.push_if(" AND name = ", name);
            query.push_if(" AND provider_type = ", kind);
        };
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(row::record).collect()
    }

    /// Changes a provider. Its id, its name and its type stay what they were, and so do keys that
    /// the change does not have.
    #[compiled_here]
    pub async fn update_provider(
        &self,
        id: &ProviderId,
        change: ProviderChange,
    ) -> Result<ProviderRecord> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let mut query = row::by_id(id);
        query.push(transaction.for_update());
        let missing = || StoreError::NotFound {
            what: "provider",
            id: id.to_string(),
        };
        let row = transaction.optional(query).await?.ok_or_else(missing)?;
        let mut record = row::record(&row)?;
        // The keys are bound to where the provider is, so they are sealed anew with it.
        let mut keys = ProviderKeys::open(self.sealer(), &record, &row::sealed(&row)?)?;
        keys.api_key = change.api_key.unwrap_or(keys.api_key);
        keys.access_key = change.access_key.or(keys.access_key);
        record.base_url = change.base_url.or(record.base_url);
        record.region = change.region.or(record.region);
        record.api_version = change.api_version.or(record.api_version);
        record.last_synced = change.last_synced.or(record.last_synced);
        record.updated_at = Timestamp::now();
        let sealed = keys.seal(self.sealer(), &record)?;
        row::update(&mut transaction, &record, sealed).await?;
        transaction.commit().await?;
        Ok(record)
    }

    /// Deletes a provider with its keys. Whether it was there.
    #[compiled_here]
    pub async fn delete_provider(&self, id: &ProviderId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM providers WHERE id = $1");
        let deleted = transaction.execute(delete.bind(id.to_string())).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

async fn expect_room(transaction: &mut Transaction) -> Result<()> {
    let count = Statement::new("SELECT COUNT(*) FROM providers");
    let count = transaction.optional(count).await?;
    if count.map_or(Ok(0), |row| row.unsigned(0))? < PROVIDERS_MAX {
        return Ok(());
    }
    Err(StoreError::Quota {
        what: "providers",
        limit: PROVIDERS_MAX,
    })
}
