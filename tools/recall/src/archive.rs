//! The agent's archive.

use bulkhead_sdk::{
    Error, JsonSchema,
    recall::{self, Filter, Passage},
};
use serde::{Deserialize, Serialize};

use crate::{conversation::bounded, excerpt, value::Value};

/// Which tags a text must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TagMatch {
    Any,
    All,
}

/// A text that was found.
#[derive(Serialize)]
struct Entry {
    id: String,
    timestamp: String,
    content: String,
    tags: Vec<String>,
}

impl From<Passage> for Entry {
    fn from(passage: Passage) -> Self {
        Self {
            id: passage.id,
            timestamp: passage.created_at,
            content: passage.text,
            tags: passage.tags,
        }
    }
}

/// Stores a text.
pub(crate) fn insert(content: &str, tags: &[String]) -> Result<Value, Error> {
    if content.trim().is_empty() {
        return Err(Error::failed("The content is empty; nothing was stored."));
    }
    let tags: Vec<_> = tags.iter().map(String::as_str).collect();
    recall::insert(content, &tags)?;
    Value::nothing()
}

/// Searches texts that were stored between two times in RFC 3339; with tags, those that have any of
/// them, or `all`.
pub(crate) fn search(
    query: &str,
    tags: Vec<String>,
    all: bool,
    limit: Option<i64>,
    since: Option<String>,
    until: Option<String>,
) -> Result<Value, Error> {
    let filter = Filter {
        tags,
        match_all_tags: all,
        since,
        until,
        limit: bounded(limit),
        ..Filter::default()
    };
    let passages = recall::search_archive(query, filter)?.into_iter();
    let entries = excerpt::fitting(passages.map(Entry::from), |entry| &mut entry.content);
    Value::new(&entries)
}
