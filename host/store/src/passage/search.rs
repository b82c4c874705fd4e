//! Passages by what they say.

use std::collections::BTreeSet;

use bulkhead_domain::{Passage, Timestamp, id::ArchiveId, platform::UserId};

use super::{filter::LISTING, row::record_at};
use crate::{
    Result, Store, StoreError, compiled_here, paging::check_filter, search::Words, sql::Statement,
    tool::FILTER_LIST_MAX,
};

/// Which passages to search for. What is none or empty does not matter.
#[derive(Debug, Clone, Default)]
pub struct PassageSearch {
    /// Of one of these archives.
    pub archive_ids: Option<Vec<ArchiveId>>,
    /// Of archives that this user of the platform made, or that were made for an agent of this user.
    pub created_by: Option<UserId>,
    /// With one of these words at least, in upper or lower case; 16 KiB at most.
    pub query: Option<String>,
    /// With one of these tags, or with all of them.
    pub tags: Vec<String>,
    /// Whether a passage must have all of the tags.
    pub match_all_tags: bool,
    /// Made at this time or later.
    pub since: Option<Timestamp>,
    /// Made before this time.
    pub until: Option<Timestamp>,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
}

impl Store {
    /// Passages in which words of the query stand, with the share of the words that each has:
    /// those with all of them first (1.0), then by their number, and the newest first where that
    /// is the same. Without a query the newest, each with 1.0. A word is found inside of longer
    /// ones too.
    ///
    /// Looked through are the newest 50,000 passages that the other conditions leave, and of each
    /// the first 32 KiB.
    #[compiled_here]
    pub async fn search_passages(&self, search: &PassageSearch) -> Result<Vec<(Passage, f64)>> {
        check_filter(
            "the filter's list of tags",
            search.tags.iter().map(String::as_str),
        )?;
        if search
            .archive_ids
            .as_ref()
            .is_some_and(|ids| ids.len() > FILTER_LIST_MAX)
        {
            return Err(StoreError::Quota {
                what: "the filter's list of archives",
                limit: FILTER_LIST_MAX as u64,
            });
        }
        let words = Words::of(search.query.as_deref())?;
        let conditions = |query: &mut Statement| search.push_conditions(query);
        let rows = self.search(&LISTING, &words, search.limit, conditions);
        let rows = rows.await?;
        let passage = |(row, share)| Ok((record_at(&row, 1)?, share));
        rows.into_iter().map(passage).collect()
    }
}

impl PassageSearch {
    fn push_conditions(&self, query: &mut Statement) {
        if let Some(ids) = &self.archive_ids {
            query.push(" AND archive_id IN (");
            query.push_list(ids.iter().map(ToString::to_string));
        }
        if let Some(user) = self.created_by {
            query.push(" AND archive_id IN (SELECT id FROM archives WHERE created_by_id = ");
            query.push_value(user.to_string()).push(")");
        }
        query.push_if(" AND created_at >= ", self.since);
        query.push_if(" AND created_at < ", self.until);
        let tags: BTreeSet<_> = self.tags.iter().map(String::as_str).collect();
        if tags.is_empty() {
            return;
        }
        let needed = if self.match_all_tags { tags.len() } else { 1 };
        query.push(" AND (SELECT COUNT(*) FROM passage_tags WHERE passage_id = id AND tag IN (");
        query.push_list(tags);
        query.push(") >= ");
        query.push_value(i64::try_from(needed).unwrap_or(i64::MAX));
    }
}
