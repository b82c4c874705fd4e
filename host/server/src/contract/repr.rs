//! Values as Python's `repr` and `str` write them.

use std::fmt::Write as _;

use serde_json::Value;

/// As `repr(value)`.
pub(crate) fn repr(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("None"),
        Value::Bool(true) => text.push_str("True"),
        Value::Bool(false) => text.push_str("False"),
        Value::Number(number) => {
            // Writing to a string does not fail, here and below.
            let _ = write!(text, "{number}");
        }
        Value::String(string) => quote(string, text),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push_str(", ");
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(entries) => {
            text.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    text.push_str(", ");
                }
                quote(key, text);
                text.push_str(": ");
                write(item, text);
            }
            text.push('}');
        }
    }
}

/// As `repr` of a string: single quotes unless it holds some and no double ones.
pub(crate) fn quote(string: &str, text: &mut String) {
    let mark = if string.contains('\'') && !string.contains('"') {
        '"'
    } else {
        '\''
    };
    text.push(mark);
    for character in string.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ if character == mark => {
                text.push('\\');
                text.push(character);
            }
            _ if (character as u32) < 0x20 || character as u32 == 0x7f => {
                let _ = write!(text, "\\x{:02x}", character as u32);
            }
            _ => text.push(character),
        }
    }
    text.push(mark);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_python_writes_them() {
        for (value, expected) in [
            (json!(null), "None"),
            (json!([true, 1, 1.5, "a"]), "[True, 1, 1.5, 'a']"),
            (json!({"a": {"b": []}}), "{'a': {'b': []}}"),
            (json!("it's"), "\"it's\""),
            (json!("'\""), "'\\'\"'"),
            (json!("a\n\u{1}é\\"), "'a\\n\\x01é\\\\'"),
        ] {
            assert_eq!(repr(&value), expected);
        }
    }
}
