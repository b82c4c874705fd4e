//! The part of a page that one call gives, and how to get the next one.

use bulkhead_sdk::Error;

use crate::fetch::Document;
use crate::page::Page;

/// About 10,000 tokens: most articles whole, and below what callers take as a tool's result.
pub(crate) const DEFAULT_CHARACTERS: u32 = 40_000;
/// Less is not worth a request.
pub(crate) const MIN_CHARACTERS: u32 = 500;
/// In the longest characters still within the host's limit for a result.
pub(crate) const MAX_CHARACTERS: u32 = 200_000;
/// The last part of a window, one in so many characters, in which a cut looks for a line's end.
const SEARCH_SHARE: usize = 5;

/// Writes title, address and the characters from `start` on, with a note about what is left.
pub(crate) fn show(
    page: &Page,
    document: &Document,
    start: u32,
    limit: u32,
) -> Result<String, Error> {
    let total = page.text.chars().count();
    let start = usize::try_from(start)?;
    if start > 0 && start >= total {
        let message = format!("is {start}, but the page has only {total} characters");
        return Err(Error::invalid("/start", message));
    }
    let rest = skip(&page.text, start);
    let part = cut(rest, usize::try_from(limit)?);
    let end = start + part.chars().count();

    let mut out = String::with_capacity(part.len() + 512);
    if !page.title.is_empty() {
        out.push_str(&format!("Title: {}\n", page.title));
    }
    out.push_str(&format!("URL: {}\n\n", document.url));
    out.push_str(if total == 0 {
        "[The page has no text.]"
    } else {
        part.trim_end()
    });
    if end < total {
        let left = total - end;
        out.push_str(&format!(
            "\n\n[Cut: characters {start} to {end} of {total}; {left} are left. \
             To read on, call fetch_webpage again with start={end}.]"
        ));
    } else if page.cut || document.cut {
        out.push_str("\n\n[Cut: the page is too large to be read to its end; what follows cannot be fetched.]");
    }
    Ok(out)
}

/// The text without its first characters.
fn skip(text: &str, characters: usize) -> &str {
    let at = text
        .char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| at);
    &text[at..]
}

/// The beginning of the text: at most so many characters, up to the end of a line or a word if
/// one is near.
fn cut(text: &str, limit: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return text;
    };
    let near = end - end / SEARCH_SHARE;
    let whole = &text[..end];
    let at = ["\n\n", "\n", " "].into_iter().find_map(|sign| {
        whole
            .rfind(sign)
            .filter(|at| *at >= near)
            .map(|at| at + sign.len())
    });
    &whole[..at.unwrap_or(end)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media_type::Kind;

    fn window(text: &str, start: u32, limit: u32) -> Result<String, Error> {
        let page = Page {
            title: String::new(),
            text: text.to_owned(),
            cut: false,
        };
        let url = "https://a.example/".to_owned();
        let document = Document {
            url,
            kind: Kind::Text,
            text: String::new(),
            cut: false,
        };
        show(&page, &document, start, limit)
    }

    #[test]
    fn windows_joined_give_the_whole_text() {
        let text: String = (0..400)
            .map(|n| format!("wörd{n} {}", if n % 9 == 0 { "\n" } else { "" }))
            .collect();
        let mut joined = String::new();
        let mut start = 0;
        loop {
            let part = window(&text, start, 500).expect("a window");
            let body = part.split_once("\n\n").expect("a head").1;
            let Some((body, note)) = body.split_once("\n\n[Cut: ") else {
                joined.push_str(body);
                break;
            };
            assert!(body.chars().count() <= 500);
            joined.push_str(body);
            let next = note
                .split("start=")
                .nth(1)
                .and_then(|rest| rest.split('.').next());
            let next: u32 = next
                .and_then(|next| next.parse().ok())
                .expect("where to read on");
            assert!(next > start);
            start = next;
        }
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&joined), words(&text));
    }

    #[test]
    fn a_cut_falls_on_a_boundary_of_characters() {
        let text = "🦀".repeat(1000);
        let part = window(&text, 3, 500).expect("a window");
        assert!(
            part.contains("[Cut: characters 3 to 503 of 1000; 497 are left."),
            "{part}"
        );
    }

    #[test]
    fn a_start_behind_the_end_is_refused_with_the_length() {
        let error = window("short", 5, 500).expect_err("nothing is there");
        assert_eq!(
            error,
            Error::invalid("/start", "is 5, but the page has only 5 characters")
        );
    }
}
