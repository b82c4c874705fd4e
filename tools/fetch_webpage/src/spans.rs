//! The text of one block with its marks, and how it is written in Markdown.
//!
//! Marks are kept beside the text and written only when the block ends. So an emphasis that
//! holds nothing leaves no stars, spaces stand outside of marks, and a link around several
//! blocks becomes a link in each of them.

use std::rc::Rc;

/// Marks of a run of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Where it links to.
    pub(crate) link: Option<Rc<str>>,
    /// Strong emphasis.
    pub(crate) strong: bool,
    /// Emphasis.
    pub(crate) emphasis: bool,
    /// Struck through.
    pub(crate) struck: bool,
    /// Code.
    pub(crate) code: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Image { alt: String, source: String },
    Break,
}

/// What the block is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A paragraph: breaks are kept.
    Paragraph,
    /// A heading: one line.
    Heading,
    /// A cell of a table: one line, breaks as `<br>`, bars escaped.
    Cell,
}

/// The text of one block.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    parts: Vec<(Marks, Part)>,
}

/// Marks that open and close around text, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    Link(Rc<str>),
    Struck,
    Strong,
    Emphasis,
}

impl Mark {
    fn open(&self) -> &'static str {
        match self {
            Self::Link(_) => "[",
            Self::Struck => "~~",
            Self::Strong => "**",
            Self::Emphasis => "*",
        }
    }

    fn close(&self, out: &mut String) {
        match self {
            Self::Link(url) => {
                out.push_str("](");
                out.push_str(url);
                out.push(')');
            }
            other => out.push_str(other.open()),
        }
    }
}

impl Marks {
    fn list(&self) -> Vec<Mark> {
        let mut list = Vec::new();
        list.extend(self.link.clone().map(Mark::Link));
        list.extend(self.struck.then_some(Mark::Struck));
        list.extend(self.strong.then_some(Mark::Strong));
        list.extend(self.emphasis.then_some(Mark::Emphasis));
        list
    }
}

impl Spans {
    /// Adds text of the page: white space collapses, characters that show nothing go.
    pub(crate) fn push_text(&mut self, marks: &Marks, text: &str) {
        if !matches!(self.parts.last(), Some((last, Part::Text(_))) if last == marks) {
            self.parts.push((marks.clone(), Part::Text(String::new())));
        }
        let Some((_, Part::Text(run))) = self.parts.last_mut() else {
            return;
        };
        for c in text.chars() {
            if c.is_whitespace() {
                if !run.ends_with(' ') {
                    run.push(' ');
                }
            } else if !c.is_control() && c != '\u{ad}' && c != '\u{feff}' {
                run.push(c);
            }
        }
    }

    /// Adds an image.
    pub(crate) fn push_image(&mut self, marks: &Marks, alt: &str, source: String) {
        let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        self.parts
            .push((marks.clone(), Part::Image { alt, source }));
    }

    /// Adds a line break. Two in a row are a paragraph of their own: the answer says so.
    pub(crate) fn push_break(&mut self) -> bool {
        while let Some((_, Part::Text(run))) = self.parts.last() {
            if !run.trim().is_empty() {
                break;
            }
            self.parts.pop();
        }
        if matches!(self.parts.last(), Some((_, Part::Break))) {
            return true;
        }
        if !self.parts.is_empty() {
            self.parts.push((Marks::default(), Part::Break));
        }
        false
    }

    /// How many parts there are, to see later whether something was added.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether the parts from `start` on show something.
    pub(crate) fn shows_since(&self, start: usize) -> bool {
        self.parts.iter().skip(start).any(|(_, part)| match part {
            Part::Text(run) => !run.trim().is_empty(),
            Part::Image { .. } => true,
            Part::Break => false,
        })
    }

    /// Whether the text so far ends in a letter or a digit.
    pub(crate) fn ends_in_word(&self) -> bool {
        matches!(self.parts.last(), Some((_, Part::Text(run))) if run.ends_with(char::is_alphanumeric))
    }

    /// Writes the block and empties it. The answer is empty if it shows nothing.
    pub(crate) fn take(&mut self, place: Place) -> String {
        let mut parts = std::mem::take(&mut self.parts);
        while matches!(parts.last(), Some((_, Part::Break))) {
            parts.pop();
        }
        Writer::new(place).write(&parts)
    }
}

struct Writer {
    place: Place,
    out: String,
    open: Vec<Mark>,
    space: bool,
}

impl Writer {
    fn new(place: Place) -> Self {
        Self {
            place,
            out: String::new(),
            open: Vec::new(),
            space: false,
        }
    }

