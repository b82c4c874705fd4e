//! From the text of a patch to what is to be done with which block.

use bulkhead_sdk::Error;

use super::hunk::{Hunk, Line};
use crate::{line_numbers, path};

/// What is to be done with one block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    /// Make it, with this text.
    Add(&'a str, String),
    /// Apply hunks, none of which stand here where it is only renamed.
    Update(&'a str, Vec<Hunk<'a>>),
    /// Delete it.
    Delete(&'a str),
    /// Give it another label.
    Rename(&'a str, &'a str),
}

/// A line that says which block is next.
enum Header<'a> {
    Add(&'a str),
    Update(&'a str),
    Delete(&'a str),
    Move(&'a str),
}

/// The changes in the order of the patch. What stands before the first header is for `label`.
pub(crate) fn parse<'a>(label: &'a str, patch: &'a str) -> Result<Vec<Change<'a>>, Error> {
    let mut changes = vec![Change::Update(label, Vec::new())];
    let mut body = Vec::new();
    for (number, line) in (1..).zip(patch.lines()) {
        line_numbers::refuse("patch", line.strip_prefix(['+', '-']).unwrap_or(line))?;
        if is_frame(line) {
            continue;
        }
        let Some(header) = header(line)? else {
            body.push((number, line));
            continue;
        };
        fill(&mut changes, &mut body)?;
        let next = match header {
            Header::Add(label) => Change::Add(label, String::new()),
            Header::Update(label) => Change::Update(label, Vec::new()),
            Header::Delete(label) => Change::Delete(label),
            Header::Move(to) => {
                let Some(Change::Update(from, _)) = changes.last() else {
                    return Err(malformed(
                        number,
                        "stands under no `*** Update Block:`",
                        line,
                    ));
                };
                let from = *from;
                // What follows is for the block under its new label.
                changes.push(Change::Rename(from, to));
                Change::Update(to, Vec::new())
            }
        };
        changes.push(next);
    }
    fill(&mut changes, &mut body)?;
    changes.retain(|change| !matches!(change, Change::Update(_, hunks) if hunks.is_empty()));
    if changes.is_empty() {
        return Err(Error::failed(
            "No change was made: the patch has no line that begins with + or -.",
        ));
    }
    Ok(changes)
}

/// Whether the line is the beginning or the end of all, which some models write.
fn is_frame(line: &str) -> bool {
    let framed = |what| line.trim_end() == what;
    ["*** Begin Patch", "*** End Patch", "*** End of File"]
        .into_iter()
        .any(framed)
}

/// The block that is next, where the line says so.
fn header(line: &str) -> Result<Option<Header<'_>>, Error> {
    let Some(rest) = line.strip_prefix("*** ") else {
        return Ok(None);
    };
    let (what, label) = rest.split_once(':').unwrap_or((rest, ""));
    let header = match what {
        "Add Block" => Header::Add,
        "Update Block" => Header::Update,
        "Delete Block" => Header::Delete,
        "Move to" => Header::Move,
        _ => {
            return Err(Error::Failed(format!(
                "No change was made: the patch has an unknown header `{line}`. Known are `*** Add Block: <label>`, \
                 `*** Update Block: <label>`, `*** Delete Block: <label>` and `*** Move to: <label>`."
            )));
        }
    };
    Ok(Some(header(path::label(label)?)))
}

/// Gives the lines since the last header to what that began.
fn fill<'a>(changes: &mut [Change<'a>], body: &mut Vec<(usize, &'a str)>) -> Result<(), Error> {
    let body = std::mem::take(body);
    match changes.last_mut() {
        Some(Change::Add(_, value)) => *value = added(&body)?,
        Some(Change::Update(_, hunks)) => *hunks = self::hunks(&body)?,
        Some(Change::Delete(_) | Change::Rename(..)) | None => {
            if let Some((number, line)) = body.iter().find(|(_, line)| !line.trim().is_empty()) {
                return Err(malformed(
                    *number,
                    "stands under a header that takes none",
                    line,
                ));
            }
        }
    }
    Ok(())
}

/// The text of a new block.
fn added(body: &[(usize, &str)]) -> Result<String, Error> {
    let mut lines = Vec::new();
    for (number, line) in body {
        match line.strip_prefix('+') {
            Some(text) => lines.push(text),
            None if line.is_empty() || line.starts_with("@@") => {}
            None => return Err(malformed(*number, "does not begin with +", line)),
        }
    }
    Ok(lines.join("\n"))
}

/// The hunks of a block; those that change nothing are left out.
fn hunks<'a>(body: &[(usize, &'a str)]) -> Result<Vec<Hunk<'a>>, Error> {
    let mut hunks = vec![Hunk::default()];
    for &(number, line) in body {
        let is_before_all = hunks.len() == 1;
        let Some(hunk) = hunks.last_mut() else { break };
        let is_first = hunk.lines.is_empty();
        if let Some(header) = line.strip_prefix("@@") {
            let start = start(header);
            hunks.push(Hunk {
                start,
                lines: Vec::new(),
            });
            continue;
        }
        let line = match line.as_bytes().first() {
            // What programs write before the first hunk.
            Some(_) if is_before_all && is_first && is_preamble(line) => continue,
            // Blank lines before a hunk are no part of it.
            None if is_first => continue,
            None => Line::Kept(""),
            Some(b' ') => Line::Kept(&line[1..]),
            Some(b'-') => Line::Removed(&line[1..]),
            Some(b'+') => Line::Added(&line[1..]),
            Some(b'\\') => continue,
            Some(_) => {
                let fault = "begins with neither a space, + nor - and is no @@";
                return Err(malformed(number, fault, line));
            }
        };
        hunk.lines.push(line);
    }
    for hunk in &mut hunks {
        // Blank lines after a hunk are no part of it either.
        while hunk.lines.last() == Some(&Line::Kept("")) {
            hunk.lines.pop();
        }
    }
    hunks.retain(Hunk::changes);
    Ok(hunks)
}

