//! One hunk of a patch: lines that are there, and what becomes of them.
//!
//! Models write hunks by heart: numbers of lines are often wrong or left out, and the counts that
//! stand beside them nearly always. A hunk is therefore found by its own lines; the number only
//! chooses where they stand more than once. (Libraries for patches refuse a hunk whose header
//! contradicts it.)

use bulkhead_sdk::Error;

/// A hunk without the header's counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// The line, from 1, at which the header says that it begins in the former text.
    pub(super) start: Option<usize>,
    pub(super) lines: Vec<Line<'a>>,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// There before and after.
    Kept(&'a str),
    /// There before.
    Removed(&'a str),
    /// There after.
    Added(&'a str),
}

impl<'a> Hunk<'a> {
    /// The former lines of the text.
    fn former(&self) -> Vec<&'a str> {
        let former = self.lines.iter().filter_map(|line| match line {
            Line::Kept(text) | Line::Removed(text) => Some(*text),
            Line::Added(_) => None,
        });
        former.collect()
    }

    /// Whether it adds or removes anything.
    pub(super) fn changes(&self) -> bool {
        self.lines.iter().any(|line| !matches!(line, Line::Kept(_)))
    }

    /// Applies it to the lines of a text. `shift` is how many lines the hunks before it have added,
    /// or removed if it is negative.
    pub(super) fn apply(&self, text: &mut Vec<String>, shift: &mut isize) -> Result<(), Trouble> {
        let former = self.former();
        let at = self.place(text, &former, *shift)?;
        let mut kept = text.splice(at..at + former.len(), []).collect::<Vec<_>>();
        kept.reverse();
        let mut becomes = Vec::new();
        for line in &self.lines {
            match line {
                Line::Added(text) => becomes.push((*text).to_owned()),
                // The text's own line, which may differ in white space at its end.
                Line::Kept(_) => becomes.extend(kept.pop()),
                Line::Removed(_) => drop(kept.pop()),
            }
        }
        *shift += becomes.len().cast_signed() - former.len().cast_signed();
        text.splice(at..at, becomes);
        Ok(())
    }

    /// Where its former lines begin in the text.
    fn place(&self, text: &[String], former: &[&str], shift: isize) -> Result<usize, Trouble> {
        let hint = self.start.map(|start| start.saturating_add_signed(shift));
        if former.is_empty() {
            // The header of a pure addition names the line before it.
            return Ok(hint.map_or(text.len(), |line| line.min(text.len())));
        }
        let mut places = places(text, former, |line, wanted| line == wanted);
        if places.is_empty() {
            places = self::places(text, former, |line, wanted| {
                line.trim_end() == wanted.trim_end()
            });
        }
        if let (Some(hint), 2..) = (hint, places.len()) {
            let distance = |place: &usize| (place + 1).abs_diff(hint);
            let nearest = places.iter().map(distance).min();
            places.retain(|place| Some(distance(place)) == nearest);
        }
        match places[..] {
            [] => Err(Trouble::NotFound),
            [place] => Ok(place),
            _ => Err(Trouble::Ambiguous(
                places.iter().map(|place| place + 1).collect(),
            )),
        }
    }

    /// An error about it, for a model.
    pub(super) fn error(&self, number: usize, label: &str, trouble: &Trouble) -> Error {
        Error::Failed(match trouble {
            Trouble::NotFound => format!(
                "No change was made: hunk {number} of the patch does not fit memory block '{label}'. These lines do \
                 not stand there one after the other:\n{}",
                self.former().join("\n")
            ),
            Trouble::Ambiguous(lines) => format!(
                "No change was made: the lines of hunk {number} of the patch stand at several places in memory block \
                 '{label}', at lines {lines:?}. Add lines of context around the change."
            ),
        })
    }
}

/// Why a hunk does not apply.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Its former lines are not in the text.
    NotFound,
    /// They are there several times, at these lines from 1.
    Ambiguous(Vec<usize>),
}

fn places(text: &[String], former: &[&str], same: impl Fn(&str, &str) -> bool) -> Vec<usize> {
    let windows = text.windows(former.len()).enumerate();
    let found = windows.filter(|(_, window)| {
        window
            .iter()
            .zip(former)
            .all(|(line, wanted)| same(line, wanted))
    });
    found.map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::{Hunk, Line, Trouble};

    fn text(text: &str) -> Vec<String> {
        text.split('\n').map(str::to_owned).collect()
    }

    fn apply(start: Option<usize>, lines: Vec<Line<'_>>, to: &str) -> Result<String, Trouble> {
        let mut lines_of_text = text(to);
        let hunk = Hunk { start, lines };
        hunk.apply(&mut lines_of_text, &mut 0)?;
        Ok(lines_of_text.join("\n"))
    }

    #[test]
    fn a_hunk_is_found_by_its_lines_whatever_its_number_says() {
        let lines = vec![Line::Kept("b"), Line::Removed("c"), Line::Added("C")];
        let expected = Ok("a\nb\nC\nd".to_owned());
        for start in [None, Some(2), Some(900)] {
            assert_eq!(apply(start, lines.clone(), "a\nb\nc\nd"), expected);
        }
    }

    #[test]
    fn the_number_chooses_between_places_and_without_it_there_is_no_choice() {
        let lines = || vec![Line::Removed("x"), Line::Added("y")];
        let twice = "x\na\nb\nx";
        assert_eq!(apply(Some(4), lines(), twice), Ok("x\na\nb\ny".to_owned()));
        assert_eq!(apply(Some(2), lines(), twice), Ok("y\na\nb\nx".to_owned()));
        assert_eq!(
            apply(None, lines(), twice),
            Err(Trouble::Ambiguous(vec![1, 4]))
        );
        assert_eq!(apply(None, lines(), "a"), Err(Trouble::NotFound));
    }

    #[test]
    fn an_addition_without_context_goes_to_its_line_or_to_the_end() {
        let lines = || vec![Line::Added("x")];
        assert_eq!(apply(Some(1), lines(), "a\nb"), Ok("a\nx\nb".to_owned()));
        assert_eq!(apply(Some(0), lines(), "a\nb"), Ok("x\na\nb".to_owned()));
        assert_eq!(apply(None, lines(), "a\nb"), Ok("a\nb\nx".to_owned()));
    }

    #[test]
    fn white_space_at_the_end_of_a_kept_line_neither_hinders_nor_gets_lost() {
        let lines = vec![Line::Kept("a"), Line::Added("b")];
        assert_eq!(apply(None, lines, "a  \nc"), Ok("a  \nb\nc".to_owned()));
    }

    #[test]
    fn numbers_of_later_hunks_count_from_the_former_text() {
        let mut lines = text("x\nx\nx");
        let mut shift = 0;
        let first = Hunk {
            start: Some(1),
            lines: vec![Line::Kept("x"), Line::Added("n"), Line::Added("n")],
        };
        first.apply(&mut lines, &mut shift).expect("it fits");
        let second = Hunk {
            start: Some(3),
            lines: vec![Line::Removed("x"), Line::Added("y")],
        };
        second.apply(&mut lines, &mut shift).expect("it fits");
        assert_eq!((lines.join("\n").as_str(), shift), ("x\nn\nn\nx\ny", 2));
    }
}
