//! A string as a literal of Python.

use std::fmt::Write;

/// The text in single quotes, or in double ones where that saves escapes.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push(quote);
    for character in text.chars() {
        push(&mut literal, character, quote);
    }
    literal.push(quote);
    literal
}

fn push(literal: &mut String, character: char, quote: char) {
    let code = u32::from(character);
    match character {
        '\\' => literal.push_str("\\\\"),
        '\n' => literal.push_str("\\n"),
        '\r' => literal.push_str("\\r"),
        '\t' => literal.push_str("\\t"),
        _ if character == quote => {
            literal.push('\\');
            literal.push(quote);
        }
        ' '..='~' => literal.push(character),
        _ if !character.is_ascii() && is_printable(character) => literal.push(character),
        // Writing to a String does not fail.
        _ => {
            let _ = match code {
                0..=0xff => write!(literal, "\\x{code:02x}"),
                0x100..=0xffff => write!(literal, "\\u{code:04x}"),
                _ => write!(literal, "\\U{code:08x}"),
            };
        }
    }
}

/// Whether Python shows the character as it is. The standard library escapes the same categories
/// of Unicode, but combining marks only where a text begins with them.
fn is_printable(character: char) -> bool {
    let text = String::from_iter(['x', character]);
    text.escape_debug().nth(1) == Some(character)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_are_chosen_as_python_chooses_them() {
        assert_eq!(quoted("plain"), "'plain'");
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted("\"it's\""), r#"'"it\'s"'"#);
    }

    #[test]
    fn what_cannot_be_seen_is_escaped_and_letters_are_not() {
        assert_eq!(quoted("größe 日本 e\u{301} 🙂"), "'größe 日本 e\u{301} 🙂'");
        assert_eq!(
            quoted("\u{7f}\u{a0}\u{200b}\u{2028}\u{e0001}"),
            r"'\x7f\xa0\u200b\u2028\U000e0001'"
        );
    }
}
