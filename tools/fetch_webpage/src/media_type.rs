//! Which answers are text, by what the server says and by their first bytes.

/// How a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page to convert.
    Html,
    /// A text to give as it is.
    Text,
}

/// Bytes at the beginning that are looked at if the server does not say what it sends.
const SNIFFED: usize = 1024;

/// The media type of a `content-type` header, in lower case and without parameters.
pub(crate) fn essence(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or("");
    essence.trim().to_ascii_lowercase()
}

/// How to read a document; none if it is no text.
pub(crate) fn kind(essence: &str, body: &[u8]) -> Option<Kind> {
    let (family, subtype) = essence.split_once('/').unwrap_or(("", ""));
    match (family, subtype) {
        ("text", "html") | ("application", "xhtml+xml") => Some(Kind::Html),
        // Servers that know no better say so of everything.
        ("", _) | ("application", "octet-stream") => sniff(body),
        ("text", _) => Some(Kind::Text),
        (
            "application",
            "json" | "xml" | "javascript" | "ecmascript" | "x-javascript" | "yaml" | "x-yaml"
            | "toml" | "x-ndjson" | "jsonl" | "x-sh" | "sql" | "graphql" | "rtf" | "x-tex",
        ) => Some(Kind::Text),
        _ if subtype.ends_with("+json")
            || subtype.ends_with("+xml")
            || subtype.ends_with("+yaml") =>
        {
            Some(Kind::Text)
        }
        _ => None,
    }
}

fn sniff(body: &[u8]) -> Option<Kind> {
    let head = &body[..body.len().min(SNIFFED)];
    let utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if !utf16
        && head
            .iter()
            .any(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31))
    {
        return None;
    }
    if head.starts_with(b"%PDF-") {
        return None;
    }
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let marks = [
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<title",
        "<meta",
        "<div",
        "<p>",
        "<h1",
    ];
    let is_html = marks.iter().any(|mark| text.starts_with(mark)) || text.contains("<html");
    Some(if is_html { Kind::Html } else { Kind::Text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_texts_and_the_rest_are_told_apart() {
        let html = b"<!DOCTYPE html><p>x";
        for (content_type, body, expected) in [
            ("text/html; charset=utf-8", &b""[..], Some(Kind::Html)),
            ("Application/XHTML+XML", b"", Some(Kind::Html)),
            ("text/plain", html, Some(Kind::Text)),
            ("application/problem+json", b"{}", Some(Kind::Text)),
            ("application/atom+xml", b"<feed/>", Some(Kind::Text)),
            ("image/svg+xml", b"<svg/>", Some(Kind::Text)),
            ("application/pdf", b"%PDF-1.7", None),
            ("image/png", b"\x89PNG", None),
            ("", html, Some(Kind::Html)),
            ("application/octet-stream", b"plain words", Some(Kind::Text)),
            ("application/octet-stream", b"%PDF-1.7\n", None),
            ("", b"\x00\x01\x02", None),
        ] {
            assert_eq!(
                kind(&essence(content_type), body),
                expected,
                "{content_type}"
            );
        }
    }
}
