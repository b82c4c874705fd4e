//! Places in a text.

/// Where something stands: both counted from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The place of a byte offset; the end of the text for one beyond it.
pub(crate) fn place(text: &str, offset: u32) -> Place {
    let before = text
        .get(..offset as usize)
        .or_else(|| text.get(..floor(text, offset as usize)))
        .unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place {
        line: count(before.matches('\n').count()).saturating_add(1),
        column: count(before[line_start..].chars().count()).saturating_add(1),
    }
}

/// The line of a byte offset.
pub(crate) fn line(text: &str, offset: u32) -> u32 {
    place(text, offset).line
}

/// The nearest character boundary at or before `offset`.
fn floor(text: &str, offset: usize) -> usize {
    let end = offset.min(text.len());
    (0..=end)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// The offset of the first character from `from` on that is neither white space nor in a comment.
pub(crate) fn skip_trivia(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or("");
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if let Some(comment) = trimmed.strip_prefix("/*") {
            at += 2 + comment.find("*/").map_or(comment.len(), |end| end + 2);
        } else {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, place, skip_trivia};

    #[test]
    fn places_count_characters_from_one() {
        assert_eq!(place("ab\nüc", 5), Place { line: 2, column: 2 });
        assert_eq!(place("ab", 99), Place { line: 1, column: 3 });
    }

    #[test]
    fn trivia_is_white_space_and_comments() {
        assert_eq!(skip_trivia("  /* ? */ // ?\n ?", 0), 16);
        assert_eq!(skip_trivia("/* open", 0), 7);
    }
}
