//! The transcript that an agent which tidies memories is given: a message whose lines begin with
//! their numbers (`12: user: …`).

/// A line of the transcript.
pub(crate) struct Line {
    number: i64,
    /// Without the number, and with the unnumbered lines that follow.
    text: String,
}

/// The numbered lines of a message; what stands before the first is no part of the transcript.
pub(crate) fn lines(message: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in message.lines() {
        if let Some((number, text)) = numbered(line) {
            let text = text.to_owned();
            lines.push(Line { number, text });
        } else if let Some(last) = lines.last_mut() {
            last.text.push('\n');
            last.text.push_str(line);
        }
    }
    lines
}

/// The text of the lines with these numbers, the last one included; none where there is no such
/// line.
pub(crate) fn part(lines: &[Line], first: i64, last: i64) -> Option<String> {
    let wanted = lines
        .iter()
        .filter(|line| (first..=last).contains(&line.number));
    let texts: Vec<_> = wanted.map(|line| line.text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The number before a line, and the line.
fn numbered(line: &str) -> Option<(i64, &str)> {
    let (number, text) = line.trim_start().split_once([':', '.'])?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((number.parse().ok()?, text.strip_prefix(' ')?))
}

#[cfg(test)]
mod tests {
    use super::{lines, part};

    #[test]
    fn lines_are_known_by_their_numbers_and_keep_what_follows() {
        let lines = lines(
            "Tidy this:\n0: user: hi\n1: assistant: well\nhow are you?\n 2. user: fine\nx: y",
        );
        assert_eq!(part(&lines, 0, 0).as_deref(), Some("user: hi"));
        assert_eq!(
            part(&lines, 1, 2).as_deref(),
            Some("assistant: well\nhow are you?\nuser: fine\nx: y")
        );
        assert_eq!(part(&lines, 3, 9), None);
        assert_eq!(part(&lines, 2, 1), None);
    }
}