    fn write(mut self, parts: &[(Marks, Part)]) -> String {
        let mut at = 0;
        while let Some((marks, part)) = parts.get(at) {
            at += 1;
            match part {
                Part::Break => self.line_break(),
                Part::Image { alt, source } => {
                    self.switch(&marks.list());
                    self.out.push_str("![");
                    let alt = self.escaped(alt, true, None);
                    self.out.push_str(&alt);
                    self.out.push_str("](");
                    self.out.push_str(source);
                    self.out.push(')');
                }
                Part::Text(run) => {
                    self.space |= run.starts_with(' ');
                    let text = run.trim();
                    if text.is_empty() {
                        continue;
                    }
                    self.switch(&marks.list());
                    if marks.code {
                        self.code(text);
                    } else {
                        let next = run.ends_with(' ').then_some(' ');
                        let text = self.escaped(text, marks.link.is_some(), next);
                        self.out.push_str(&text);
                    }
                    self.space = run.ends_with(' ');
                }
            }
        }
        self.space = false;
        self.switch(&[]);
        self.out.truncate(self.out.trim_end().len());
        self.out
    }

    /// Closes and opens marks, so that just `wanted` are open, with the space between.
    fn switch(&mut self, wanted: &[Mark]) {
        let common = self
            .open
            .iter()
            .zip(wanted)
            .take_while(|(open, wanted)| open == wanted)
            .count();
        while self.open.len() > common {
            if let Some(mark) = self.open.pop() {
                mark.close(&mut self.out);
            }
        }
        if std::mem::take(&mut self.space) && !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push(' ');
        }
        for mark in &wanted[common..] {
            self.out.push_str(mark.open());
            self.open.push(mark.clone());
        }
    }

    fn line_break(&mut self) {
        match self.place {
            Place::Heading => self.space = true,
            Place::Paragraph | Place::Cell => {
                self.space = false;
                self.switch(&[]);
                let sign = if self.place == Place::Cell {
                    "<br>"
                } else {
                    "  \n"
                };
                if !self.out.is_empty() {
                    self.out.push_str(sign);
                }
            }
        }
    }

    /// A code span, in a fence that the code does not contain.
    fn code(&mut self, text: &str) {
        let text = match self.place {
            Place::Cell => text.replace('|', "\\|"),
            _ => text.to_owned(),
        };
        let fence = "`".repeat(longest_run(&text, '`') + 1);
        let pad = if text.starts_with('`') || text.ends_with('`') {
            " "
        } else {
            ""
        };
        for piece in [&*fence, pad, &*text, pad, &*fence] {
            self.out.push_str(piece);
        }
    }

    /// Text with a backslash before what would be read as Markdown, and no more of them.
    fn escaped(&self, text: &str, in_brackets: bool, after: Option<char>) -> String {
        let starts_line = self.out.is_empty() || self.out.ends_with('\n');
        let mut out = String::with_capacity(text.len() + 8);
        let mut before = self.out.chars().next_back();
        let mut rest = text.chars().peekable();
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        while let Some(c) = rest.next() {
            let next = rest.peek().copied().or(after);
            let escape = match c {
                '\\' => next.is_some_and(|next| next.is_ascii_punctuation()),
                '`' => true,
                '*' => !(blank(before) && blank(next)),
                '_' => !(word(before) && word(next) || blank(before) && blank(next)),
                '~' => before == Some('~') || next == Some('~'),
                '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || "/!?".contains(c)),
                '[' => in_brackets,
                ']' => in_brackets || next.is_some_and(|next| "([:".contains(next)),
                '|' => self.place == Place::Cell,
                _ => false,
            };
            if escape {
                out.push('\\');
            }
            out.push(c);
            before = Some(c);
        }
        if starts_line && self.place != Place::Cell && self.open.is_empty() {
            escape_line_start(&mut out, after);
        }
        out
    }
}

/// Escapes what makes a line a heading, a list item, a quote or a rule.
fn escape_line_start(text: &mut String, after: Option<char>) {
    let Some(first) = text.chars().next() else {
        return;
    };
    let ends_marker = |at: usize| {
        text[at..]
            .chars()
            .next()
            .or(after)
            .is_none_or(char::is_whitespace)
    };
    let at = match first {
        '>' => Some(0),
        '#' => ends_marker(text.len() - text.trim_start_matches('#').len()).then_some(0),
        '+' => ends_marker(1).then_some(0),
        '-' | '=' => (ends_marker(1) || text.trim_matches([first, ' ']).is_empty()).then_some(0),
        '0'..='9' => {
            let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let delimiter = text[digits..].starts_with(['.', ')']);
            (digits <= 9 && delimiter && ends_marker(digits + 1)).then_some(digits)
        }
        _ => None,
    };
    if let Some(at) = at {
        text.insert(at, '\\');
    }
}

/// The length of the longest run of one character.
pub(crate) fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
