//! Changes of a block's text. What they refuse is told in words that clients know.

use bulkhead_sdk::Error;

/// The line that means the end of a text.
pub(crate) const END: i64 = -1;

/// The text with another line at its end.
pub(crate) fn appended(value: &str, line: &str) -> String {
    if value.is_empty() {
        return line.to_owned();
    }
    format!("{value}\n{line}")
}

/// The text with every occurrence of `old` replaced; `label` is the block's.
pub(crate) fn replaced_everywhere(
    label: &str,
    value: &str,
    old: &str,
    new: &str,
) -> Result<String, Error> {
    if old.is_empty() || !value.contains(old) {
        return Err(Error::Failed(format!(
            "Old content '{old}' not found in memory block '{label}'"
        )));
    }
    Ok(value.replace(old, new))
}

/// The text with the only occurrence of `old` replaced; `label` is the block's.
pub(crate) fn replaced_once(
    label: &str,
    value: &str,
    old: &str,
    new: &str,
) -> Result<String, Error> {
    let mut lines = lines_of_occurrences(value, old);
    match lines.len() {
        0 => Err(Error::Failed(format!(
            "No replacement was performed, old_string `{old}` did not appear verbatim in memory block with label `{label}`."
        ))),
        1 => Ok(value.replacen(old, new, 1)),
        _ => {
            lines.dedup();
            Err(Error::Failed(format!(
                "No replacement was performed. Multiple occurrences of old_string `{old}` in lines {lines:?}. Please \
                 ensure it is unique."
            )))
        }
    }
}

/// The lines, from 1, on which `part` begins; none for an empty part.
fn lines_of_occurrences(value: &str, part: &str) -> Vec<usize> {
    if part.is_empty() {
        return Vec::new();
    }
    let (mut line, mut counted) = (1, 0);
    let mut lines = Vec::new();
    for (at, _) in value.match_indices(part) {
        line += value[counted..at].matches('\n').count();
        counted = at;
        lines.push(line);
    }
    lines
}

/// The text with `new` put after that many lines: 0 for the start, -1 for the end.
pub(crate) fn inserted(value: &str, new: &str, line: i64) -> Result<String, Error> {
    let mut lines: Vec<&str> = value.split('\n').collect();
    let count = lines.len();
    let after = match line {
        END => count,
        // Beyond the end where it is no place at all.
        _ => usize::try_from(line).unwrap_or(usize::MAX),
    };
    if after > count {
        return Err(Error::Failed(format!(
            "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the memory block: \
             [0, {count}], or -1 to append to the end of the memory block."
        )));
    }
    if value.is_empty() {
        return Ok(new.to_owned());
    }
    lines.insert(after, new);
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_where_it_was_sent() {
        let insert = |line| inserted("a\nb", "x\ny", line);
        assert_eq!(insert(0), Ok("x\ny\na\nb".to_owned()));
        assert_eq!(insert(1), Ok("a\nx\ny\nb".to_owned()));
        assert_eq!(insert(2), Ok("a\nb\nx\ny".to_owned()));
        assert_eq!(insert(-1), insert(2));
        assert!(insert(3).is_err() && insert(-2).is_err() && insert(i64::MIN).is_err());
    }

    #[test]
    fn an_empty_text_gets_no_empty_line() {
        assert_eq!(inserted("", "x", -1), Ok("x".to_owned()));
        assert_eq!(inserted("", "x", 1), Ok("x".to_owned()));
        assert_eq!(appended("", "x"), "x");
        assert_eq!(appended("a", "x"), "a\nx");
    }

    #[test]
    fn occurrences_are_found_on_the_lines_where_they_begin() {
        assert_eq!(lines_of_occurrences("a\nb a\nc\na\nb", "a\n"), [1, 2, 4]);
        assert_eq!(lines_of_occurrences("aaa", "a"), [1, 1, 1]);
        assert!(lines_of_occurrences("abc", "").is_empty());
    }
}
