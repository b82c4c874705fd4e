//! Finds the secrets of a call in what leaves and in what comes back.
//!
//! Found are the exact bytes and the forms that programs usually bring bytes into (`forms`). In
//! what comes back a secret is masked by as many asterisks, which keeps lengths, and with them
//! `content-length`, offsets and JSON, as they were.

mod forms;
mod stream;

use std::{borrow::Cow, collections::BTreeSet, fmt, ops::Range, sync::Arc};

use aho_corasick::{
    Anchored, MatchKind, automaton::Automaton as _, automaton::StateID, nfa::noncontiguous::NFA,
};
use zeroize::Zeroizing;

pub use stream::StreamScrubber;

use crate::Credential;

/// What stands in place of each byte of a secret.
const MASK: u8 = b'*';

/// Finds and masks the secrets of one call. Cheap to clone.
#[derive(Clone, Default)]
pub struct Scrubber(Option<Arc<Table>>);

/// Every form of every secret.
struct Table {
    /// Finds them all in one pass, overlapping ones too. The quickest kind to build, which
    /// happens once a call that sends anything.
    automaton: NFA,
    /// Where every search begins.
    start: StateID,
    /// Whose secret each of the automaton's patterns is, as an index into the credentials.
    owners: Vec<usize>,
    /// Bytes of each of them.
    lengths: Vec<usize>,
}

impl Scrubber {
    /// Finds the secrets of `credentials`.
    pub fn new(credentials: &[Credential]) -> Self {
        let mut patterns: Vec<(Zeroizing<Vec<u8>>, usize)> = Vec::new();
        for (owner, credential) in credentials.iter().enumerate() {
            patterns.extend(forms::of(credential).into_iter().map(|form| (form, owner)));
        }
        if patterns.is_empty() {
            return Self::none();
        }
        // Overlapping matches, so that a secret that holds another one's start masks both.
        let automaton = NFA::builder()
            .match_kind(MatchKind::Standard)
            .build(patterns.iter().map(|(pattern, _)| pattern.as_slice()))
            .expect("the patterns of secrets of bounded size have fewer bytes than state ids");
        let start = automaton
            .start_state(Anchored::No)
            .expect("this kind of automaton searches from anywhere");
        let owners = patterns.iter().map(|(_, owner)| *owner).collect();
        let lengths = patterns.iter().map(|(pattern, _)| pattern.len()).collect();
        Self(Some(Arc::new(Table {
            automaton,
            start,
            owners,
            lengths,
        })))
    }

    /// Finds nothing.
    pub fn none() -> Self {
        Self(None)
    }

    /// Whether there is nothing to find.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a secret stands in `bytes`.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.0
            .as_ref()
            .is_some_and(|table| table.matches(bytes).next().is_some())
    }

    /// Whose secrets stand in `bytes`, as indices into the credentials; one may come repeatedly.
    pub(crate) fn owners_in<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let table = self.0.as_deref();
        table
            .into_iter()
            .flat_map(move |table| table.matches(bytes).map(|(owner, _)| owner))
    }

    /// The text with every secret masked.
    pub fn redact_str<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A secret is text and its forms are ASCII: both start and end between characters.
            Cow::Owned(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
        }
    }

    /// The bytes with every secret masked.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(table) = &self.0 else {
            return Cow::Borrowed(bytes);
        };
        let mut masked = Cow::Borrowed(bytes);
        for (_, range) in table.matches(bytes) {
            masked.to_mut()[range].fill(MASK);
        }
        masked
    }

    /// The same for bytes that come in chunks.
    pub fn stream(&self) -> StreamScrubber {
        StreamScrubber::new(self.clone())
    }

    /// The same with only the secrets of `owners`, as indices into the credentials.
    pub(crate) fn stream_of(&self, owners: &BTreeSet<usize>) -> StreamScrubber {
        StreamScrubber::of(self.clone(), owners)
    }
}

