//! Pages of lists whose rows have a `seq`: a moment in the order that the list has, and the
//! order in which rows were made where that is the same.

use crate::{Result, Store, StoreError, check, sql::Row, sql::Statement, tool::PAGE_BYTES_MAX};

/// Which part of a list, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paging {
    /// What follows the entry with this id in the list.
    pub after: Option<String>,
    /// What comes before the entry with this id in the list. Without `after`, the nearest to it,
    /// so that a client walks back page by page.
    pub before: Option<String>,
    /// The oldest first; otherwise the newest.
    pub ascending: bool,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
}

impl Paging {
    /// As many as a page takes, the oldest first.
    pub(crate) fn oldest() -> Self {
        Self {
            ascending: true,
            limit: Some(check::PAGE_MAX),
            ..Self::default()
        }
    }
}

/// What a list reads. Its text is this program's alone.
pub(crate) struct Listing {
    /// What one entry is called.
    pub(crate) what: &'static str,
    /// The table; it has `id` and `seq`.
    pub(crate) table: &'static str,
    pub(crate) columns: &'static str,
    /// A number of each row, never NULL, by which the list is ordered.
    pub(crate) key: &'static str,
    /// The bytes of each row, which bound a page ([`PAGE_BYTES_MAX`]).
    pub(crate) bytes: &'static str,
}

/// Where an entry stands in the order.
struct Place {
    key: i64,
    seq: i64,
}

impl Listing {
    /// The rows of one page. `conditions` appends ` AND …` as often as it likes. A page may end
    /// before its limit; its first row is always there, and the last page is empty.
    pub(crate) async fn page(
        &self,
        store: &Store,
        paging: &Paging,
        conditions: impl FnOnce(&mut Statement),
    ) -> Result<Vec<Row>> {
        let after = self.place(store, paging.after.as_deref()).await?;
        let before = self.place(store, paging.before.as_deref()).await?;
        // Back from a place means the other way round from there, and then turned over.
        let turned = before.is_some() && after.is_none();
        let direction = if paging.ascending == turned {
            " DESC"
        } else {
            ""
        };
        let mut query = Statement::new("SELECT ");
        query.push(self.columns).push(" FROM ").push(self.table);
        query.push(" JOIN (SELECT seq AS page_seq, place, SUM(bytes) OVER (ORDER BY place");
        query.push(direction).push(", seq").push(direction);
        query.push(") - bytes AS ahead FROM (SELECT seq, ");
        query.push(self.key).push(" AS place, ");
        query.push(self.bytes).push(" AS bytes FROM ");
        query.push(self.table).push(" WHERE 1 = 1");
        conditions(&mut query);
        for (place, later) in [(after, paging.ascending), (before, !paging.ascending)] {
            let Some(place) = place else { continue };
            query.push(" AND (").push(self.key).push(", seq) ");
            query
                .push(if later { "> (" } else { "< (" })
                .push_value(place.key)
                .push(", ")
                .push_value(place.seq)
                .push(")");
        }
        query.push(" ORDER BY ").push(self.key).push(direction);
        query.push(", seq").push(direction);
        query.push(" LIMIT ").push_value(check::page(paging.limit));
        query.push(") AS candidates) AS page ON page_seq = seq WHERE ahead < ");
        query.push_value(PAGE_BYTES_MAX);
        query.push(" ORDER BY place").push(direction);
        query.push(", seq").push(direction);
        let mut rows = store.database().all(query).await?;
        if turned {
            rows.reverse();
        }
        Ok(rows)
    }

    /// How many rows there are, whatever their page.
    pub(crate) async fn count(
        &self,
        store: &Store,
        conditions: impl FnOnce(&mut Statement),
    ) -> Result<u64> {
        let mut query = Statement::new("SELECT COUNT(*) FROM ");
        query.push(self.table).push(" WHERE 1 = 1");
        conditions(&mut query);
        let row = store.database().optional(query).await?;
        row.map_or(Ok(0), |row| row.unsigned(0))
    }

    async fn place(&self, store: &Store, id: Option<&str>) -> Result<Option<Place>> {
        let Some(id) = id else { return Ok(None) };
        check::text("the cursor", id, check::NAME_MAX)?;
        let mut query = Statement::new("SELECT ");
        query.push(self.key).push(", seq FROM ").push(self.table);
        query.push(" WHERE id = ").push_value(id);
        let missing = || StoreError::NotFound {
            what: self.what,
            id: id.to_owned(),
        };
        let row = store.database().optional(query).await?;
        let row = row.ok_or_else(missing)?;
        Ok(Some(Place {
            key: row.int(0)?,
            seq: row.int(1)?,
        }))
    }
}

/// The values of a filter: not more than a statement takes, each of a length that can be there.
pub(crate) fn check_filter<'a>(
    what: &'static str,
    values: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    for (index, value) in values.into_iter().enumerate() {
        if index >= crate::tool::FILTER_LIST_MAX {
            return Err(StoreError::Quota {
                what,
                limit: crate::tool::FILTER_LIST_MAX as u64,
            });
        }
        check::text(what, value, check::NAME_MAX)?;
    }
    Ok(())
}
