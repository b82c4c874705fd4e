//! Passages about something.

use std::fmt::Write as _;

use bulkhead_sdk::{
    Error,
    files::{self, Hit},
};

/// Passages where the model does not say how many.
const LIMIT_DEFAULT: i64 = 5;
const LIMIT_MAX: i64 = 50;

/// The passages that fit the query best, file by file.
pub(crate) fn search(query: &str, limit: Option<i64>) -> Result<String, Error> {
    if query.trim().is_empty() {
        return Err(Error::failed("The query is empty."));
    }
    let limit = limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX);
    let hits = files::search(query, u32::try_from(limit).unwrap_or(1))?;
    if hits.is_empty() {
        return Ok(format!("No semantic matches found for query: '{query}'"));
    }
    // Files in the order of their best passages.
    let mut by_file: Vec<(&str, Vec<&Hit>)> = Vec::new();
    for hit in &hits {
        match by_file.iter_mut().find(|(file, _)| *file == hit.file) {
            Some((_, found)) => found.push(hit),
            None => by_file.push((&hit.file, vec![hit])),
        }
    }
    let mut text = format!(
        "Found {} semantic matches in {} files for query: '{query}'\n{}",
        hits.len(),
        by_file.len(),
        "=".repeat(80)
    );
    for (file, found) in by_file {
        for (number, hit) in (1..).zip(found) {
            let _ = write!(text, "\n\n=== {file} (passage #{number}) ===\n{}", hit.text);
        }
    }
    Ok(text)
}
