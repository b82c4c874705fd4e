//! Pages by their number, as the platform's lists have them: the first is page 1, and every page
//! comes with how many entries there are in all.
//!
//! Such lists are in the order in which their entries were made, so that what is made while somebody
//! leafs through them stands at the end and moves nothing.

use crate::{
    Result, Store,
    sql::{Row, Statement},
};

/// Entries of a page where the caller does not say.
pub const PAGE_SIZE_DEFAULT: u32 = 20;
/// Entries of a page, whatever the caller says: bounds memory and time.
pub const PAGE_SIZE_MAX: u32 = 100;

/// Which page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedPage {
    /// Its number, from 1. One behind the last is empty.
    pub page: u32,
    /// Entries of each page, 1 to [`PAGE_SIZE_MAX`]; what is beyond counts as the nearest of these.
    pub page_size: u32,
}

impl Default for NumberedPage {
    fn default() -> Self {
        Self {
            page: 1,
            page_size: PAGE_SIZE_DEFAULT,
        }
    }
}

impl NumberedPage {
    fn size(self) -> i64 {
        i64::from(self.page_size.clamp(1, PAGE_SIZE_MAX))
    }

    fn offset(self) -> i64 {
        i64::from(self.page.saturating_sub(1)).saturating_mul(self.size())
    }
}

/// What a list reads. Its text is this program's alone.
pub(crate) struct NumberedListing {
    pub(crate) columns: &'static str,
    /// The tables, and how they are joined.
    pub(crate) from: &'static str,
    /// A column that is unique.
    pub(crate) order: &'static str,
}

impl NumberedListing {
    /// The rows of a page, and how many there are in all. `conditions` appends ` AND …` as often as
    /// it likes.
    pub(crate) async fn page(
        &self,
        store: &Store,
        page: NumberedPage,
        conditions: impl Fn(&mut Statement),
    ) -> Result<(Vec<Row>, u64)> {
        let mut rows = Statement::new("SELECT ");
        rows.push(self.columns).push(" FROM ").push(self.from);
        rows.push(" WHERE 1 = 1");
        conditions(&mut rows);
        rows.push(" ORDER BY ").push(self.order);
        rows.push(" LIMIT ").push_value(page.size());
        rows.push(" OFFSET ").push_value(page.offset());
        let mut count = Statement::new("SELECT COUNT(*) FROM ");
        count.push(self.from).push(" WHERE 1 = 1");
        conditions(&mut count);
        let mut answers = store.database().each(vec![rows, count]).await?.into_iter();
        let rows = answers.next().unwrap_or_default();
        let count = answers.next().unwrap_or_default();
        let total = count.first().map_or(Ok(0), |row| row.unsigned(0))?;
        Ok((rows, total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_from_one_and_never_too_large() {
        let place = |page, page_size| {
            let page = NumberedPage { page, page_size };
            (page.offset(), page.size())
        };
        assert_eq!(place(1, 20), (0, 20));
        assert_eq!(place(3, 20), (40, 20));
        assert_eq!(place(0, 0), (0, 1));
        assert_eq!(place(2, 1000), (100, 100));
        assert_eq!(place(u32::MAX, 100).0, i64::from(u32::MAX - 1) * 100);
    }
}
