//! Masks secrets in bytes that come in chunks, also those that are split over chunks.

use std::{collections::BTreeSet, sync::Arc};

use aho_corasick::automaton::StateID;
use bytes::Bytes;
use zeroize::Zeroizing;

use super::{MASK, Scrubber, Table};

/// Masks secrets in bytes that come in chunks.
///
/// Passing on lags behind by a fixed number of bytes, one less than the longest form of a secret
/// has, so that no part of a secret leaves before all of it was seen. Which bytes these are makes
/// no difference: holding back only what could be the start of a secret would tell whoever sees
/// both ends, byte by byte, how far a guess is right.
pub struct StreamScrubber {
    /// None if there is nothing to find.
    search: Option<Search>,
    /// The last bytes, as many as the lag.
    held: Zeroizing<Vec<u8>>,
    /// Whose secrets were found, as indices into the credentials.
    found: BTreeSet<usize>,
    /// Whether to mask what is found.
    masks: bool,
}

/// A search that goes on from chunk to chunk.
struct Search {
    table: Arc<Table>,
    /// Where the automaton is after the bytes so far.
    state: StateID,
    /// Whose secrets are looked for; none for everybody's.
    only: Option<BTreeSet<usize>>,
    /// Bytes that are held back.
    lag: usize,
}

impl Search {
    fn new(table: Arc<Table>, only: Option<BTreeSet<usize>>) -> Option<Self> {
        let counts = |owner| only.as_ref().is_none_or(|only| only.contains(&owner));
        let lag = table.longest(counts).checked_sub(1)?;
        Some(Self {
            state: table.start,
            table,
            only,
            lag,
        })
    }
}

impl StreamScrubber {
    pub(super) fn new(scrubber: Scrubber) -> Self {
        Self::over(scrubber, None)
    }

    /// One that knows the secrets of `owners` only.
    pub(super) fn of(scrubber: Scrubber, owners: &BTreeSet<usize>) -> Self {
        Self::over(scrubber, Some(owners.clone()))
    }

    fn over(scrubber: Scrubber, only: Option<BTreeSet<usize>>) -> Self {
        Self {
            search: scrubber.0.and_then(|table| Search::new(table, only)),
            held: Zeroizing::default(),
            found: BTreeSet::new(),
            masks: true,
        }
    }

    /// One that only looks and passes all bytes on as they are, with the same lag.
    pub(crate) fn looking(scrubber: Scrubber) -> Self {
        Self {
            masks: false,
            ..Self::new(scrubber)
        }
    }

    /// Takes the next chunk and gives what can be passed on.
    pub fn push(&mut self, chunk: Bytes) -> Bytes {
        let Some(search) = &mut self.search else {
            return chunk;
        };
        let before = self.held.len();
        self.held.extend_from_slice(&chunk);
        for (at, &byte) in chunk.iter().enumerate() {
            search.state = search.table.next(search.state, byte);
            let end = before + at + 1;
            for (owner, length) in search.table.ended(search.state) {
                if search
                    .only
                    .as_ref()
                    .is_some_and(|only| !only.contains(&owner))
                {
                    continue;
                }
                self.found.insert(owner);
                if self.masks {
                    // The lag has all bytes of it here; the search goes by the bytes as they came.
                    self.held[end.saturating_sub(length)..end].fill(MASK);
                }
            }
        }
        let end = self.held.len().saturating_sub(search.lag);
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

    /// Passes the first `end` bytes on, in a buffer of their own.
    fn release(&mut self, end: usize) -> Bytes {
        let released = Bytes::copy_from_slice(&self.held[..end]);
        self.held.drain(..end);
        released
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

    /// What is received, chunk for chunk.
    fn steps(mut stream: StreamScrubber, text: &str, size: usize) -> Vec<Bytes> {
        let chunks = text.as_bytes().chunks(size);
        let mut steps: Vec<_> = chunks
            .map(|chunk| stream.push(Bytes::copy_from_slice(chunk)))
            .collect();
        steps.push(stream.finish());
        steps
    }

    #[test]
    fn a_right_guess_arrives_like_a_wrong_one_at_every_step() {
        const SECRET: &str = "s3cr3t/token+1";
        let scrubber = Scrubber::new(&[credential("a", SECRET), credential("b", "another secret")]);
        let right = [
            SECRET,
            &hex::encode(SECRET),
            "s3cr3t%2Ftoken%2B1",
            "c2NyM3QvdG9rZW4rMQ",
        ];
        for right in right {
            // Complete, it is masked or refused; up to there nothing tells.
            for length in 1..SECRET.len() {
                let wrong = "~".repeat(length);
                let around = |guess: &str| format!("{}{guess}", "-".repeat(100));
                for size in [1, 2, 5, 200] {
                    for looks in [true, false] {
                        let stream = || match looks {
                            true => StreamScrubber::looking(scrubber.clone()),
                            false => scrubber.stream(),
                        };
                        let sizes = |text: &str| -> Vec<usize> {
                            let steps = steps(stream(), &around(text), size);
                            assert_eq!(steps.concat(), around(text).as_bytes());
                            steps.iter().map(Bytes::len).collect()
                        };
                        assert_eq!(sizes(&right[..length]), sizes(&wrong), "{right} {length}");
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_of_a_secret_leaves_before_all_of_it_was_seen() {
        let mut stream = Scrubber::new(&[credential("a", "0123456789")]).stream();
        // Percent-encoded it has 30 bytes.
        assert_eq!(stream.push(Bytes::from(vec![b'-'; 29])), "");
        assert_eq!(stream.push(Bytes::from_static(b"01234")), "-----");
        assert_eq!(stream.held(), 29);
        assert_eq!(stream.push(Bytes::from_static(b"56789")), "-----");
        assert_eq!(stream.finish(), "-------------------**********");
        assert_eq!(stream.held(), 0);
    }

    #[test]
    fn a_stream_of_some_secrets_masks_and_waits_for_no_others() {
        let scrubber =
            Scrubber::new(&[credential("a", "0123456789"), credential("b", "abcdefghi")]);
        let mut none = scrubber.stream_of(&BTreeSet::new());
        assert_eq!(none.push(Bytes::from_static(b"abcdefghi")), "abcdefghi");
        let some = scrubber.stream_of(&BTreeSet::from([1]));
        let steps = steps(some, "0123456789-abcdefghi-----------------", 37);
        assert_eq!(steps[0].len(), 37 - (3 * 9 - 1));
        assert_eq!(steps.concat(), b"0123456789-*********-----------------");
    }

    #[test]
    fn a_looking_stream_tells_whose_secret_it_saw() {
        let scrubber =
            Scrubber::new(&[credential("a", "0123456789"), credential("b", "abcdefghi")]);
        let mut stream = StreamScrubber::looking(scrubber);
        assert_eq!(stream.push(Bytes::from_static(b"-abcd")), "");
        assert!(stream.found().is_empty());
        assert_eq!(stream.push(Bytes::from_static(b"efghi-")), "");
        assert_eq!(stream.found().iter().collect::<Vec<_>>(), [&1]);
        assert_eq!(stream.finish(), "-abcdefghi-");
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
