//! What is wrong with a file: all of it at once, each with its place, in sentences of bounded
//! length.

use std::fmt::{self, Display, Write};

use crate::contract::Refusal;

/// Problems that one answer lists.
const PROBLEMS_MAX: usize = 100;
/// Characters of one of them. Ids and faults quote the file, which may be long.
const PROBLEM_CHARS_MAX: usize = 300;

/// What is wrong with a file.
#[derive(Debug, Default)]
pub(super) struct Problems {
    texts: Vec<String>,
    more: usize,
}

impl Problems {
    /// Notes that something is wrong. No more of the text is written than is kept.
    pub(super) fn add(&mut self, text: impl Display) {
        if self.texts.len() == PROBLEMS_MAX {
            self.more += 1;
            return;
        }
        self.texts.push(clipped(text));
    }

    /// 400 with all of them after `intro`, where there are any.
    pub(super) fn refuse(self, intro: &str) -> Result<(), Refusal> {
        if self.texts.is_empty() {
            return Ok(());
        }
        let mut text = format!("{intro}: {}", self.texts.join("; "));
        if self.more > 0 {
            text.push_str(&format!("; and {} more", self.more));
        }
        Err(Refusal::bad_request(text))
    }
}

/// A text of bounded length; what is cut off has a mark in its place.
pub(super) fn clipped(text: impl Display) -> String {
    let mut clipped = Clipped {
        text: String::new(),
        left: PROBLEM_CHARS_MAX,
    };
    if write!(clipped, "{text}").is_err() {
        clipped.text.push('…');
    }
    clipped.text
}

/// The beginning of a text that is being written. What comes after it is an error, so that writing
/// ends there.
struct Clipped {
    text: String,
    /// Characters.
    left: usize,
}

impl Write for Clipped {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match text.char_indices().nth(self.left) {
            None => {
                self.left -= text.chars().count();
                self.text.push_str(text);
                Ok(())
            }
            Some((at, _)) => {
                self.text.push_str(&text[..at]);
                self.left = 0;
                Err(fmt::Error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_nothing_but_faults_is_answered_with_a_short_text() {
        let mut problems = Problems::default();
        for _ in 0..1_000 {
            problems.add("é".repeat(10_000));
        }
        let Err(Refusal::Contract(status, body)) = problems.refuse("Wrong") else {
            panic!("it is refused in the contract's words");
        };
        let text = body["detail"].as_str().expect("a text");
        assert_eq!(status, 400);
        assert!(text.starts_with("Wrong: éé") && text.ends_with("; and 900 more"));
        assert!(text.chars().count() < 31_000);
    }
}
