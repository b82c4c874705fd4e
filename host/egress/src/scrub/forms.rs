//! The forms that programs usually bring bytes into.

use base64::{
    Engine as _,
    engine::{GeneralPurpose, general_purpose as codec},
};
use zeroize::Zeroizing;

use crate::{Credential, Placement};

/// Characters that percent-encoders leave alone, from the strictest (RFC 3986) to the laxest
/// that are common: JavaScript's `encodeURIComponent`, URL paths and queries.
const LEFT_ALONE: [&str; 5] = [
    "-._~",
    "-._~!'()*",
    "-._*",
    "-._~!$&'()*+,;=:@/|",
    "-._~!$&()*+,;=:@/?|[]{}^`\\",
];

/// Every form in which the secret of `credential` is looked for, each once.
pub(super) fn of(credential: &Credential) -> Vec<Zeroizing<Vec<u8>>> {
    let secret = credential.secret.expose();
    let mut forms: Vec<Vec<u8>> = vec![secret.as_bytes().to_vec()];
    forms.push(hex::encode(secret).into_bytes());
    forms.push(hex::encode_upper(secret).into_bytes());
    for left_alone in LEFT_ALONE {
        for upper in [true, false] {
            let encoded = percent(secret, left_alone, upper);
            forms.push(encoded.replace("%20", "+").into_bytes());
            forms.push(encoded.into_bytes());
        }
    }
    for upper in [true, false] {
        forms.push(percent_all(secret, upper).into_bytes());
    }
    forms.extend(json(secret).map(String::into_bytes));
    forms.push(html(secret).into_bytes());
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

fn escape(byte: u8, upper: bool) -> String {
    if upper {
        format!("%{byte:02X}")
    } else {
        format!("%{byte:02x}")
    }
}

fn percent(text: &str, left_alone: &str, upper: bool) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || left_alone.as_bytes().contains(&byte);
    let encode = |byte| {
        if plain(byte) {
            char::from(byte).into()
        } else {
            escape(byte, upper)
        }
    };
    text.bytes().map(encode).collect()
}

fn percent_all(text: &str, upper: bool) -> String {
    text.bytes().map(|byte| escape(byte, upper)).collect()
}

/// As a JSON string would hold it: with only what must be escaped, with slashes escaped too, and
/// with everything beyond ASCII escaped, in either case of the digits.
fn json(text: &str) -> impl Iterator<Item = String> {
    let variants = [(false, false), (true, false), (false, true), (true, true)];
    let text = text.to_owned();
    variants.into_iter().flat_map(move |(slashes, ascii)| {
        [true, false].map(|upper| {
            text.chars()
                .map(|c| json_char(c, slashes, ascii, upper))
                .collect()
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
