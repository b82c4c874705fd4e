//! Finds the secrets of a call in what leaves and in what comes back.
//!
//! Found are the exact bytes and the forms that programs usually bring bytes into (`forms`). In
//! what comes back a secret is masked by as many asterisks, which keeps lengths, and with them
//! `content-length`, offsets and JSON, as they were.

mod forms;
mod stream;

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
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
    /// Finds them all in one pass, overlapping ones too.
    automaton: AhoCorasick,
    /// Whose secret each of the automaton's patterns is, as an index into the credentials.
    owners: Vec<usize>,
    /// The same patterns in the order of their bytes, to find the start of one at a chunk's end.
    sorted: Vec<Zeroizing<Vec<u8>>>,
    /// Bytes of the longest pattern.
    longest: usize,
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
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            // The quickest to build, which happens once a call that sends anything.
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(patterns.iter().map(|(pattern, _)| pattern.as_slice()))
            .expect("the patterns of secrets of bounded size have fewer bytes than state ids");
        let owners = patterns.iter().map(|(_, owner)| *owner).collect();
        let mut sorted: Vec<_> = patterns.into_iter().map(|(pattern, _)| pattern).collect();
        sorted.sort_by(|a, b| a.as_slice().cmp(b.as_slice()));
        let longest = sorted
            .iter()
            .map(|pattern| pattern.len())
            .max()
            .unwrap_or(0);
        Self(Some(Arc::new(Table {
            automaton,
            owners,
            sorted,
            longest,
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
            .is_some_and(|table| table.automaton.is_match(bytes))
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
}

impl Table {
    fn matches<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        let matches = self.automaton.find_overlapping_iter(bytes);
        matches.map(|found| (self.owners[found.pattern().as_usize()], found.range()))
    }

    /// Where the longest end of `bytes` begins that could be the start of a secret.
    fn possible_start(&self, bytes: &[u8]) -> usize {
        let first = bytes.len().saturating_sub(self.longest - 1);
        let could_start = |at: &usize| {
            let end = &bytes[*at..];
            let next = self
                .sorted
                .partition_point(|pattern| pattern.as_slice() <= end);
            self.sorted
                .get(next)
                .is_some_and(|pattern| pattern.starts_with(end))
        };
        (first..bytes.len())
            .find(could_start)
            .unwrap_or(bytes.len())
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
