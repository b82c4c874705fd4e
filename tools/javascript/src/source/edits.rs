//! Changes to a text that keep every line where it is.

use oxc_span::Span;

/// What stands in the place of a piece of text.
#[derive(Debug, Clone)]
enum Replacement {
    /// White space of the same width, but for its first and last character.
    Blank {
        first: Option<char>,
        last: Option<char>,
    },
    /// Other text, which has as many lines.
    Text(String),
}

#[derive(Debug, Clone)]
struct Edit {
    start: usize,
    end: usize,
    replacement: Replacement,
}

/// Changes, collected in any order.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    list: Vec<Edit>,
}

impl Edits {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are, to look later at those that came since.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Puts white space in the place of a piece.
    pub(crate) fn blank(&mut self, start: usize, end: usize) {
        self.blank_but(start, end, None, None);
    }

    /// As [`Self::blank`], with other characters at the beginning and the end.
    pub(crate) fn blank_but(
        &mut self,
        start: usize,
        end: usize,
        first: Option<char>,
        last: Option<char>,
    ) {
        if start < end {
            let replacement = Replacement::Blank { first, last };
            self.list.push(Edit {
                start,
                end,
                replacement,
            });
        }
    }

    /// Puts `text` in the place of a piece; line breaks that it lacks are added at its end.
    pub(crate) fn replace(&mut self, source: &str, span: Span, mut text: String) {
        let (start, end) = (span.start as usize, span.end as usize);
        let breaks = |text: &str| text.matches('\n').count();
        let missing = breaks(&source[start..end]).saturating_sub(breaks(&text));
        text.extend(std::iter::repeat_n('\n', missing));
        self.list.push(Edit {
            start,
            end,
            replacement: Replacement::Text(text),
        });
    }

    /// Puts `text` before the character at `at`.
    pub(crate) fn insert(&mut self, at: usize, text: String) {
        self.list.push(Edit {
            start: at,
            end: at,
            replacement: Replacement::Text(text),
        });
    }

    /// Ends a statement that ended where a blanked piece now does: without what was there, the
    /// next line could continue it.
    pub(crate) fn end_statement(&mut self, since: usize, end: usize) {
        let edits = self.list.iter_mut().skip(since);
        for edit in edits.filter(|edit| edit.end == end) {
            if let Replacement::Blank { first, .. } = &mut edit.replacement {
                *first = Some(';');
                return;
            }
        }
    }

    /// The piece of `source` from `start` to `end` with the changes made.
    pub(crate) fn render(&self, source: &str, start: usize, end: usize) -> String {
        let mut edits: Vec<&Edit> = self
            .list
            .iter()
            .filter(|edit| edit.start >= start && edit.end <= end)
            .collect();
        // Of two that begin together the longer one holds the other; what is inserted stands first.
        edits.sort_by_key(|edit| {
            let insertion = edit.start == edit.end;
            (edit.start, !insertion, std::cmp::Reverse(edit.end))
        });
        let mut out = String::with_capacity(end - start);
        let mut at = start;
        for edit in edits {
            if edit.start < at {
                continue;
            }
            out.push_str(&source[at..edit.start]);
            match &edit.replacement {
                Replacement::Text(text) => out.push_str(text),
                Replacement::Blank { first, last } => {
                    blank(&source[edit.start..edit.end], *first, *last, &mut out);
                }
            }
            at = edit.end;
        }
        out.push_str(&source[at..end]);
        out
    }
}

fn blank(piece: &str, first: Option<char>, last: Option<char>, out: &mut String) {
    let count = piece.chars().count();
    for (index, character) in piece.chars().enumerate() {
        let kept = match character {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => character,
            _ => ' ',
        };
        out.push(match (first, last) {
            (Some(first), _) if index == 0 => first,
            (_, Some(last)) if index + 1 == count => last,
            _ => kept,
        });
    }
}

#[cfg(test)]
mod tests {
    use oxc_span::Span;

    use super::Edits;

    #[test]
    fn what_is_blanked_keeps_its_lines_and_width() {
        let source = "a: ü\nb;c";
        let mut edits = Edits::default();
        edits.blank(1, 7);
        assert_eq!(edits.render(source, 0, source.len()), "a   \n ;c");
    }

    #[test]
    fn a_change_within_another_is_swallowed_and_replaced_lines_are_kept() {
        let source = "x{\na\n}y";
        let mut edits = Edits::default();
        edits.blank(3, 4);
        edits.replace(source, Span::new(1, 6), "z".to_owned());
        edits.insert(6, "!".to_owned());
        assert_eq!(edits.render(source, 0, source.len()), "xz\n\n!y");
        assert_eq!(edits.render(source, 2, 5), "\n \n");
    }
}
