//! Files that are attached to the agent. (Folders of the host that a person granted are plain
//! `std::fs`.)

use crate::host;

/// An attached file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its id.
    pub id: String,
    /// What it is called; the other functions take this name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// For example `text/plain`.
    pub media_type: String,
    /// Whether it stands in the agent's context.
    pub open: bool,
}

/// Lines of a file, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// None from the start.
    pub first: Option<u32>,
    /// The last one, included; none to the end.
    pub last: Option<u32>,
}

/// How a file was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// What the agent sees of the file now.
    pub text: String,
    /// The lines that it saw before; none where the file was closed.
    pub previous: Option<Lines>,
    /// Files that were closed so that no more are open than may be.
    pub closed: Vec<String>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The text there, with the lines around it that were asked for.
    pub text: String,
    /// How well it matches, where the search ranks.
    pub score: Option<f64>,
}

/// Why a file can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool has no grant for files.
    #[error("{0}")]
    Denied(String),
    /// No file has this name.
    #[error("there is no such file")]
    NotFound,
    /// The pattern or the lines are malformed.
    #[error("the request is invalid: {0}")]
    Invalid(String),
    /// The host can't reach its storage.
    #[error("the files are unavailable: {0}")]
    Unavailable(String),
}

/// The attached files.
pub fn listing() -> Result<Vec<File>, Error> {
    host::files::listing()
}

/// How many files may be open at once.
pub fn open_limit() -> Result<u32, Error> {
    host::files::open_limit()
}

/// Puts lines of a file into the agent's context.
pub fn open(name: &str, lines: Lines) -> Result<Opened, Error> {
    host::files::open(name, lines)
}

/// Takes a file out of the agent's context.
pub fn close(name: &str) -> Result<(), Error> {
    host::files::close(name)
}

/// The places where a regular expression matches, in these files or, with no names, in all.
pub fn grep(
    pattern: &str,
    names: &[&str],
    context_lines: u32,
    limit: u32,
) -> Result<Vec<Hit>, Error> {
    host::files::grep(pattern, names, context_lines, limit)
}

/// The places whose meaning is nearest to the query.
pub fn search(query: &str, limit: u32) -> Result<Vec<Hit>, Error> {
    host::files::search(query, limit)
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Denied(_) => Self::Denied(text),
            Error::NotFound => Self::NotFound(text),
            Error::Invalid(_) | Error::Unavailable(_) => Self::Failed(text),
        }
    }
}
