//! The built-in tools by which an agent looks things up: in its conversation, of which only the
//! newest part is in its context, and in its archive, where it keeps texts for later.
//!
//! - [`conversation`]: what a search of messages finds. - [`archive`]: what is archived.
//! - [`voice`]: the tools of agents that speak. - [`transcript`]: numbered lines in a message.
//! - [`moment`]: dates and times as models write them. - [`value`], [`excerpt`]: results, and how much
//!   of them is given.

mod archive;
mod conversation;
mod excerpt;
mod moment;
mod transcript;
mod value;
mod voice;

use bulkhead_sdk::{Error, tool, tools};

use self::{archive::TagMatch, conversation::Role, value::Value, voice::Chunk};

/// Search past messages of the conversation, also those that are no longer in the context.
///
/// The newest come first. Without a query, the latest messages that match the other parameters
/// are given.
#[tool(title = "Search the conversation", read_only, wishes(recall))]
fn conversation_search(
    /// The text to look for in messages.
    query: Option<String>,
    /// Only messages of these roles. Defaults to all.
    roles: Option<Vec<Role>>,
    /// How many results to give at most. Defaults to 10.
    limit: Option<i64>,
    /// Only messages from then on: an ISO 8601 date, such as 2025-01-31 (from its beginning), or date and time, such as 2025-01-31T14:30. UTC where no offset is given.
    start_date: Option<String>,
    /// Only messages until then: an ISO 8601 date (until its end) or date and time.
    end_date: Option<String>,
) -> Result<Value, Error> {
    let since = moment::since("start_date", start_date.as_deref())?;
    let until = moment::until("end_date", end_date.as_deref())?;
    let roles = roles.unwrap_or_default();
    conversation::search(query.as_deref(), &roles, limit, since, until)
}

/// Store a text in long-term memory.
///
/// Archived texts are not part of the context: archival_memory_search finds them again. Write a
/// text so that it can be understood by itself, with names and dates in full.
#[tool(title = "Archive a text", wishes(recall))]
fn archival_memory_insert(
    /// The text to store.
    content: String,
    /// Words to sort it under, by which a search can be narrowed.
    tags: Option<Vec<String>>,
) -> Result<Value, Error> {
    archive::insert(&content, &tags.unwrap_or_default())
}

/// Search the texts that were stored in long-term memory.
#[tool(title = "Search the archive", read_only, wishes(recall))]
fn archival_memory_search(
    /// What to look for.
    query: String,
    /// Only texts with these tags.
    tags: Option<Vec<String>>,
    /// Whether a text must have any of the tags or all of them. Defaults to any.
    tag_match_mode: Option<TagMatch>,
    /// How many results to give at most. Defaults to 10.
    top_k: Option<i64>,
    /// Only texts stored from then on: an ISO 8601 date (from its beginning) or date and time. UTC where no offset is given.
    start_datetime: Option<String>,
    /// Only texts stored until then: an ISO 8601 date (until its end) or date and time.
    end_datetime: Option<String>,
) -> Result<Value, Error> {
    let since = moment::since("start_datetime", start_datetime.as_deref())?;
    let until = moment::until("end_datetime", end_datetime.as_deref())?;
    let all = tag_match_mode == Some(TagMatch::All);
    archive::search(&query, tags.unwrap_or_default(), all, top_k, since, until)
}

/// Store parts of the transcript in long-term memory, before they leave the conversation.
///
/// Each part is a run of lines that belong together, named by the numbers that stand before the
/// lines in the transcript.
#[tool(title = "Archive parts of the transcript", wishes(recall))]
fn store_memories(
    /// The parts to store.
    chunks: Vec<Chunk>,
) -> Result<Value, Error> {
    voice::store(&chunks)
}

/// Look through stored texts and earlier messages.
///
/// For what the user speaks of and the visible conversation does not say.
#[tool(title = "Search memories", read_only, wishes(recall))]
fn search_memory(
    /// Words to look for, each by itself. Without any, the latest messages of the time span are given.
    convo_keyword_queries: Option<Vec<String>>,
    /// How many minutes ago the time span begins. Defaults to the beginning of the conversation.
    start_minutes_ago: Option<i64>,
    /// How many minutes ago the time span ends. Defaults to now.
    end_minutes_ago: Option<i64>,
) -> Result<Value, Error> {
    let queries = convo_keyword_queries.unwrap_or_default();
    voice::search(&queries, start_minutes_ago, end_minutes_ago)
}

tools![
    conversation_search,
    archival_memory_insert,
    archival_memory_search,
    store_memories,
    search_memory,
];
