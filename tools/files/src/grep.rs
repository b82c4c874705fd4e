//! Lines that match an expression.

use std::fmt::Write as _;

use bulkhead_sdk::{
    Error,
    files::{self, Hit},
};

/// Matches of one page.
const PAGE: usize = 20;
/// Matches that are counted at most.
const HITS_MAX: u32 = 1_000;
/// Lines around a match where the model does not say, and at most.
const CONTEXT_DEFAULT: i64 = 1;
const CONTEXT_MAX: i64 = 10;

/// The matches from `offset` on, a page of them.
pub(crate) fn grep(
    pattern: &str,
    include: Option<&str>,
    context_lines: Option<i64>,
    offset: Option<i64>,
) -> Result<String, Error> {
    let context = context_lines
        .unwrap_or(CONTEXT_DEFAULT)
        .clamp(0, CONTEXT_MAX);
    let context = u32::try_from(context).unwrap_or(0);
    let offset = usize::try_from(offset.unwrap_or(0))
        .map_err(|_| Error::failed("The offset must be 0 or more."))?;
    let within = match include.filter(|include| !include.trim().is_empty()) {
        None => String::new(),
        Some(include) => format!(" in files matching '{include}'"),
    };
    let names = match include.filter(|include| !include.trim().is_empty()) {
        None => Vec::new(),
        Some(include) => {
            let files = files::listing()?.into_iter().map(|file| file.name);
            let names: Vec<String> = files.filter(|name| is_included(include, name)).collect();
            if names.is_empty() {
                return Ok(format!("No files match '{include}'."));
            }
            names
        }
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hits = files::grep(pattern, &names, context, HITS_MAX)?;
    if hits.is_empty() {
        return Ok(format!("No matches found for pattern: '{pattern}'{within}"));
    }
    if offset >= hits.len() {
        return Ok(format!(
            "No more matches: there are {} in all, and the offset is {offset}.",
            hits.len()
        ));
    }
    Ok(page(&hits, offset, context))
}

fn page(hits: &[Hit], offset: usize, context: u32) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for hit in hits {
        match counts.last_mut() {
            Some((file, count)) if *file == hit.file => *count += 1,
            _ => counts.push((&hit.file, 1)),
        }
    }
    let end = offset.saturating_add(PAGE).min(hits.len());
    let total = hits.len();
    let rule = "=".repeat(80);
    let mut text = format!(
        "Found {total} total matches across {} files (showing matches {}-{end} of {total})\n{rule}\n",
        counts.len(),
        offset + 1,
    );
    for (file, count) in counts {
        let _ = writeln!(text, "{file}: {count} matches");
    }
    let _ = write!(text, "{rule}");
    for hit in &hits[offset..end] {
        let _ = write!(text, "\n\n=== {}:{} ===", hit.file, hit.line);
        let first = hit.line.saturating_sub(context).max(1);
        for (number, line) in (first..).zip(hit.text.split('\n')) {
            let mark = if number == hit.line { '>' } else { ' ' };
            let _ = write!(text, "\n{mark} {number}: {line}");
        }
    }
    if end < total {
        let _ = write!(
            text,
            "\n\nThere are {} more matches. Call grep_files again with offset={end} to see them.",
            total - end
        );
    }
    text
}

/// Whether a name, or its part behind the last slash, matches a pattern in which `*` stands for any
/// characters and `?` for one.
fn is_included(pattern: &str, name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    matches(pattern, name) || matches(pattern, last)
}

fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_name) = (0, 0);
    // The last star, and where its characters end so far.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(character) if *character == '?' || *character == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((place, end)) => {
                    star = Some((place, end + 1));
                    at = place + 1;
                    in_name = end + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|character| *character == '*')
}

#[cfg(test)]
mod tests {
    use super::is_included;

    #[test]
    fn a_name_is_included_by_stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("*.py", "docs/a.py", true),
            ("*.py", "docs/a.pyc", false),
            ("docs/*", "docs/a.py", true),
            ("docs/*.md", "other/a.md", false),
            ("a.?y", "docs/a.py", true),
            ("*a*b*", "xxaxxbxx", true),
            ("", "a", false),
        ] {
            assert_eq!(is_included(pattern, name), expected, "{pattern} {name}");
        }
    }
}
