//! The blocks of the result: paragraphs, headings, items, quotes, with what stands before
//! each of their lines.

/// Lists and quotes inside each other. Deeper ones are written at this depth: no reader
/// follows further, and what stands before each line stays short.
const MAX_CONTAINERS: usize = 16;

#[derive(Debug)]
enum Kind {
    Quote,
    /// An item of a list with its marker, such as `- ` or `12. `.
    Item(String),
}

#[derive(Debug)]
struct Container {
    kind: Kind,
    /// Whether a line of it was written. A container without a line leaves no trace.
    used: bool,
}

/// Markdown, block after block.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    out: String,
    containers: Vec<Container>,
    /// Containers beyond the limit, which are open but not written.
    beyond: usize,
    /// Whether the next block follows without a blank line.
    tight: bool,
}

impl Blocks {
    /// Opens a quote.
    pub(crate) fn open_quote(&mut self) {
        self.open(Kind::Quote);
    }

    /// Opens an item of a list.
    pub(crate) fn open_item(&mut self, marker: String) {
        self.open(Kind::Item(marker));
    }

    fn open(&mut self, kind: Kind) {
        if self.containers.len() >= MAX_CONTAINERS {
            self.beyond += 1;
        } else {
            self.containers.push(Container { kind, used: false });
        }
    }

    /// Closes the container that was opened last.
    pub(crate) fn close(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.containers.pop();
        }
    }

    /// Lets the next block follow without a blank line.
    pub(crate) fn tight(&mut self) {
        self.tight = true;
    }

    /// Whether the next block stands in an item.
    pub(crate) fn in_item(&self) -> bool {
        matches!(
            self.containers.last(),
            Some(Container {
                kind: Kind::Item(_),
                ..
            })
        )
    }

    /// Writes a block of one or more lines. An empty one is not written.
    pub(crate) fn block(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.out.is_empty() {
            self.out.push('\n');
            if !self.tight {
                self.prefix(false);
                self.trim_line();
                self.out.push('\n');
            }
        }
        self.tight = false;
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.trim_line();
                self.out.push('\n');
            }
            self.prefix(true);
            self.out.push_str(line);
        }
    }

    /// What stands before a line: of a block, or of the blank line before it.
    fn prefix(&mut self, in_block: bool) {
        for container in &mut self.containers {
            if !container.used && !in_block {
                return;
            }
            match &container.kind {
                Kind::Quote => self.out.push_str("> "),
                Kind::Item(marker) if container.used => {
                    self.out.extend(std::iter::repeat_n(' ', marker.len()));
                }
                Kind::Item(marker) => self.out.push_str(marker),
            }
            container.used |= in_block;
        }
    }

    /// Takes away what an empty line has before it, but not the two spaces of a line break.
    fn trim_line(&mut self) {
        let start = self.out.rfind('\n').map_or(0, |at| at + 1);
        let line = &self.out[start..];
        if line.chars().all(|c| c == ' ' || c == '>') {
            self.out.truncate(start + line.trim_end().len());
        }
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_container_stands_under_its_marker() {
        let mut blocks = Blocks::default();
        blocks.open_quote();
        blocks.open_item("10. ".to_owned());
        blocks.block("a\nb");
        blocks.block("c");
        blocks.close();
        blocks.close();
        blocks.block("d");
        assert_eq!(blocks.finish(), "> 10. a\n>     b\n>\n>     c\n\nd");
    }

    #[test]
    fn a_container_without_a_line_leaves_no_trace() {
        let mut blocks = Blocks::default();
        blocks.block("a");
        blocks.open_item("- ".to_owned());
        blocks.block("");
        blocks.close();
        blocks.block("b");
        assert_eq!(blocks.finish(), "a\n\nb");
    }

    #[test]
    fn containers_beyond_the_limit_are_closed_as_they_were_opened() {
        let mut blocks = Blocks::default();
        for _ in 0..MAX_CONTAINERS + 5 {
            blocks.open_quote();
        }
        blocks.block("in");
        for _ in 0..MAX_CONTAINERS + 5 {
            blocks.close();
        }
        blocks.block("out");
        let text = blocks.finish();
        assert_eq!(text.matches('>').count(), MAX_CONTAINERS);
        assert!(text.ends_with("\n\nout"), "{text}");
    }
}
