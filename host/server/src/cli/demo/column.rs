//! Text that arrives in pieces, told in a column beside the name of whoever says it.

use std::{
    fmt::Display,
    io::{self, Write},
};

use crate::cli::screen::{Paint, Screen};

/// Columns of the names.
const NAME: usize = 10;
/// Columns of a line: longer ones are hard to read.
const WIDTH: usize = 96;

/// The column. A reader that went away ends nothing.
pub(super) struct Column<W> {
    screen: Screen,
    out: W,
    paint: Option<Paint>,
    /// The word that is not yet complete.
    word: String,
    /// Columns of this line that are taken; none where no line is open.
    taken: Option<usize>,
    /// Whether white space stood before the word.
    space: bool,
    /// Whether nothing stands in this line yet, not even the space below the name.
    is_bare: bool,
}

impl Column<io::Stdout> {
    pub(super) fn stdout(screen: Screen) -> Self {
        Self::new(screen, io::stdout())
    }
}

impl<W: Write> Column<W> {
    fn new(screen: Screen, out: W) -> Self {
        Self {
            screen,
            out,
            paint: None,
            word: String::new(),
            taken: None,
            space: false,
            is_bare: false,
        }
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.end();
        self.write("\n");
    }

    /// A new line, by `name`; its text has this paint.
    pub(super) fn begin(&mut self, name: &str, paint: Option<Paint>) {
        self.end();
        let padded = format!("   {name:<NAME$}");
        self.write(self.screen.paint(padded, Paint::Cyan));
        self.is_bare = false;
        self.paint = paint;
        self.taken = Some(0);
    }

    /// The next piece of the line.
    pub(super) fn piece(&mut self, text: &str) {
        for letter in text.chars() {
            if letter == '\n' {
                self.flush_word();
                self.new_line();
            } else if letter.is_whitespace() {
                self.flush_word();
                self.space = true;
            } else {
                self.word.push(letter);
            }
        }
        let _ = self.out.flush();
    }

    /// Ends the line, where one is open.
    pub(super) fn end(&mut self) {
        self.flush_word();
        self.space = false;
        if self.taken.take().is_some() {
            self.write("\n");
        }
        let _ = self.out.flush();
    }

    fn flush_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let length = word.chars().count();
        let taken = self.taken.unwrap_or(0);
        let space = usize::from(self.space && taken > 0);
        if taken > 0 && NAME + taken + space + length > WIDTH {
            self.new_line();
        } else if space > 0 {
            self.write(" ");
            self.taken = Some(taken + space);
        }
        self.space = false;
        if std::mem::take(&mut self.is_bare) {
            self.write(format_args!("   {:NAME$}", ""));
        }
        match self.paint {
            Some(paint) => self.write(self.screen.paint(word, paint)),
            None => self.write(word),
        }
        self.taken = Some(self.taken.unwrap_or(0) + length);
    }

    fn new_line(&mut self) {
        self.write("\n");
        self.taken = Some(0);
        self.space = false;
        self.is_bare = true;
    }

    fn write(&mut self, text: impl Display) {
        let _ = write!(self.out, "{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[&str]) -> String {
        // Where no terminal is, nothing is painted.
        let mut column = Column::new(Screen::new(true), Vec::new());
        column.begin("agent", Some(Paint::Dim));
        for piece in pieces {
            column.piece(piece);
        }
        column.end();
        let text = String::from_utf8(column.out).expect("text");
        text.replace("\x1b[36m", "")
            .replace("\x1b[2m", "")
            .replace("\x1b[0m", "")
    }

    #[test]
    fn a_text_is_the_same_however_it_is_cut() {
        let text = "I will look\n\nthat up, word by word.";
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        let expected = "   agent     I will look\n\n             that up, word by word.\n";
        assert_eq!(told(&[text]), expected);
        assert_eq!(told(&letters), expected);
    }

    #[test]
    fn no_line_is_longer_than_a_screen_unless_its_word_is() {
        let told = told(&[&"many words ".repeat(60)]);
        assert!(told.lines().count() > 5);
        assert!(
            told.lines().all(|line| line.chars().count() <= WIDTH + 3),
            "{told}"
        );
    }
}
