//! Values as Python writes them: `{'a': 1, 'b': [True, None]}`.
//!
//! Some built-in tools give a dictionary whose text models and clients know as Python's `repr`.
//! Fields keep the order in which they are serialised, which a JSON value would not.
//!
//! - [`repr`]: any serialisable value.
//! - `quoted`: a string with Python's quotes and escapes.

mod quoted;

use std::io;

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// The text that Python's `repr` has for the value. Fractions are written as in JSON; a map's keys
/// are always strings.
///
/// Fails where the value has no JSON form, such as a map whose keys are lists.
///
/// ```
/// use std::collections::BTreeMap;
///
/// let value = BTreeMap::from([("a", vec![Some("it's"), None])]);
/// assert_eq!(bulkhead_python_repr::repr(&value).unwrap(), r#"{'a': ["it's", None]}"#);
/// ```
pub fn repr<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let mut written = Vec::new();
    value.serialize(&mut Serializer::with_formatter(
        &mut written,
        Python::default(),
    ))?;
    // Only texts and ASCII were written, so that nothing is replaced here.
    Ok(String::from_utf8_lossy(&written).into_owned())
}

/// Writes Python's words and marks in the places of JSON's.
#[derive(Default)]
struct Python {
    /// The string that is being written: its quotes depend on all of it.
    string: String,
}

impl Formatter for Python {
    fn write_null<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"None")
    }

    fn write_bool<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: bool) -> io::Result<()> {
        writer.write_all(if value { b"True" } else { b"False" })
    }

    fn begin_string<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.string.clear();
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        _: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.string.push_str(fragment);
        Ok(())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        _: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.string.push(match escape {
            CharEscape::Quote => '"',
            CharEscape::ReverseSolidus => '\\',
            CharEscape::Solidus => '/',
            CharEscape::Backspace => '\u{8}',
            CharEscape::FormFeed => '\u{c}',
            CharEscape::LineFeed => '\n',
            CharEscape::CarriageReturn => '\r',
            CharEscape::Tab => '\t',
            CharEscape::AsciiControl(byte) => char::from(byte),
        });
        Ok(())
    }

    fn end_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(quoted::quoted(&self.string).as_bytes())
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

fn separate<W: ?Sized + io::Write>(writer: &mut W, first: bool) -> io::Result<()> {
    writer.write_all(if first { b"" } else { b", " })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::repr;

    #[derive(serde::Serialize)]
    struct Ordered {
        z: &'static str,
        a: Option<u8>,
    }

    #[test]
    fn fields_keep_their_order_and_words_are_pythons() {
        let value = [Ordered { z: "one", a: None }, Ordered { z: "", a: Some(2) }];
        let text = repr(&value).expect("it serialises");
        assert_eq!(text, "[{'z': 'one', 'a': None}, {'z': '', 'a': 2}]");
        let value = json!({ "on": true, "off": false, "none": [], "deep": {} });
        let text = repr(&value).expect("it serialises");
        assert_eq!(text, "{'deep': {}, 'none': [], 'off': False, 'on': True}");
    }

    #[test]
    fn what_json_escapes_is_escaped_as_python_does() {
        let text = repr("a\"b\\c/d\u{8}\n\t\u{1}ü").expect("it serialises");
        assert_eq!(text, r#"'a"b\\c/d\x08\n\t\x01ü'"#);
    }
}
