//! What a function looks like in WIT, for its description.

use super::shape::{Case, Field, Name, Shape};

/// A model reads the schema for details; the signature only has to give the idea.
const MAX_SIGNATURE_BYTES: usize = 400;

/// For example `summarise(values: list<f64>) -> result<f64, string>`.
pub(super) fn of(name: &str, params: &[Field], result: Option<&Shape>) -> String {
    let mut writer = Writer {
        text: name.to_owned(),
    };
    writer.text.push('(');
    writer.fields(params);
    writer.text.push(')');
    if let Some(result) = result {
        writer.text.push_str(" -> ");
        writer.shape(result);
    }
    if writer.is_full() {
        writer
            .text
            .truncate(writer.text.floor_char_boundary(MAX_SIGNATURE_BYTES));
        writer.text.push('…');
    }
    writer.text
}

struct Writer {
    text: String,
}

impl Writer {
    fn is_full(&self) -> bool {
        self.text.len() > MAX_SIGNATURE_BYTES
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if index > 0 {
                self.text.push_str(", ");
            }
            write(self, item);
        }
    }

    fn fields(&mut self, fields: &[Field]) {
        self.list(fields, |writer, field| {
            writer.text.push_str(&field.name.wit);
            writer.text.push_str(": ");
            writer.shape(&field.shape);
        });
    }

    fn names(&mut self, keyword: &str, names: &[Name]) {
        self.text.push_str(keyword);
        self.text.push_str(" { ");
        self.list(names, |writer, name| writer.text.push_str(&name.wit));
        self.text.push_str(" }");
    }

    fn generic(&mut self, keyword: &str, shapes: &[Shape]) {
        self.text.push_str(keyword);
        self.text.push('<');
        self.list(shapes, Self::shape);
        self.text.push('>');
    }

    fn case(&mut self, case: &Case) {
        self.text.push_str(&case.name.wit);
        if let Some(shape) = &case.shape {
            self.text.push('(');
            self.shape(shape);
            self.text.push(')');
        }
    }

    fn payload(&mut self, case: &Case) {
        match &case.shape {
            Some(shape) => self.shape(shape),
            None => self.text.push('_'),
        }
    }

    fn shape(&mut self, shape: &Shape) {
        use std::slice::from_ref;
        match shape {
            Shape::Bool => self.text.push_str("bool"),
            Shape::Integer(kind) => self.text.push_str(kind.wit()),
            Shape::Float32 => self.text.push_str("f32"),
            Shape::Float64 => self.text.push_str("f64"),
            Shape::Char => self.text.push_str("char"),
            Shape::String => self.text.push_str("string"),
            Shape::Bytes => self.text.push_str("list<u8>"),
            Shape::List(element) => self.generic("list", from_ref(&**element)),
            Shape::FixedList(element, length) => {
                self.text.push_str("list<");
                self.shape(element);
                self.text.push_str(&format!(", {length}>"));
            }
            Shape::Dictionary(value) => {
                self.text.push_str("map<string, ");
                self.shape(value);
                self.text.push('>');
            }
            Shape::Map(pair) => self.generic("map", pair.as_slice()),
            Shape::Record(fields) => {
                self.text.push_str("record { ");
                self.fields(fields);
                self.text.push_str(" }");
            }
            Shape::Tuple(elements) => self.generic("tuple", elements),
            Shape::Variant(cases) => {
                self.text.push_str("variant { ");
                self.list(cases, Self::case);
                self.text.push_str(" }");
            }
            Shape::Result(cases) => {
                self.text.push_str("result<");
                self.list(cases.as_slice(), Self::payload);
                self.text.push('>');
            }
            Shape::Enum(names) => self.names("enum", names),
            Shape::Flags(names) => self.names("flags", names),
            Shape::Option(inner) => self.generic("option", from_ref(&**inner)),
            Shape::NestedOption(some) => {
                self.text.push_str("option<");
                self.payload(some);
                self.text.push('>');
            }
        }
    }
}
