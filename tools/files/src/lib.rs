//! The built-in tools by which an agent reads the files of its folders: it puts parts of them into its
//! context, and searches all of them.
//!
//! - [`open`]: into the context, and out of it. - [`grep`]: by an expression. - [`search`]: by words.

mod grep;
mod open;
mod search;

use bulkhead_sdk::{Error, tool, tools};

use self::open::FileRequest;

/// Open files, or parts of them, so that their lines can be read in the directories section.
///
/// A file that is open already is shown at the lines that are asked for now. Only a limited number of
/// files can be open: the least recently used ones are closed for others.
#[tool(title = "Open files", wishes(files))]
fn open_files(
    /// The files to open, each with the lines to show.
    file_requests: Vec<FileRequest>,
    /// Whether to close all other files. Defaults to false.
    close_all_others: Option<bool>,
) -> Result<String, Error> {
    open::open(&file_requests, close_all_others.unwrap_or(false))
}

/// Search the files for lines that match a regular expression, whether they are open or not.
///
/// Upper and lower case are the same. Twenty matches are shown at once; offset shows further ones.
#[tool(title = "Search files by pattern", read_only, wishes(files))]
fn grep_files(
    /// The regular expression that a line must match.
    pattern: String,
    /// A pattern of file names, such as *.py or docs/*.md. Defaults to all files.
    include: Option<String>,
    /// How many lines to show before and after each match. Defaults to 1.
    context_lines: Option<i64>,
    /// How many matches to leave out, as an earlier result says. Defaults to 0.
    offset: Option<i64>,
) -> Result<String, Error> {
    grep::grep(&pattern, include.as_deref(), context_lines, offset)
}

/// Search the files for passages about something, whether they are open or not.
#[tool(title = "Search files", read_only, wishes(files))]
fn semantic_search_files(
    /// What to look for.
    query: String,
    /// How many passages to give at most. Defaults to 5.
    limit: Option<i64>,
) -> Result<String, Error> {
    search::search(&query, limit)
}

tools![open_files, grep_files, semantic_search_files];
