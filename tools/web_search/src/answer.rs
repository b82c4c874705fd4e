//! What a search finds.

use bulkhead_sdk::JsonSchema;
use serde::Serialize;

/// Characters of one text in an answer. A hundred results with whole pages would be more than
/// the host's limit for a result, and more than any model reads.
const MAX_TEXT: usize = 8_000;

/// The answer to a query.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The query.
    pub(crate) query: String,
    /// What was found, best first.
    pub(crate) results: Vec<Found>,
}

/// One page that was found.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// Its title.
    pub(crate) title: Option<String>,
    /// Its address.
    pub(crate) url: String,
    /// When it was published, as the provider writes it.
    pub(crate) published_date: Option<String>,
    /// Who wrote it.
    pub(crate) author: Option<String>,
    /// Its text, if it was asked for and the provider has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Passages that match the query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) highlights: Vec<String>,
    /// What it says, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
}

/// A text of a provider, without white space around it and not too long; none if it is empty.
pub(crate) fn text(text: Option<String>) -> Option<String> {
    let text = text?;
    let text = text.trim();
    let end = text.char_indices().nth(MAX_TEXT).map(|(at, _)| at);
    match end {
        Some(end) => Some(format!("{} […]", &text[..end])),
        None => (!text.is_empty()).then(|| text.to_owned()),
    }
}

/// A text in which the provider marked words with tags, as plain text.
pub(crate) fn plain(marked: Option<String>) -> Option<String> {
    let marked = marked?;
    let mut out = marked;
    for tag in ["<strong>", "</strong>", "<em>", "</em>", "<b>", "</b>"] {
        out = out.replace(tag, "");
    }
    // The ampersand last, or `&amp;lt;` would be undone twice.
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        out = out.replace(entity, character);
    }
    text(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_words_become_plain_ones() {
        let marked = Some(" A <strong>tide</strong> &amp; &lt;pool&gt; &amp;lt; ".to_owned());
        assert_eq!(plain(marked).as_deref(), Some("A tide & <pool> &lt;"));
        assert_eq!(plain(Some("  ".to_owned())), None);
    }

    #[test]
    fn a_long_text_is_cut_with_a_mark() {
        let long = text(Some("é".repeat(MAX_TEXT + 1))).expect("a text");
        assert_eq!(long.chars().count(), MAX_TEXT + 4);
        assert!(long.ends_with(" […]"));
    }
}
