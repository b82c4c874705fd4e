//! A folder as a row.

use bulkhead_domain::{Folder, id::FolderId};

use super::{missing, record};
use crate::{
    Result, StoreError, check,
    sql::{Statement, Transaction},
};

/// Bytes of all that is stored of a folder beside its files.
const DOCUMENT_MAX: usize = 1 << 20;

/// Writes a folder, in place of the one with its id.
pub(super) async fn put(transaction: &mut Transaction, folder: &Folder) -> Result<()> {
    check::name("the folder's name", &folder.name)?;
    let owner = folder.created_by_id.as_deref();
    check::text(
        "the folder's creator",
        owner.unwrap_or_default(),
        check::NAME_MAX,
    )?;
    let what = "the folder";
    let unwritable = |_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    };
    let value = serde_json::to_value(folder).map_err(unwritable)?;
    let document = check::json(what, &value, DOCUMENT_MAX, "is larger than 1 MiB")?;
    let put = "INSERT INTO folders (id, name, created_by_id, created_at, size, document)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET
            name = excluded.name, size = excluded.size, document = excluded.document";
    let put = Statement::new(put)
        .bind(folder.id.to_string())
        .bind(folder.name.as_str())
        .bind(owner)
        .bind(folder.created_at)
        .bind(i64::try_from(document.len()).unwrap_or(i64::MAX))
        .bind(document);
    let put = transaction.execute(put).await;
    put.map(drop)
        .map_err(|error| error.or_taken("folder", &folder.name))
}

/// The folder, which nobody else changes until the end of the transaction.
pub(super) async fn lock(transaction: &mut Transaction, id: &FolderId) -> Result<Folder> {
    let mut query = Statement::new("SELECT document FROM folders WHERE id = ");
    query
        .push_value(id.to_string())
        .push(transaction.for_update());
    let row = transaction.optional(query).await?;
    record(&row.ok_or_else(|| missing(id))?)
}
