//! Searching the conversation.

use bulkhead_sdk::{
    Error, JsonSchema,
    recall::{self, Filter, Turn},
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{excerpt, moment, value::Value};

/// Results where a model names no number.
pub(crate) const RESULTS_DEFAULT: u32 = 10;
/// Results of one search; the host gives no more.
const RESULTS_MAX: u32 = 200;
/// How messages were found, in the contract's word for "by their text".
const BY_TEXT: &str = "sql";

/// Whose messages are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Assistant,
    User,
    Tool,
}

/// What a search found.
#[derive(Serialize)]
struct Results {
    message: String,
    results: Vec<Entry>,
}

/// One message or text.
#[derive(Serialize)]
pub(crate) struct Entry {
    timestamp: String,
    time_ago: String,
    role: String,
    relevance: Relevance,
    content: String,
}

#[derive(Serialize)]
struct Relevance {
    search_mode: &'static str,
}

impl Role {
    const ALL: [Self; 3] = [Self::Assistant, Self::User, Self::Tool];

    fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::User => "user",
            Self::Tool => "tool",
        }
    }
}

impl Entry {
    pub(crate) fn new(
        timestamp: String,
        role: String,
        content: String,
        now: OffsetDateTime,
    ) -> Self {
        Self {
            time_ago: moment::ago(&timestamp, now),
            timestamp,
            role,
            relevance: Relevance {
                search_mode: BY_TEXT,
            },
            content,
        }
    }

    /// A message, as old as it is at `now`.
    pub(crate) fn of_turn(turn: Turn, now: OffsetDateTime) -> Self {
        Self::new(turn.created_at, turn.role, turn.text, now)
    }
}

/// Searches the messages of these roles (none: of all) between two times in RFC 3339.
pub(crate) fn search(
    query: Option<&str>,
    roles: &[Role],
    limit: Option<i64>,
    since: Option<String>,
    until: Option<String>,
) -> Result<Value, Error> {
    let filter = Filter {
        roles: names(roles),
        since,
        until,
        limit: bounded(limit),
        ..Filter::default()
    };
    let turns = recall::search_conversation(wanted(query), filter)?;
    let now = OffsetDateTime::now_utc();
    let entries = turns.into_iter().map(|turn| Entry::of_turn(turn, now));
    found(entries.collect())
}

/// The result for what was found.
pub(crate) fn found(results: Vec<Entry>) -> Result<Value, Error> {
    let results = excerpt::fitting(results, |entry| &mut entry.content);
    if results.is_empty() {
        return Ok(Value::text("No results found."));
    }
    Value::new(&Results {
        message: format!("Showing {} results:", results.len()),
        results,
    })
}

/// The roles by name; without any those of the conversation, which instructions are no part of.
pub(crate) fn names(roles: &[Role]) -> Vec<String> {
    let roles = if roles.is_empty() { &Role::ALL } else { roles };
    roles.iter().map(|role| role.as_str().to_owned()).collect()
}

/// A number of results within the limits.
pub(crate) fn bounded(limit: Option<i64>) -> u32 {
    limit.map_or(RESULTS_DEFAULT, |limit| {
        let limit = limit.clamp(1, i64::from(RESULTS_MAX));
        u32::try_from(limit).unwrap_or(RESULTS_DEFAULT)
    })
}

/// A query that is one: models send an empty text for none.
fn wanted(query: Option<&str>) -> Option<&str> {
    query.map(str::trim).filter(|query| !query.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_results_are_kept_within_limits() {
        let numbers = [None, Some(0), Some(-3), Some(7), Some(i64::MAX)];
        assert_eq!(numbers.map(bounded), [10, 1, 1, 7, 200]);
    }
}
