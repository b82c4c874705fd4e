//! Lists: a page, and how much there is in all.

use bulkhead_store::NumberedPage;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::error::{self, Rejection};

/// Most entries of a page.
const SIZE_MAX: u32 = bulkhead_store::numbered::PAGE_SIZE_MAX;

/// The page that somebody asks for, or what is wrong with it.
pub(crate) fn page(page: Option<u32>, page_size: Option<u32>) -> Result<NumberedPage, Rejection> {
    let default = NumberedPage::default();
    let page = page.unwrap_or(default.page);
    let page_size = page_size.unwrap_or(default.page_size);
    if page == 0 {
        return Err(invalid("page: pages are counted from 1"));
    }
    if page_size == 0 || page_size > SIZE_MAX {
        return Err(invalid(&format!("page_size: from 1 to {SIZE_MAX}")));
    }
    Ok(NumberedPage { page, page_size })
}

fn invalid(text: &str) -> Rejection {
    Rejection::with(&error::INVALID_PARAMETER, text)
}

/// A page.
#[derive(Serialize, ToSchema)]
pub(crate) struct Page<T> {
    data: Vec<T>,
    pagination: Pagination,
}

/// Where a page stands in its list.
#[derive(Serialize, ToSchema)]
pub(crate) struct Pagination {
    /// Entries of all pages.
    total: u64,
    page: u32,
    page_size: u32,
    total_pages: u64,
    has_next: bool,
    has_prev: bool,
}

impl<T> Page<T> {
    pub(crate) fn new(data: Vec<T>, page: NumberedPage, total: u64) -> Self {
        let total_pages = total.div_ceil(u64::from(page.page_size.max(1)));
        let pagination = Pagination {
            total,
            page: page.page,
            page_size: page.page_size,
            total_pages,
            has_next: u64::from(page.page) < total_pages,
            has_prev: page.page > 1,
        };
        Self { data, pagination }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(page: u32, total: u64) -> (u64, bool, bool) {
        let page = NumberedPage {
            page,
            page_size: 20,
        };
        let Pagination {
            total_pages,
            has_next,
            has_prev,
            ..
        } = Page::<()>::new(Vec::new(), page, total).pagination;
        (total_pages, has_next, has_prev)
    }

    #[test]
    fn a_page_knows_its_neighbours() {
        assert_eq!(shown(1, 0), (0, false, false));
        assert_eq!(shown(1, 20), (1, false, false));
        assert_eq!(shown(1, 21), (2, true, false));
        assert_eq!(shown(2, 21), (2, false, true));
    }

    #[test]
    fn a_page_is_one_that_there_can_be() {
        assert_eq!(page(None, None).unwrap(), NumberedPage::default());
        for (number, size) in [(Some(0), None), (None, Some(0)), (None, Some(101))] {
            assert!(page(number, size).is_err(), "{number:?} {size:?}");
        }
    }
}
