//! Masks secrets in bytes that come in chunks, also those that are split over chunks.

use std::{collections::BTreeSet, ops::Range};

use bytes::Bytes;
use zeroize::Zeroizing;

use super::{MASK, Scrubber};

/// Masks secrets in bytes that come in chunks. The end of a chunk that could be the start of a
/// secret is held back until the next chunk tells; nothing else is.
pub struct StreamScrubber {
    scrubber: Scrubber,
    /// Bytes that could be the start of a secret.
    held: Zeroizing<Vec<u8>>,
    /// Which of the held bytes belong to a secret that was found already.
    marked: Vec<Range<usize>>,
    /// Whose secrets were found, as indices into the credentials.
    found: BTreeSet<usize>,
    /// Whether to mask what is found.
    masks: bool,
}

impl StreamScrubber {
    pub(super) fn new(scrubber: Scrubber) -> Self {
        Self {
            scrubber,
            held: Zeroizing::default(),
            marked: Vec::new(),
            found: BTreeSet::new(),
            masks: true,
        }
    }

    /// One that only looks and passes all bytes on as they are.
    pub(crate) fn looking(scrubber: Scrubber) -> Self {
        Self {
            masks: false,
            ..Self::new(scrubber)
        }
    }

    /// Takes the next chunk and gives what can be passed on.
    pub fn push(&mut self, chunk: Bytes) -> Bytes {
        let Some(table) = self.scrubber.0.clone() else {
            return chunk;
        };
        if self.held.is_empty() {
            let untouched = !table.automaton.is_match(&chunk);
            if untouched && table.possible_start(&chunk) == chunk.len() {
                return chunk;
            }
        }
        self.held.extend_from_slice(&chunk);
        for (owner, range) in table.matches(&self.held) {
            self.found.insert(owner);
            self.marked.push(range);
        }
        let end = table.possible_start(&self.held);
        self.release(end)
    }

    /// Gives what was held back, when there is no more.
    pub fn finish(&mut self) -> Bytes {
        self.release(self.held.len())
    }

    /// Whose secrets were found so far, as indices into the credentials.
    pub(crate) fn found(&self) -> &BTreeSet<usize> {
        &self.found
    }

    /// How many bytes are held back.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Passes the first `end` bytes on, masked where they are marked.
    fn release(&mut self, end: usize) -> Bytes {
        let kept = Zeroizing::new(self.held.split_off(end));
        let mut released = std::mem::replace(&mut self.held, kept);
        for range in &self.marked {
            if self.masks && range.start < end {
                released[range.start..range.end.min(end)].fill(MASK);
            }
        }
        self.marked.retain_mut(|range| {
            *range = range.start.saturating_sub(end)..range.end.saturating_sub(end);
            range.start < range.end
        });
        Bytes::from(std::mem::take(&mut *released))
    }
}

impl std::fmt::Debug for StreamScrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StreamScrubber({} bytes held)", self.held.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scrub::tests::credential;

    fn masked(scrubber: &Scrubber, chunks: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
        let mut stream = scrubber.stream();
        let mut out = Vec::new();
        for chunk in chunks {
            out.extend_from_slice(&stream.push(Bytes::from(chunk)));
        }
        out.extend_from_slice(&stream.finish());
        out
    }

    #[test]
    fn what_can_be_no_secret_is_not_held_back() {
        let mut stream = Scrubber::new(&[credential("a", "0123456789")]).stream();
        assert_eq!(
            stream.push(Bytes::from_static(b"data: 1\n\n")),
            "data: 1\n\n"
        );
        assert_eq!(stream.push(Bytes::from_static(b"x 01234")), "x ");
        assert_eq!(stream.push(Bytes::from_static(b"x")), "01234x");
        assert_eq!(stream.push(Bytes::from_static(b"0123456789")), "**********");
        assert_eq!(stream.finish(), "");
    }

    #[test]
    fn a_looking_stream_tells_whose_secret_it_saw() {
        let scrubber =
            Scrubber::new(&[credential("a", "0123456789"), credential("b", "abcdefghi")]);
        let mut stream = StreamScrubber::looking(scrubber);
        assert_eq!(stream.push(Bytes::from_static(b"-abcd")), "-");
        assert!(stream.found().is_empty());
        assert_eq!(stream.push(Bytes::from_static(b"efghi-")), "abcdefghi-");
        assert_eq!(stream.found().iter().collect::<Vec<_>>(), [&1]);
    }

    proptest! {
        #[test]
        fn chunks_are_masked_like_the_whole(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("aabaabaa".to_owned()), Just("baabaaab".to_owned()), "[ab]{0,12}",
                ],
                0..8,
            ),
            size in 1..12usize,
        ) {
            let scrubber =
                Scrubber::new(&[credential("a", "aabaabaa"), credential("b", "baabaaabb")]);
            let whole = parts.concat();
            let chunks = whole.as_bytes().chunks(size).map(<[u8]>::to_vec);
            let expected = scrubber.redact_bytes(whole.as_bytes()).into_owned();
            prop_assert_eq!(masked(&scrubber, chunks), expected);
        }
    }
}
