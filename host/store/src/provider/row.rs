//! A provider as a row.

use bulkhead_domain::{Timestamp, id::ProviderId};

use super::ProviderRecord;
use crate::{
    Result, check,
    sql::{Row, Statement, Transaction},
};

/// Bytes of an address.
const URL_MAX: usize = 8192;

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str = "id, name, provider_type, base_url, region, api_version,
    last_synced, created_at, updated_at";

/// A query for a provider with its sealed keys.
pub(super) fn by_id(id: &ProviderId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query
        .push(COLUMNS)
        .push(", sealed FROM providers WHERE id = ");
    query.push_value(id.to_string());
    query
}

/// Writes a new provider. Whether its name was free.
pub(super) async fn insert(
    transaction: &mut Transaction,
    provider: &ProviderRecord,
    sealed: Vec<u8>,
) -> Result<bool> {
    let size = check_texts(provider)?;
    let insert = "INSERT INTO providers (id, name, provider_type, base_url, region, api_version,
            last_synced, created_at, updated_at, sealed, size)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT (name) DO NOTHING";
    let insert = Statement::new(insert)
        .bind(provider.id.to_string())
        .bind(provider.name.as_str())
        .bind(provider.provider_type.as_str())
        .bind(provider.base_url.as_deref())
        .bind(provider.region.as_deref())
        .bind(provider.api_version.as_deref())
        .bind(provider.last_synced)
        .bind(provider.created_at)
        .bind(provider.updated_at)
        .bind(sealed)
        .bind(size);
    Ok(transaction.execute(insert).await? > 0)
}

/// Writes what of a provider can change.
pub(super) async fn update(
    transaction: &mut Transaction,
    provider: &ProviderRecord,
    sealed: Vec<u8>,
) -> Result<()> {
    let size = check_texts(provider)?;
    let update = "UPDATE providers SET base_url = $2, region = $3, api_version = $4,
            last_synced = $5, updated_at = $6, sealed = $7, size = $8
        WHERE id = $1";
    let update = Statement::new(update)
        .bind(provider.id.to_string())
        .bind(provider.base_url.as_deref())
        .bind(provider.region.as_deref())
        .bind(provider.api_version.as_deref())
        .bind(provider.last_synced)
        .bind(provider.updated_at)
        .bind(sealed)
        .bind(size);
    transaction.defer(update).await
}

/// Refuses texts that are too long; gives the bytes of all.
fn check_texts(provider: &ProviderRecord) -> Result<i64> {
    check::name("the provider's name", &provider.name)?;
    check::name("the provider's type", &provider.provider_type)?;
    let mut size = provider.name.len() + provider.provider_type.len();
    for (what, value, max) in [
        ("the provider's base URL", &provider.base_url, URL_MAX),
        ("the provider's region", &provider.region, check::NAME_MAX),
        (
            "the provider's API version",
            &provider.api_version,
            check::NAME_MAX,
        ),
    ] {
        let value = value.as_deref().unwrap_or_default();
        check::text(what, value, max)?;
        size += value.len();
    }
    Ok(i64::try_from(size).unwrap_or(i64::MAX))
}

pub(super) fn record(row: &Row) -> Result<ProviderRecord> {
    let last_synced = row.optional_int(6)?;
    Ok(ProviderRecord {
        id: row.parsed(0, "provider id")?,
        name: row.text(1)?,
        provider_type: row.text(2)?,
        base_url: row.optional_text(3)?,
        region: row.optional_text(4)?,
        api_version: row.optional_text(5)?,
        last_synced: last_synced.map(Timestamp::from_micros),
        created_at: row.timestamp(7)?,
        updated_at: row.timestamp(8)?,
    })
}

/// The sealed keys of [`by_id`].
pub(super) fn sealed(row: &Row) -> Result<Vec<u8>> {
    row.blob(9)
}