impl Table {
    fn matches<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        let mut state = self.start;
        bytes.iter().enumerate().flat_map(move |(at, &byte)| {
            state = self.next(state, byte);
            let ended = self.ended(state);
            ended.map(move |(owner, length)| (owner, at + 1 - length..at + 1))
        })
    }

    /// The state after one more byte.
    fn next(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// Whose patterns end in `state`, and how many bytes each has.
    fn ended(&self, state: StateID) -> impl Iterator<Item = (usize, usize)> + '_ {
        let count = if self.automaton.is_match(state) {
            self.automaton.match_len(state)
        } else {
            0
        };
        (0..count).map(move |index| {
            let pattern = self.automaton.match_pattern(state, index);
            let owner = self.owners[pattern.as_usize()];
            (owner, self.lengths[pattern.as_usize()])
        })
    }

    /// Bytes of the longest pattern among those whose owner `counts`; 0 if there is none.
    fn longest(&self, counts: impl Fn(usize) -> bool) -> usize {
        let patterns = self.owners.iter().zip(&self.lengths);
        let counting = patterns.filter(|(owner, _)| counts(**owner));
        counting.map(|(_, length)| *length).max().unwrap_or(0)
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns = self.0.as_ref().map_or(0, |table| table.owners.len());
        write!(f, "Scrubber({patterns} patterns)")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use base64::{Engine as _, engine::general_purpose as codec};

    use super::*;
    use crate::{Placement, Secret};

    pub(crate) fn credential(name: &str, secret: &str) -> Credential {
        Credential {
            name: name.to_owned(),
            secret: Secret::new(secret).expect("a secret"),
            placement: Placement::Bearer,
            audience: Vec::new(),
            automatic: false,
        }
    }

    const SECRET: &str = "s3cr3t/\"p\u{e4}ss w&rd\"+=";

    fn scrubber() -> Scrubber {
        Scrubber::new(&[credential("token", SECRET)])
    }

    #[test]
    fn a_secret_is_masked_in_every_usual_form() {
        let scrubber = scrubber();
        let json = serde_json::to_string(SECRET).expect("JSON");
        let form: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
        let mut url: url::Url = "https://a.com/".parse().expect("a URL");
        url.query_pairs_mut().append_pair("k", SECRET);
        url.set_path(SECRET);
        for text in [
            SECRET.to_owned(),
            json.trim_matches('"').to_owned(),
            form.clone(),
            form.replace('+', "%20"),
            form.to_lowercase(),
            hex::encode(SECRET),
            hex::encode_upper(SECRET),
            url.query()
                .expect("a query")
                .trim_start_matches("k=")
                .to_owned(),
            url.path().to_owned(),
        ] {
            let around = format!("before {text} after");
            assert!(scrubber.finds(around.as_bytes()), "{text}");
            let masked = scrubber.redact_str(&around);
            assert!(masked.starts_with("before "), "{masked}");
            assert!(masked.ends_with(" after"), "{masked}");
            assert!(
                !masked.contains("cr3t") && masked.len() == around.len(),
                "{masked}"
            );
        }
    }

    #[test]
    fn a_secret_inside_longer_base64_is_masked_at_every_alignment() {
        let scrubber = scrubber();
        for before in ["", "u", "us", "use", "user:", "longer name:"] {
            for after in ["", "a", "ab", "abc"] {
                let text = format!("{before}{SECRET}{after}");
                for engine in [
                    &codec::STANDARD,
                    &codec::STANDARD_NO_PAD,
                    &codec::URL_SAFE,
                    &codec::URL_SAFE_NO_PAD,
                ] {
                    let encoded = engine.encode(&text);
                    assert!(scrubber.finds(encoded.as_bytes()), "{text}");
                    let masked = scrubber.redact_str(&encoded).into_owned();
                    let stars = masked.matches('*').count();
                    assert!(stars + 2 >= SECRET.len() * 8 / 6, "{text}: {masked}");
                }
            }
        }
    }

    #[test]
    fn overlapping_secrets_are_both_masked() {
        let scrubber = Scrubber::new(&[
            credential("a", "0123456789"),
            credential("b", "56789abcdef"),
        ]);
        assert_eq!(
            scrubber.redact_str("x0123456789abcdefx"),
            "x****************x"
        );
        let mut owners: Vec<usize> = scrubber.owners_in(b"0123456789abcdef").collect();
        owners.sort_unstable();
        assert_eq!(owners, [0, 1]);
    }

    #[test]
    fn ordinary_text_is_left_as_it_is() {
        let scrubber = scrubber();
        assert!(matches!(
            scrubber.redact_str("s3cr3t pass word"),
            Cow::Borrowed(_)
        ));
        assert!(matches!(
            Scrubber::none().redact_str(SECRET),
            Cow::Borrowed(_)
        ));
        assert!(!Scrubber::none().finds(SECRET.as_bytes()));
    }

    #[test]
    fn a_scrubber_prints_no_secret() {
        assert!(!format!("{:?}", scrubber()).contains("cr3t"));
    }
}
