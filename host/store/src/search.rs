//! Search by words: rows in whose text the words of a query stand, those with the most first.

use crate::{
    Result, Store, check,
    fold::{folded, pattern},
    paging::Listing,
    sql::{Row, Statement},
    tool::PAGE_BYTES_MAX,
};

/// Words of a query that count; a person writes fewer.
const WORDS_MAX: usize = 32;
/// Bytes of a query.
const QUERY_MAX: usize = 16 << 10;
/// Rows that one search looks through, the newest: some hundred milliseconds.
const SCAN_MAX: i64 = 50_000;
/// Bytes of a text that are searched: the first ones.
const TEXT_MAX: usize = 32 << 10;

/// The words of a query, in lower case, each once; none where it has none.
pub(crate) struct Words(Vec<String>);

impl Words {
    pub(crate) fn of(query: Option<&str>) -> Result<Self> {
        let query = query.unwrap_or_default();
        check::text("the query", query, QUERY_MAX)?;
        let mut words = Vec::new();
        for word in folded(query).split(|character: char| !character.is_alphanumeric()) {
            if !word.is_empty() && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
        // A query of signs alone means them.
        if words.is_empty() && !query.trim().is_empty() {
            words.push(folded(query.trim()));
        }
        words.truncate(WORDS_MAX);
        Ok(Self(words))
    }

    /// The number of words that are in `text_folded`, as an expression; 1 without words.
    fn push_found(&self, query: &mut Statement) {
        query.push("CAST(");
        for (index, word) in self.0.iter().enumerate() {
            query.push(if index == 0 { "" } else { " + " });
            query.push("CASE WHEN text_folded LIKE ");
            query.push_value(pattern(word));
            query.push(" ESCAPE '\\' THEN 1 ELSE 0 END");
        }
        query.push(if self.0.is_empty() { "1" } else { "" });
        query.push(" AS BIGINT)");
    }

    fn count(&self) -> usize {
        self.0.len().max(1)
    }
}

impl Store {
    /// The rows that have one of the words, with the share of the words that each has: the
    /// largest share first, then the newest. Without words the newest. The table has the column
    /// `text_folded`; `conditions` adds ` AND …` of its columns.
    pub(crate) async fn search(
        &self,
        list: &Listing,
        words: &Words,
        limit: Option<u32>,
        conditions: impl FnOnce(&mut Statement),
    ) -> Result<Vec<(Row, f64)>> {
        const ORDER: &str = "found DESC, found_key DESC, found_seq DESC";
        let mut query = Statement::new("SELECT found, ");
        query.push(list.columns).push(" FROM ").push(list.table);
        query.push(" JOIN (SELECT found, found_key, found_seq, SUM(found_size) OVER (ORDER BY ");
        query
            .push(ORDER)
            .push(") - found_size AS ahead FROM (SELECT ");
        words.push_found(&mut query);
        query.push(" AS found, found_key, found_seq, found_size FROM (SELECT text_folded, ");
        query
            .push(list.key)
            .push(" AS found_key, seq AS found_seq, ");
        query.push(list.bytes).push(" AS found_size FROM ");
        query.push(list.table).push(" WHERE 1 = 1");
        conditions(&mut query);
        query.push(" ORDER BY found_key DESC, found_seq DESC LIMIT ");
        query.push_value(SCAN_MAX);
        query.push(") AS scanned) AS scored WHERE found > 0 ORDER BY ");
        query
            .push(ORDER)
            .push(" LIMIT ")
            .push_value(check::page(limit));
        query.push(") AS hits ON found_seq = seq WHERE ahead < ");
        query.push_value(PAGE_BYTES_MAX);
        query.push(" ORDER BY ").push(ORDER);
        let rows = self.database().all(query).await?;
        let share = |row: Row| {
            let found = u32::try_from(row.int(0)?).unwrap_or(u32::MAX);
            let words = u32::try_from(words.count()).unwrap_or(u32::MAX);
            Ok((row, f64::from(found) / f64::from(words)))
        };
        rows.into_iter().map(share).collect()
    }
}

/// A text as it is searched: its first part, in lower case, without NUL, which Postgres does
/// not store.
pub(crate) fn searchable(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_MAX);
    folded(&text[..end]).replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_its_words_each_once_or_its_signs() {
        let words = |query| Words::of(Some(query)).unwrap().0;
        assert_eq!(words("Blue, blue  SKY's"), ["blue", "sky", "s"]);
        assert_eq!(words(" :-) "), [":-)"]);
        assert!(words("  ").is_empty());
        assert!(Words::of(None).unwrap().0.is_empty());
        assert_eq!(words(&"a1 b2 ".repeat(99)), ["a1", "b2"]);
    }
}
