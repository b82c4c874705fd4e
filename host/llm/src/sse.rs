//! Server-sent events, from bytes in whatever pieces they arrive.

use std::{collections::VecDeque, mem};

/// Bytes of one event at most, where nobody says less. The largest one that providers send is a whole answer at the end of
/// its own stream; answers are some hundred kilobytes.
pub const MAX_EVENT: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its `event` field.
    pub name: Option<String>,
    /// Its `data` lines, joined by line feeds. Never empty.
    pub data: String,
}

/// What is wrong with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// An event without end, or larger than the reader takes: as many bytes as this.
    #[error("an event of its stream is larger than {0} bytes")]
    TooLarge(usize),
    /// Bytes that are no text.
    #[error("its stream is not UTF-8")]
    NotUtf8,
}

/// Takes bytes, gives events. Lines may end in LF, CR or both; comments, ids and retry times are
/// of no use here and passed over.
#[derive(Debug)]
pub struct Parser {
    /// Bytes of one event at most.
    max: usize,
    /// The line that has begun.
    line: Vec<u8>,
    /// Whether the last byte was a CR, whose LF may follow in the next piece.
    after_cr: bool,
    /// Whether a line was seen; the first may begin with a byte order mark.
    started: bool,
    name: Option<String>,
    data: Option<String>,
    events: VecDeque<Event>,
}

impl Default for Parser {
    /// Takes events of [`MAX_EVENT`] bytes at most.
    fn default() -> Self {
        Self::limited(MAX_EVENT)
    }
}

impl Parser {
    /// Takes events of `max` bytes at most.
    pub fn limited(max: usize) -> Self {
        Self {
            max,
            line: Vec::new(),
            after_cr: false,
            started: false,
            name: None,
            data: None,
            events: VecDeque::new(),
        }
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// When an event is too large or no text; nothing after it can be read.
    pub fn push(&mut self, mut piece: &[u8]) -> Result<(), Malformed> {
        if mem::take(&mut self.after_cr) && piece.first() == Some(&b'\n') {
            piece = &piece[1..];
        }
        while let Some(end) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.hold(&piece[..end])?;
            let crlf = piece[end..].starts_with(b"\r\n");
            self.after_cr = piece[end..] == *b"\r";
            piece = &piece[end + if crlf { 2 } else { 1 }..];
            self.end_line()?;
        }
        self.hold(piece)
    }

    /// Takes the end of the stream. An event whose blank line is missing counts: servers that
    /// close right after their last line are common.
    ///
    /// # Errors
    /// As [`Parser::push`].
    pub fn finish(&mut self) -> Result<(), Malformed> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        self.dispatch();
        Ok(())
    }

    /// The next event, where one is complete.
    #[allow(
        clippy::should_implement_trait,
        reason = "it is no iterator: more events may come after none"
    )]
    pub fn next(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > self.max {
            return Err(Malformed::TooLarge(self.max));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Malformed> {
        let bytes = mem::take(&mut self.line);
        let line = std::str::from_utf8(&bytes).map_err(|_| Malformed::NotUtf8)?;
        let line = if mem::replace(&mut self.started, true) {
            line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        };
        if line.is_empty() {
            self.dispatch();
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) {
        let name = self.name.take();
        if let Some(data) = self.data.take().filter(|data| !data.is_empty()) {
            self.events.push_back(Event { name, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: Option<&str>, data: &str) -> Event {
        Event {
            name: name.map(str::to_owned),
            data: data.to_owned(),
        }
    }

    fn drain(parser: &mut Parser) -> Vec<Event> {
        std::iter::from_fn(|| parser.next()).collect()
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        let text = "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\r\ndata:  \"häß 🦀\"}\r\n\r\n\
                    id: 7\rdata: b\r\rdata\n\ndata:c\n\nevent: d\ndata: d";
        let expected = vec![
            event(Some("a"), "{\"x\":\n \"häß 🦀\"}"),
            event(None, "b"),
            event(None, "c"),
            event(Some("d"), "d"),
        ];
        for size in 1..text.len() {
            let mut parser = Parser::default();
            for piece in text.as_bytes().chunks(size) {
                parser.push(piece).unwrap();
            }
            parser.finish().unwrap();
            assert_eq!(drain(&mut parser), expected, "pieces of {size} bytes");
        }
    }

    #[test]
    fn an_event_comes_as_soon_as_its_blank_line_does() {
        let mut parser = Parser::default();
        parser.push(b"data: x\r\n\r").unwrap();
        assert_eq!(drain(&mut parser), [event(None, "x")]);
        parser.push(b"\ndata: y\n").unwrap();
        assert_eq!(drain(&mut parser), []);
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let piece = vec![b'x'; MAX_EVENT / 4];
        let mut parser = Parser::default();
        parser.push(b"data: ").unwrap();
        for _ in 0..3 {
            parser.push(&piece).unwrap();
        }
        assert_eq!(parser.push(&piece), Err(Malformed::TooLarge(MAX_EVENT)));
    }

    #[test]
    fn many_lines_of_one_event_count_together() {
        let mut line = b"data: ".to_vec();
        line.resize(MAX_EVENT / 3, b'x');
        line.push(b'\n');
        let mut parser = Parser::default();
        let refused = (0..4).find_map(|_| parser.push(&line).err());
        assert_eq!(refused, Some(Malformed::TooLarge(MAX_EVENT)));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        assert_eq!(
            Parser::default().push(b"data: \xff\n"),
            Err(Malformed::NotUtf8)
        );
    }
}
