//! The tools of agents that speak: short contexts, from which old lines go to the archive.

use std::collections::BTreeSet;

use bulkhead_sdk::{
    Error, JsonSchema,
    recall::{self, Filter},
};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::{
    conversation::{self, Entry},
    moment, transcript,
    value::Value,
};

/// Parts of one call; a transcript has no more lines that belong together.
const CHUNKS_MAX: usize = 100;
/// Words that are looked for in one call, each with searches of its own.
const QUERIES_MAX: usize = 20;
/// The role that a text of the archive has among messages.
const ARCHIVE: &str = "archive";

/// Lines of the transcript that belong together.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Chunk {
    /// The number of the first line.
    start_index: i64,
    /// The number of the last line, which is included.
    end_index: i64,
    /// What makes the lines understandable by themselves: who and what they are about.
    context: String,
}

/// Archives parts of the transcript in the latest message of the user; all or, where one has no
/// lines, none.
pub(crate) fn store(chunks: &[Chunk]) -> Result<Value, Error> {
    if chunks.len() > CHUNKS_MAX {
        return Err(Error::Failed(format!(
            "Nothing was stored: there are {} chunks; at most {CHUNKS_MAX} fit into one call.",
            chunks.len()
        )));
    }
    let filter = Filter {
        roles: vec!["user".to_owned()],
        limit: 1,
        ..Filter::default()
    };
    let latest = recall::search_conversation(None, filter)?;
    let lines = latest.first().map(|turn| transcript::lines(&turn.text));
    let lines = lines.unwrap_or_default();
    let texts = chunks.iter().map(|chunk| {
        let (first, last) = (chunk.start_index, chunk.end_index);
        let part = transcript::part(&lines, first, last).ok_or_else(|| {
            Error::Failed(format!(
                "Nothing was stored: the transcript has no lines {first} to {last}."
            ))
        })?;
        Ok(format!("{}\n{part}", chunk.context.trim()))
    });
    for text in texts.collect::<Result<Vec<_>, Error>>()? {
        recall::insert(text.trim_start(), &[])?;
    }
    Value::nothing()
}

/// Searches messages and archive for each of the words; without any, gives the latest messages.
pub(crate) fn search(
    queries: &[String],
    start_minutes_ago: Option<i64>,
    end_minutes_ago: Option<i64>,
) -> Result<Value, Error> {
    if queries.len() > QUERIES_MAX {
        return Err(Error::Failed(format!(
            "There are {} keyword queries; at most {QUERIES_MAX} fit into one call.",
            queries.len()
        )));
    }
    let now = OffsetDateTime::now_utc();
    let before = |minutes| moment::rfc3339(moment::minutes_before(now, minutes));
    let filter = Filter {
        roles: conversation::names(&[]),
        since: start_minutes_ago.and_then(before),
        until: end_minutes_ago.and_then(before),
        limit: conversation::RESULTS_DEFAULT,
        ..Filter::default()
    };
    let queries = queries.iter().map(|query| query.trim());
    let queries: BTreeSet<_> = queries.filter(|query| !query.is_empty()).collect();
    let mut found = Found::new(now);
    if queries.is_empty() {
        found.conversation(None, &filter)?;
    }
    for query in queries {
        found.conversation(Some(query), &filter)?;
        found.archive(query, &filter)?;
    }
    conversation::found(found.entries)
}

/// What several searches found, each thing once.
struct Found {
    now: OffsetDateTime,
    ids: BTreeSet<String>,
    entries: Vec<Entry>,
}

impl Found {
    fn new(now: OffsetDateTime) -> Self {
        Self {
            now,
            ids: BTreeSet::new(),
            entries: Vec::new(),
        }
    }

    fn conversation(&mut self, query: Option<&str>, filter: &Filter) -> Result<(), Error> {
        for turn in recall::search_conversation(query, filter.clone())? {
            if self.ids.insert(turn.id.clone()) {
                self.entries.push(Entry::of_turn(turn, self.now));
            }
        }
        Ok(())
    }

    fn archive(&mut self, query: &str, filter: &Filter) -> Result<(), Error> {
        for passage in recall::search_archive(query, filter.clone())? {
            if self.ids.insert(passage.id) {
                let role = ARCHIVE.to_owned();
                let entry = Entry::new(passage.created_at, role, passage.text, self.now);
                self.entries.push(entry);
            }
        }
        Ok(())
    }
}
