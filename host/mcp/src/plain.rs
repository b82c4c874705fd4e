//! JSON text in which every character that can stand in a secret is written in one way. A server can
//! spell a text in many ways that are one when they are read: `\u0041` is `A`, and `\/` is `/`.

use std::borrow::Cow;

use bulkhead_egress::Scrubber;

/// Digits of an escape.
const DIGITS: usize = 4;

/// The same JSON with what is sent to the server alone masked, however it is spelt.
pub(crate) fn masked<'a>(text: &'a [u8], scrubber: &Scrubber) -> Cow<'a, [u8]> {
    if scrubber.is_none() {
        return Cow::Borrowed(text);
    }
    let plain = plain(text);
    let masked = match scrubber.redact_bytes(&plain) {
        Cow::Owned(masked) => Some(masked),
        Cow::Borrowed(_) => None,
    };
    masked.map_or(plain, Cow::Owned)
}

/// The same JSON with each escape of a character of ASCII as short as it can be. Headers, and so
/// secrets, have no other characters.
fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    let escape_at = |text: &[u8]| text.iter().position(|byte| *byte == b'\\');
    let Some(mut at) = escape_at(text) else {
        return Cow::Borrowed(text);
    };
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        let (before, escape) = rest.split_at(at);
        plain.extend_from_slice(before);
        rest = match escape {
            [_, b'u', digits @ ..] => match (character(digits), digits.get(DIGITS..)) {
                (Some(character), Some(after)) => {
                    push(&mut plain, character);
                    after
                }
                _ => {
                    plain.extend_from_slice(b"\\u");
                    digits
                }
            },
            [_, b'/', after @ ..] => {
                plain.push(b'/');
                after
            }
            [backslash, escaped, after @ ..] => {
                plain.extend_from_slice(&[*backslash, *escaped]);
                after
            }
            end => {
                plain.extend_from_slice(end);
                return Cow::Owned(plain);
            }
        };
        match escape_at(rest) {
            Some(next) => at = next,
            None => {
                plain.extend_from_slice(rest);
                return Cow::Owned(plain);
            }
        }
    }
}

/// The character of ASCII that these digits mean, where it can stand in a header.
fn character(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..DIGITS)?).ok()?;
    // A sign is no digit, and parsing takes one.
    let digits = Some(digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let character = u8::from_str_radix(digits, 16).ok()?;
    (character == b'\t' || (b' '..0x7f).contains(&character)).then_some(character)
}

fn push(plain: &mut Vec<u8>, character: u8) {
    match character {
        b'"' | b'\\' => plain.extend_from_slice(&[b'\\', character]),
        b'\t' => plain.extend_from_slice(b"\\t"),
        character => plain.push(character),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_value_stays_and_has_one_spelling() {
        for (text, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"b"}"#),
            (r#""\u0041\/\u002f\u003D""#, r#""A//=""#),
            (r#""\u0022\u005c\u0009""#, r#""\"\\\t""#),
            (r#""\\u0041 \\\u0041""#, r#""\\u0041 \\A""#),
            (
                r#""\u00e4\n\ud83d\ude00\u0000""#,
                r#""\u00e4\n\ud83d\ude00\u0000""#,
            ),
        ] {
            let plain = plain(text.as_bytes());
            assert_eq!(&*plain, expected.as_bytes(), "{text}");
            let read = |text: &[u8]| serde_json::from_slice::<Value>(text).expect("JSON");
            assert_eq!(read(&plain), read(text.as_bytes()));
        }
        for broken in [r"\", r"\u", r"\u00", r"a\u+041", r"\uzzzz"] {
            assert_eq!(&*plain(broken.as_bytes()), broken.as_bytes());
        }
    }

    #[test]
    fn a_secret_is_found_however_it_is_spelt() {
        let credentials = crate::headers::tests::credentials("x", "top\"secret/value");
        let scrubber = Scrubber::new(&credentials);
        let text = r#"["\u0074op\u0022s\u0065cret\/value", "top\"secret\u002Fvalue"]"#;
        let found = masked(text.as_bytes(), &scrubber);
        let found: Value = serde_json::from_slice(&found).expect("JSON");
        assert!(!found.to_string().contains("secret"), "{found}");
        assert_eq!(found.as_array().map(Vec::len), Some(2));
        assert_eq!(masked(b"[1]", &scrubber), json!([1]).to_string().as_bytes());
    }
}