fn is_preamble(line: &str) -> bool {
    ["--- ", "+++ ", "diff ", "index "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The number in ` -12,3 +12,4 @@`.
fn start(header: &str) -> Option<usize> {
    let former = header.trim_start().strip_prefix('-')?;
    let end = former.find(|character: char| !character.is_ascii_digit());
    former[..end.unwrap_or(former.len())].parse().ok()
}

fn malformed(number: usize, fault: &str, line: &str) -> Error {
    Error::Failed(format!(
        "No change was made: line {number} of the patch {fault}: `{line}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_write_around_hunks_is_no_part_of_them() {
        let patch = "--- a/human\n+++ b/human\n@@ -3,2 +3,2 @@ section\n a\n-b\n+c\n\\ No newline at end of file\n\n";
        let hunk = Hunk {
            start: Some(3),
            lines: vec![Line::Kept("a"), Line::Removed("b"), Line::Added("c")],
        };
        assert_eq!(
            parse("human", patch),
            Ok(vec![Change::Update("human", vec![hunk])])
        );
    }

    #[test]
    fn a_removed_line_that_looks_like_the_name_of_a_file_is_removed() {
        let hunk = Hunk {
            start: None,
            lines: vec![Line::Removed("-- rule"), Line::Added("++ rule")],
        };
        assert_eq!(
            parse("human", "@@\n--- rule\n+++ rule"),
            Ok(vec![Change::Update("human", vec![hunk])])
        );
    }

    #[test]
    fn headers_name_their_blocks_in_order() {
        let patch = "*** Begin Patch\n*** Add Block: a\n+one\n+\n+two\n*** Delete Block: /memories/b\n\n\
                     *** Update Block: c\n*** Move to: d\n@@\n-x\n+y\n*** End Patch";
        let hunk = Hunk {
            start: None,
            lines: vec![Line::Removed("x"), Line::Added("y")],
        };
        let expected = vec![
            Change::Add("a", "one\n\ntwo".to_owned()),
            Change::Delete("b"),
            Change::Rename("c", "d"),
            Change::Update("d", vec![hunk]),
        ];
        assert_eq!(parse("ignored", patch), Ok(expected));
    }

    #[test]
    fn what_is_no_patch_is_refused_with_its_line() {
        for (patch, part) in [
            ("", "no line that begins"),
            ("@@\n same", "no line that begins"),
            ("@@\n-a\nb", "line 3 of the patch"),
            ("*** Rename Block: a", "unknown header"),
            ("*** Add Block: a\ntext", "line 2 of the patch"),
            ("*** Delete Block: a\n-b", "line 2 of the patch"),
            ("*** Delete Block: a\n*** Move to: b", "line 2 of the patch"),
            ("*** Add Block:", "names no memory block"),
            ("@@\n-1→ a\n+b", "patch contains a line number prefix"),
        ] {
            let error = parse("human", patch).expect_err(patch).to_string();
            assert!(error.contains(part), "{patch:?}: {error}");
        }
    }
}
