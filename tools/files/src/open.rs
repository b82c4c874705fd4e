//! Files that are put into the context.

use bulkhead_sdk::{
    Error, JsonSchema,
    files::{self, Lines},
};
use serde::Deserialize;

/// Names that an error lists.
const NAMES_MAX: usize = 50;

/// A file to open, and which of its lines to show.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct FileRequest {
    /// The file's name as the directories section shows it, such as docs/notes.txt.
    file_name: String,
    /// How many lines of the beginning to leave out. Defaults to 0.
    offset: Option<i64>,
    /// How many lines to show. Defaults to all of them.
    length: Option<i64>,
}

impl FileRequest {
    fn lines(&self) -> Result<Lines, Error> {
        let name = &self.file_name;
        let number = |number: i64| u32::try_from(number).ok();
        let offset = self.offset.map(|offset| {
            number(offset).ok_or_else(|| {
                Error::failed(format!(
                    "The offset for {name} must be 0 or more, got {offset}"
                ))
            })
        });
        let length = self.length.map(|length| {
            number(length).filter(|length| *length > 0).ok_or_else(|| {
                Error::failed(format!(
                    "The length for {name} must be 1 or more, got {length}"
                ))
            })
        });
        let (offset, length) = (offset.transpose()?, length.transpose()?);
        let first = match (offset, length) {
            (None, None) => None,
            (offset, _) => Some(offset.unwrap_or(0).saturating_add(1)),
        };
        let last = length.map(|length| offset.unwrap_or(0).saturating_add(length));
        Ok(Lines { first, last })
    }
}

/// Opens files and says which, and what was closed for them.
pub(crate) fn open(requests: &[FileRequest], close_others: bool) -> Result<String, Error> {
    let limit = files::open_limit()?;
    if requests.is_empty() {
        return Err(Error::failed("No files were requested."));
    }
    if requests.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
        return Err(Error::failed(format!(
            "{} files were requested, and no more than {limit} can be open at once.",
            requests.len()
        )));
    }
    let listing = files::listing()?;
    // Everything is looked at before anything changes.
    let mut wanted = Vec::with_capacity(requests.len());
    for request in requests {
        let name = request.file_name.as_str();
        if !listing.iter().any(|file| file.name == name) {
            return Err(unknown(name, &listing));
        }
        wanted.push((name, request.lines()?));
    }
    let mut closed_others = Vec::new();
    if close_others {
        let is_wanted = |name: &str| wanted.iter().any(|(wanted, _)| *wanted == name);
        for file in listing.iter().filter(|file| file.open) {
            if !is_wanted(&file.name) {
                files::close(&file.name)?;
                closed_others.push(file.name.as_str());
            }
        }
    }
    let mut opened = Vec::with_capacity(wanted.len());
    let mut closed: Vec<String> = Vec::new();
    for (name, lines) in wanted {
        let now = files::open(name, lines).map_err(|error| match error {
            files::Error::Invalid(reason) => Error::failed(format!("{name}: {reason}")),
            error => error.into(),
        })?;
        opened.push(told(name, lines, now.previous));
        closed.extend(now.closed);
    }
    let mut text = match opened.as_slice() {
        [one] => format!("* Opened {one}"),
        several => format!("* Opened {} files: {}", several.len(), several.join(", ")),
    };
    if !closed_others.is_empty() {
        text.push_str(&format!(
            "\nNote: Closed {} file(s) due to close_all_others=True: {}",
            closed_others.len(),
            closed_others.join(", ")
        ));
    }
    if !closed.is_empty() {
        text.push_str(&format!(
            "\nNote: Closed {} least recently used file(s) due to open file limit ({limit}): {}",
            closed.len(),
            closed.join(", ")
        ));
    }
    Ok(text)
}

/// A file with the lines that are shown now, and those that were shown before.
fn told(name: &str, lines: Lines, previous: Option<Lines>) -> String {
    let mut text = name.to_owned();
    if let Some(range) = range(lines) {
        text.push_str(&format!(" ({range})"));
    }
    if let Some(previous) = previous {
        let range = range(previous).unwrap_or_else(|| "full file".to_owned());
        text.push_str(&format!(" (previously {range})"));
    }
    text
}

/// The lines in words; none for the whole file.
fn range(lines: Lines) -> Option<String> {
    match (lines.first, lines.last) {
        (None, None) => None,
        (first, None) => Some(format!("lines {}-end", first.unwrap_or(1))),
        (first, Some(last)) => Some(format!("lines {}-{last}", first.unwrap_or(1))),
    }
}

fn unknown(name: &str, listing: &[files::File]) -> Error {
    let mut names: Vec<&str> = listing.iter().map(|file| file.name.as_str()).collect();
    let more = names.len().saturating_sub(NAMES_MAX);
    names.truncate(NAMES_MAX);
    let mut attached = names.join(", ");
    if more > 0 {
        attached.push_str(&format!(" and {more} more"));
    }
    if attached.is_empty() {
        attached.push_str("none");
    }
    Error::failed(format!(
        "{name} is not attached. Is the name right? The attached files are: {attached}"
    ))
}
