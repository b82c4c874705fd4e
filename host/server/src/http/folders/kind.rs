//! Which files this server takes: texts, by the ending of their names and by what is in them.

use http::StatusCode;
use serde_json::json;

use crate::contract::Refusal;

/// The media types of the endings that name texts.
const ENDINGS: &[(&str, &[&str])] = &[
    (
        "text/plain",
        &[
            "txt",
            "text",
            "log",
            "cfg",
            "conf",
            "env",
            "ini",
            "properties",
            "rst",
            "tex",
            "srt",
            "vtt",
            "diff",
            "patch",
        ],
    ),
    ("text/markdown", &["md", "markdown", "mdx"]),
    ("application/json", &["json", "ipynb"]),
    ("application/jsonl", &["jsonl", "ndjson"]),
    ("text/csv", &["csv"]),
    ("text/tab-separated-values", &["tsv"]),
    ("application/xml", &["xml", "xsd", "xsl", "svg"]),
    ("application/yaml", &["yaml", "yml"]),
    ("application/toml", &["toml"]),
    ("text/html", &["html", "htm", "xhtml"]),
    ("text/css", &["css", "scss", "sass", "less"]),
    ("text/javascript", &["js", "mjs", "cjs", "jsx"]),
    ("text/x-typescript", &["ts", "tsx", "mts", "cts"]),
    ("text/x-python", &["py", "pyi"]),
    ("text/x-java", &["java"]),
    ("text/x-c", &["c", "h"]),
    ("text/x-c++", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    ("text/x-csharp", &["cs"]),
    ("text/x-go", &["go"]),
    ("text/x-rust", &["rs"]),
    ("text/x-ruby", &["rb"]),
    ("text/x-php", &["php"]),
    ("text/x-swift", &["swift"]),
    ("text/x-kotlin", &["kt", "kts"]),
    ("text/x-scala", &["scala"]),
    (
        "text/x-shellscript",
        &["sh", "bash", "zsh", "fish", "ps1", "bat"],
    ),
    ("text/x-sql", &["sql"]),
    ("text/x-r", &["r"]),
    ("text/x-lua", &["lua"]),
    ("text/x-perl", &["pl", "pm"]),
    ("text/x-haskell", &["hs"]),
    ("text/x-elixir", &["ex", "exs"]),
    ("text/x-dart", &["dart"]),
    ("text/x-vue", &["vue", "svelte"]),
    ("text/x-protobuf", &["proto"]),
    ("text/x-asm", &["s", "asm"]),
];
/// What is said of bytes of which nothing is known.
const UNKNOWN: &str = "application/octet-stream";
const PDF: &str = "application/pdf";
/// What some programs write before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file that this server takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) media_type: String,
    pub(super) content: String,
}

/// The text of a file. `declared`: the media type that the client names.
///
/// 415 for a file that is no text by its name or by what the client says, 400 for one that should be
/// text and is not.
pub(super) fn text(name: &str, declared: Option<&str>, bytes: &[u8]) -> Result<Text, Refusal> {
    let declared = declared.unwrap_or_default();
    let declared = declared.split(';').next().unwrap_or_default().trim();
    let declared = declared.to_ascii_lowercase();
    let by_ending = by_ending(name);
    let is_pdf = bytes.starts_with(b"%PDF-") || declared == PDF || ending(name) == "pdf";
    let media_type = match by_ending {
        _ if is_pdf => None,
        Some(media_type) => Some(media_type.to_owned()),
        // Of an ending that says nothing, the client's word counts.
        None if declared.starts_with("text/") => Some(declared.clone()),
        None => None,
    };
    let Some(media_type) = media_type else {
        let media_type = match (is_pdf, declared.as_str()) {
            (true, _) => PDF,
            (false, "") => UNKNOWN,
            (false, declared) => declared,
        };
        return Err(unsupported(media_type, name));
    };
    let content = std::str::from_utf8(bytes).ok();
    let content = content.filter(|content| !content.contains('\0'));
    let content = content.ok_or_else(|| {
        Refusal::bad_request(format!(
            "INVALID_ARGUMENT: File '{name}' is no text in UTF-8; save it as such and upload it again"
        ))
    })?;
    let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
    Ok(Text {
        media_type,
        content: content.to_owned(),
    })
}

fn by_ending(name: &str) -> Option<&'static str> {
    let ending = ending(name);
    let known = ENDINGS.iter();
    let known = known.filter(|(_, endings)| endings.contains(&ending.as_str()));
    known.map(|(media_type, _)| *media_type).next()
}

fn ending(name: &str) -> String {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ending.to_ascii_lowercase()
}

fn unsupported(media_type: &str, name: &str) -> Refusal {
    let detail = format!(
        "Unsupported file type: {media_type} (filename: {name}). Supported types: PDF, text files \
         (.txt, .md), JSON, and code files (.py, .js, .java, etc.)."
    );
    let body = json!({ "detail": detail });
    Refusal::with(StatusCode::UNSUPPORTED_MEDIA_TYPE, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(name: &str, declared: Option<&str>, bytes: &[u8]) -> u16 {
        match text(name, declared, bytes) {
            Ok(_) => 200,
            Err(refusal) => refusal.parts().0.as_u16(),
        }
    }

    #[test]
    fn a_text_is_known_by_its_name_or_by_the_clients_word() {
        let taken = text("a.MD", Some("application/octet-stream"), b"# A").expect("a text");
        assert_eq!(taken.media_type, "text/markdown");
        let taken = text("a.odd", Some("text/x-odd; charset=utf-8"), b"a").expect("a text");
        assert_eq!(taken.media_type, "text/x-odd");
        let taken = text("a.txt", None, "\u{feff}é".as_bytes()).expect("a text");
        assert_eq!(taken.content, "é");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(status("a.png", Some("image/png"), b"\x89PNG"), 415);
        assert_eq!(status("a", None, b"text"), 415);
        assert_eq!(status("a.pdf", None, b"%PDF-1.7"), 415);
        assert_eq!(status("a.txt", None, b"%PDF-1.7"), 415);
        assert_eq!(status("a.txt", None, b"\xff\xfe"), 400);
        assert_eq!(status("a.txt", None, b"a\0b"), 400);
    }

    #[test]
    fn no_ending_stands_twice() {
        let mut all: Vec<_> = ENDINGS.iter().flat_map(|(_, endings)| *endings).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
