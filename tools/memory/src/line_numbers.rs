//! Numbers of lines, which some models are shown beside a block's text and which are no part of it.

use bulkhead_sdk::Error;

/// What stands between the number and the line where a block is shown.
const MARK: char = '→';

/// Refuses a text in which a line begins with its number; `parameter` is where it came from.
pub(crate) fn refuse(parameter: &str, text: &str) -> Result<(), Error> {
    if text.lines().any(is_numbered) {
        return Err(Error::Failed(format!(
            "{parameter} contains a line number prefix, which is not allowed. Do not include line numbers when \
             calling memory tools (line numbers are for display purposes only)."
        )));
    }
    Ok(())
}

/// Whether the line begins with digits and the mark.
fn is_numbered(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(MARK)
}

#[cfg(test)]
mod tests {
    use super::is_numbered;

    #[test]
    fn only_digits_before_the_mark_are_a_number_of_a_line() {
        for numbered in ["1→ text", "  12→text", "3→"] {
            assert!(is_numbered(numbered), "{numbered}");
        }
        for plain in ["→ text", "a → b", "1. text", "1 -> 2", "2 → 3", ""] {
            assert!(!is_numbered(plain), "{plain}");
        }
    }
}
