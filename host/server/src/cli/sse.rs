//! Server-sent events, as far as the server writes them.

/// Bytes of one event: the largest result of a call as JSON, and then some. More is no answer
/// of ours.
const MAX_EVENT_BYTES: usize = 64 << 20;

/// Takes chunks and gives whole events.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    buffer: Vec<u8>,
}

impl Parser {
    /// The events that `chunk` completes, each with its name and data.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Result<Vec<(String, String)>, String> {
        // A blank line may begin in the last byte of what is there.
        let mut from = self.buffer.len().saturating_sub(1);
        self.buffer.extend_from_slice(chunk);
        let mut events = Vec::new();
        while let Some(at) = self.buffer[from..]
            .windows(2)
            .position(|pair| pair == b"\n\n")
        {
            let rest = self.buffer.split_off(from + at + 2);
            let block = std::mem::replace(&mut self.buffer, rest);
            events.extend(event(&String::from_utf8_lossy(&block)));
            from = 0;
        }
        if self.buffer.len() > MAX_EVENT_BYTES {
            return Err(format!("an event is larger than {MAX_EVENT_BYTES} bytes"));
        }
        Ok(events)
    }
}

/// One block of lines; none if it is only a comment.
fn event(block: &str) -> Option<(String, String)> {
    let mut name = "message".to_owned();
    let mut data: Vec<&str> = Vec::new();
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => data.push(value),
            _ => {}
        }
    }
    (!data.is_empty()).then(|| (name, data.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text =
            b": hello\n\nevent: progress\ndata: {\"a\":1}\n\ndata: x\ndata: y\n\nevent: late\n";
        for size in 1..text.len() {
            let mut parser = Parser::default();
            let events: Vec<_> = text
                .chunks(size)
                .flat_map(|chunk| parser.feed(chunk).expect("small"))
                .collect();
            let expected = [("progress", "{\"a\":1}"), ("message", "x\ny")];
            let expected = expected.map(|(name, data)| (name.to_owned(), data.to_owned()));
            assert_eq!(events, expected, "chunks of {size}");
        }
    }
}
