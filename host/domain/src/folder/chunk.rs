//! The pieces by which a file's text is searched.

/// Characters of a token, on average.
const TOKEN_CHARS: usize = 4;
/// The least and the most tokens of a piece, whatever a folder says: fewer say nothing, and more
/// don't fit the part of a text that is searched (32 KiB).
const TOKENS: std::ops::RangeInclusive<i64> = 32..=2_048;
/// Tokens of a piece where nobody says.
const TOKENS_DEFAULT: i64 = 300;

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The line that it begins in, from 1.
    pub line: u64,
    /// The piece.
    pub text: &'a str,
}

/// Pieces of about this many tokens, in order: whole lines as long as they fit, and parts of lines
/// that do not. Nothing of the text but blank pieces is left out.
pub fn chunks(text: &str, tokens: Option<i64>) -> impl Iterator<Item = Chunk<'_>> {
    let tokens = tokens.unwrap_or(TOKENS_DEFAULT);
    let tokens = tokens.clamp(*TOKENS.start(), *TOKENS.end());
    let chars = usize::try_from(tokens).unwrap_or(usize::MAX) * TOKEN_CHARS;
    let mut rest = text;
    let mut line = 1_u64;
    let pieces = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .nth(chars)
            .map_or(rest.len(), |(at, _)| at);
        let end = match end == rest.len() {
            true => end,
            false => rest[..end].rfind('\n').map_or(end, |at| at + 1),
        };
        let (piece, after) = rest.split_at(end);
        let begins = line;
        line += piece.bytes().filter(|byte| *byte == b'\n').count() as u64;
        rest = after;
        Some(Chunk {
            line: begins,
            text: piece,
        })
    });
    pieces.filter(|piece| !piece.text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_and_together_the_text() {
        let text: String = (1..=200).map(|n| format!("line number {n}\n")).collect();
        let pieces: Vec<_> = chunks(&text, Some(32)).collect();
        assert!(pieces.len() > 10);
        let all: String = pieces.iter().map(|piece| piece.text).collect();
        assert_eq!(all, text);
        for piece in pieces {
            let first = format!("line number {}\n", piece.line);
            assert!(piece.text.starts_with(&first), "{piece:?}");
            assert!(piece.text.chars().count() <= 128);
        }
    }

    #[test]
    fn a_long_line_is_parted_between_characters() {
        let text = "é".repeat(1_000);
        let pieces: Vec<_> = chunks(&text, Some(1)).collect();
        assert_eq!(pieces.len(), 8);
        assert!(pieces.iter().all(|piece| piece.line == 1));
    }

    #[test]
    fn nothing_but_space_has_no_pieces() {
        assert_eq!(chunks("\n \n", None).count(), 0);
        assert_eq!(chunks("", None).count(), 0);
    }
}
