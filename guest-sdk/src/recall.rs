//! The agent's long-term archive and its conversation.

use crate::host;

/// A text of the archive.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Its id.
    pub id: String,
    /// The text.
    pub text: String,
    /// Labels that a search can name.
    pub tags: Vec<String>,
    /// RFC 3339.
    pub created_at: String,
    /// How well it matches, where the search ranks.
    pub score: Option<f64>,
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// Who wrote it: `user`, `assistant`, `tool`.
    pub role: String,
    /// The text.
    pub text: String,
    /// RFC 3339.
    pub created_at: String,
    /// How well it matches, where the search ranks.
    pub score: Option<f64>,
}

/// What a search looks for beside its query. The default filters nothing out and asks for ten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Tags of passages.
    pub tags: Vec<String>,
    /// Whether a passage must have all of them, or one.
    pub match_all_tags: bool,
    /// Roles of turns; empty for all.
    pub roles: Vec<String>,
    /// RFC 3339; nothing before it.
    pub since: Option<String>,
    /// RFC 3339; nothing after it.
    pub until: Option<String>,
    /// How many results at most.
    pub limit: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            tags: Vec::new(),
            match_all_tags: false,
            roles: Vec::new(),
            since: None,
            until: None,
            limit: 10,
        }
    }
}

/// Why nothing can be recalled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool has no grant for the archive and the conversation.
    #[error("{0}")]
    Denied(String),
    /// The query or the filter is malformed.
    #[error("the search is invalid: {0}")]
    Invalid(String),
    /// The host can't reach its storage.
    #[error("the archive is unavailable: {0}")]
    Unavailable(String),
}

/// Puts a text into the archive.
pub fn insert(text: &str, tags: &[&str]) -> Result<Passage, Error> {
    host::recall::insert(text, tags)
}

/// Searches the archive, best match first.
pub fn search_archive(query: &str, filter: Filter) -> Result<Vec<Passage>, Error> {
    host::recall::search_archive(query, filter)
}

/// Searches the conversation; without a query, its latest messages.
pub fn search_conversation(query: Option<&str>, filter: Filter) -> Result<Vec<Turn>, Error> {
    host::recall::search_conversation(query, filter)
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Denied(_) => Self::Denied(text),
            Error::Invalid(_) | Error::Unavailable(_) => Self::Failed(text),
        }
    }
}
