//! What an agent sees of an open file: a line that says which part it is, then numbered lines.

use std::fmt::Write as _;

/// Which lines of a file are in view, from 1; the last one included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// None from the first one on.
    pub first: Option<u64>,
    /// None to the end.
    pub last: Option<u64>,
}

/// The file has fewer lines, or the last line comes before the first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the file has {count} lines, and lines {first} to {last} are none of them")]
pub struct OutOfRange {
    /// How many lines the file has.
    pub count: u64,
    /// The first line that was asked for.
    pub first: u64,
    /// The last one, or the end.
    pub last: u64,
}

/// What was cut off, in the contract's word.
const CUT: &str = "...[TRUNCATED]";

/// These lines of a text as an agent sees them, at most `limit` characters and a note that there is
/// more.
///
/// # Errors
///
/// [`OutOfRange`] where the first line is not there or the last comes before it. A last line beyond
/// the end means the end.
pub fn of(text: &str, lines: Lines, limit: usize) -> Result<String, OutOfRange> {
    let count = text.lines().count() as u64;
    let first = lines.first.unwrap_or(1);
    let last = lines.last.unwrap_or(count).min(count);
    // An empty file has a view too: that of nothing.
    let is_there = first >= 1 && (first <= last || (count == 0 && lines.first.is_none()));
    if !is_there {
        return Err(OutOfRange { count, first, last });
    }
    let mut view = match lines {
        Lines {
            first: None,
            last: None,
        } => format!("[Viewing file start (out of {count} lines)]"),
        Lines { last: None, .. } => {
            format!("[Viewing lines {first} to end (out of {count} lines)]")
        }
        _ => format!("[Viewing lines {first} to {last} (out of {count} lines)]"),
    };
    let mut left = limit.saturating_sub(view.chars().count());
    for (number, line) in (1_u64..).zip(text.lines()) {
        if number < first {
            continue;
        }
        if number > last {
            break;
        }
        let shown = format!("\n{number}: {line}");
        if let Some((end, _)) = shown.char_indices().nth(left) {
            view.push_str(&shown[..end]);
            let _ = write!(
                view,
                "{CUT}\n[The view of a file is limited to {limit} characters: open it at other \
                 lines to see more.]"
            );
            break;
        }
        left -= shown.chars().count();
        view.push_str(&shown);
    }
    Ok(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwo\nthree\n";

    fn lines(first: Option<u64>, last: Option<u64>) -> Lines {
        Lines { first, last }
    }

    #[test]
    fn a_view_says_which_part_of_the_file_it_is() {
        for (wanted, expected) in [
            (
                lines(None, None),
                "[Viewing file start (out of 3 lines)]\n1: one\n2: two\n3: three",
            ),
            (
                lines(Some(2), Some(3)),
                "[Viewing lines 2 to 3 (out of 3 lines)]\n2: two\n3: three",
            ),
            (
                lines(None, Some(1)),
                "[Viewing lines 1 to 1 (out of 3 lines)]\n1: one",
            ),
            (
                lines(Some(3), None),
                "[Viewing lines 3 to end (out of 3 lines)]\n3: three",
            ),
            (
                lines(Some(3), Some(99)),
                "[Viewing lines 3 to 3 (out of 3 lines)]\n3: three",
            ),
        ] {
            assert_eq!(of(TEXT, wanted, 1000).as_deref(), Ok(expected));
        }
        assert_eq!(
            of("", lines(None, None), 1000).as_deref(),
            Ok("[Viewing file start (out of 0 lines)]")
        );
    }

    #[test]
    fn lines_that_are_not_there_are_refused() {
        for wanted in [
            lines(Some(4), None),
            lines(Some(0), None),
            lines(Some(3), Some(2)),
        ] {
            assert!(of(TEXT, wanted, 1000).is_err(), "{wanted:?}");
        }
    }

    #[test]
    fn a_view_is_cut_at_its_limit_between_characters() {
        let text = "é".repeat(5_000);
        let view = of(&text, Lines::default(), 100).expect("the file has lines");
        let (shown, notice) = view.split_once(CUT).expect("it is cut");
        assert_eq!(shown.chars().count(), 100);
        assert!(notice.contains("100 characters"), "{notice}");
        let whole = of("a", Lines::default(), 42).expect("the file has lines");
        assert!(!whole.contains(CUT), "{whole}");
    }
}
