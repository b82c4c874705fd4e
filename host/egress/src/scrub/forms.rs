//! The forms that programs usually bring bytes into.

use base64::{
    Engine as _,
    engine::{GeneralPurpose, general_purpose as codec},
};
use zeroize::Zeroizing;

use crate::{Credential, Placement};

/// Characters that percent-encoders leave alone, from the strictest (RFC 3986) to the laxest
/// that are common: JavaScript's `encodeURIComponent`, HTML forms, one segment of a path, a path,
/// a query.
const LEFT_ALONE: [&str; 6] = [
    "-._~",
    "-._~!'()*",
    "-._*",
    "-._~!$&'()*+,;=:@",
    "-._~!$&'()*+,;=:@/|",
    "-._~!$&()*+,;=:@/?|[]{}^`\\",
];

/// Every form in which the secret of `credential` is looked for, each once.
pub(super) fn of(credential: &Credential) -> Vec<Zeroizing<Vec<u8>>> {
    let secret = credential.secret.expose();
    let mut forms: Vec<Vec<u8>> = vec![secret.as_bytes().to_vec()];
    forms.push(hex::encode(secret).into_bytes());
    forms.push(hex::encode_upper(secret).into_bytes());
    forms.push(percent(secret, |_| false, true).into_bytes());
    forms.push(percent(secret, |_| false, false).into_bytes());
    // Most tokens hold nothing that any of these encoders touches.
    if !secret
        .bytes()
        .all(|byte| is_unreserved(byte, LEFT_ALONE[0]))
    {
        forms.extend(escaped(secret).map(String::into_bytes));
    }
    for engine in [&codec::STANDARD_NO_PAD, &codec::URL_SAFE_NO_PAD] {
        forms.extend((0..3).map(|before| base64_inside(engine, before, secret)));
        if let Placement::Basic { user } = &credential.placement {
            forms.push(engine.encode(format!("{user}:{secret}")).into_bytes());
        }
    }
    forms.sort();
    forms.dedup();
    forms.into_iter().map(Zeroizing::new).collect()
}

/// The forms that differ from the secret only in its special characters.
fn escaped(secret: &str) -> impl Iterator<Item = String> {
    let percent = LEFT_ALONE.into_iter().flat_map(move |left_alone| {
        [true, false].into_iter().flat_map(move |upper| {
            let encoded = percent(secret, |byte| is_unreserved(byte, left_alone), upper);
            [encoded.replace("%20", "+"), encoded]
        })
    });
    percent.chain(json(secret)).chain([html(secret)])
}

fn is_unreserved(byte: u8, left_alone: &str) -> bool {
    byte.is_ascii_alphanumeric() || left_alone.as_bytes().contains(&byte)
}

fn percent(text: &str, is_plain: impl Fn(u8) -> bool, upper: bool) -> String {
    let digits = if upper {
        b"0123456789ABCDEF"
    } else {
        b"0123456789abcdef"
    };
    let mut encoded = String::with_capacity(3 * text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(digits[usize::from(byte >> 4)]));
            encoded.push(char::from(digits[usize::from(byte & 15)]));
        }
    }
    encoded
}

/// As a JSON string would hold it: with only what must be escaped, with slashes escaped too, and
/// with everything beyond ASCII escaped, in either case of the digits.
fn json(text: &str) -> impl Iterator<Item = String> {
    let variants = [(false, false), (true, false), (false, true), (true, true)];
    variants.into_iter().flat_map(move |(slashes, ascii)| {
        [true, false].map(|upper| {
            let chars = text.chars();
            chars.map(|c| json_char(c, slashes, ascii, upper)).collect()
        })
    })
}

fn json_char(c: char, slashes: bool, ascii: bool, upper: bool) -> String {
    let unit = |unit: &u16| {
        if upper {
            format!("\\u{unit:04X}")
        } else {
            format!("\\u{unit:04x}")
        }
    };
    match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '/' if slashes => "\\/".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control() || (ascii && !c.is_ascii()) => {
            c.encode_utf16(&mut [0; 2]).iter().map(unit).collect()
        }
        c => c.to_string(),
    }
}

fn html(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// The base64 characters that are the secret's alone when `before` bytes (0 to 2) of a group of
/// three come before it: the first and last ones, which others have a part in, are left out.
fn base64_inside(engine: &GeneralPurpose, before: usize, secret: &str) -> Vec<u8> {
    let mut bytes = Zeroizing::new(vec![0; before]);
    bytes.extend_from_slice(secret.as_bytes());
    let encoded = engine.encode(&*bytes);
    // A character has six bits: 8 bits before reach into the second, 16 into the third.
    let start = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    encoded.as_bytes()[start..end].to_vec()
}
