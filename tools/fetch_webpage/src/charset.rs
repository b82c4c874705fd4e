//! From bytes to characters.
//!
//! In the order of the HTML standard: a byte order mark, the server's `charset`, the page's own
//! declaration, else UTF-8 if the bytes are, else windows-1252.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Where a page may declare its encoding, per the standard; some put it a little later.
const DECLARATION_BYTES: usize = 2048;

/// The text of a document.
pub(crate) fn decode(body: &[u8], content_type: &str) -> String {
    let encoding = match Encoding::for_bom(body) {
        Some((encoding, _)) => encoding,
        None => label(content_type)
            .or_else(|| declared(body))
            .unwrap_or_else(|| guess(body)),
    };
    encoding.decode(body).0.into_owned()
}

/// UTF-8 if the bytes are. A document may be cut in the middle of a character.
fn guess(body: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(body) {
        Ok(_) => UTF_8,
        Err(error) if error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

/// The encoding that `charset=` names in a header or a tag.
fn label(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let at = lower.find("charset")? + "charset".len();
    let value = lower[at..].trim_start().strip_prefix('=')?.trim_start();
    quoted(value)
}

fn quoted(value: &str) -> Option<&'static Encoding> {
    let value = value.trim_start_matches(['"', '\'']);
    let end = value
        .find(|c: char| c.is_whitespace() || "\"';>/?".contains(c))
        .unwrap_or(value.len());
    Encoding::for_label(&value.as_bytes()[..end])
}

/// The encoding that the page declares of itself.
fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let head =
        String::from_utf8_lossy(&body[..body.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    let xml = head.strip_prefix("<?xml").and_then(|rest| {
        let declaration = rest.split("?>").next()?;
        let (_, value) = declaration.split_once("encoding")?;
        quoted(value.trim_start().strip_prefix('=')?.trim_start())
    });
    let found = xml.or_else(|| {
        let tags = head.split("<meta").skip(1);
        tags.filter_map(|tag| label(tag.split('>').next()?)).next()
    })?;
    // What was read byte by byte up to here can't be UTF-16, whatever it says.
    let is_wide = found.name().starts_with("UTF-16");
    Some(if is_wide { UTF_8 } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_declaration_counts_and_earlier_ones_win() {
        let meta = |charset: &str, word: &[u8]| {
            [
                b"<html><head><meta charset=\"",
                charset.as_bytes(),
                b"\"></head>",
                word,
            ]
            .concat()
        };
        for (body, content_type, expected) in [
            (
                b"\xef\xbb\xbfcaf\xc3\xa9".to_vec(),
                "text/html; charset=windows-1251",
                "café",
            ),
            (b"\xff\xfeh\0i\0".to_vec(), "", "hi"),
            (
                b"\xea\xee\xf2".to_vec(),
                "text/html; Charset = \"windows-1251\"",
                "кот",
            ),
            (meta("shift_jis", b"\x93\xfa\x96\x7b"), "text/html", "日本"),
            (
                meta("utf-8", "é".as_bytes()),
                "text/html; charset=utf-8",
                "é",
            ),
            (meta("utf-16", "é".as_bytes()), "", "é"),
            (
                b"<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>\xb1".to_vec(),
                "text/xml",
                "ą",
            ),
            (
                b"<meta http-equiv=content-type content=\"text/html; charset=gbk\">\xd6\xd0"
                    .to_vec(),
                "",
                "中",
            ),
            (b"na\xefve \x93quoted\x94".to_vec(), "", "naïve “quoted”"),
            ("naïve".as_bytes().to_vec(), "text/html", "naïve"),
            (b"cut \xe2\x82".to_vec(), "", "cut \u{fffd}"),
            (
                b"caf\xc3\xa9".to_vec(),
                "text/html; charset=nonsense",
                "café",
            ),
        ] {
            let text = decode(&body, content_type);
            assert!(
                text.ends_with(expected),
                "{content_type}: {text:?} is not {expected:?}"
            );
        }
    }
}
