//! A statement: text with `$n` placeholders, which both databases take, and typed values.

use std::borrow::Cow;

use bulkhead_domain::Timestamp;
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

/// A value. The type is kept where the value is NULL: Postgres checks it against the column.
#[derive(Clone)]
pub(crate) enum Argument {
    Int(Option<i64>),
    Text(Option<String>),
    Blob(Option<Vec<u8>>),
}

/// A statement and its values, in the order of their placeholders.
pub(crate) struct Statement {
    /// Made of text in this program alone: the methods take nothing else.
    text: Cow<'static, str>,
    arguments: Vec<Argument>,
}

impl Statement {
    pub(crate) fn new(text: &'static str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            arguments: Vec::new(),
        }
    }

    /// The value of the next placeholder that the text already has.
    pub(crate) fn bind(mut self, value: impl Into<Argument>) -> Self {
        self.arguments.push(value.into());
        self
    }

    pub(crate) fn push(&mut self, text: &'static str) -> &mut Self {
        self.text.to_mut().push_str(text);
        self
    }

    /// Appends a placeholder with its value.
    pub(crate) fn push_value(&mut self, value: impl Into<Argument>) -> &mut Self {
        self.arguments.push(value.into());
        let number = self.arguments.len();
        self.text.to_mut().push('$');
        self.text.to_mut().push_str(&number.to_string());
        self
    }

    /// Appends the text and a placeholder where there is a value.
    pub(crate) fn push_if(&mut self, text: &'static str, value: Option<impl Into<Argument>>) {
        if let Some(value) = value {
            self.push(text).push_value(value);
        }
    }

    /// The values of an `IN (` and its end. NULL stands first: a list must not be empty, and
    /// nothing equals NULL. The last value is repeated up to a power of two, so that lists of
    /// many lengths have few texts, which the databases keep prepared.
    pub(crate) fn push_list<T: Into<Argument>>(
        &mut self,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let mut values: Vec<Argument> = values.into_iter().map(Into::into).collect();
        if let Some(last) = values.last().cloned() {
            values.resize(values.len().next_power_of_two(), last);
        }
        self.push("NULL");
        for value in values {
            self.push(", ").push_value(value);
        }
        self.push(")")
    }

    /// One row of `VALUES`, after a comma where it is not the first.
    pub(crate) fn push_row<const N: usize>(&mut self, is_first: bool, values: [Argument; N]) {
        let mut before = if is_first { "(" } else { ", (" };
        for value in values {
            self.push(before).push_value(value);
            before = ", ";
        }
        self.push(")");
    }

    /// Appends another statement, to be sent to SQLite with this one: its placeholders count on
    /// from here. No text of this program has a `$` that is none.
    pub(super) fn append(&mut self, other: Self) {
        let offset = self.arguments.len();
        let text = self.text.to_mut();
        text.push(';');
        let mut rest = other.text.as_ref();
        while let Some(at) = rest.find('$') {
            let (before, number) = rest.split_at(at + 1);
            text.push_str(before);
            let digits = number.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = number.split_at(digits);
            let number = number.parse::<usize>().map_or(0, |number| number + offset);
            text.push_str(&number.to_string());
            rest = after;
        }
        text.push_str(rest);
        self.arguments.extend(other.arguments);
    }

    /// Bytes of its text and its values.
    pub(super) fn size(&self) -> usize {
        let values = self.arguments.iter().map(|argument| match argument {
            Argument::Int(_) => size_of::<i64>(),
            Argument::Text(value) => value.as_ref().map_or(0, String::len),
            Argument::Blob(value) => value.as_ref().map_or(0, Vec::len),
        });
        self.text.len() + values.sum::<usize>()
    }

    pub(super) fn sqlite(
        self,
    ) -> sqlx::query::Query<'static, sqlx::Sqlite, sqlx::sqlite::SqliteArguments> {
        let mut query = sqlx::query(sql_str(self.text));
        for argument in self.arguments {
            query = match argument {
                Argument::Int(value) => query.bind(value),
                Argument::Text(value) => query.bind(value),
                Argument::Blob(value) => query.bind(value),
            };
        }
        query
    }

    pub(super) fn postgres(
        self,
    ) -> sqlx::query::Query<'static, sqlx::Postgres, sqlx::postgres::PgArguments> {
        let mut query = sqlx::query(sql_str(self.text));
        for argument in self.arguments {
            query = match argument {
                Argument::Int(value) => query.bind(value),
                Argument::Text(value) => query.bind(value),
                Argument::Blob(value) => query.bind(value),
            };
        }
        query
    }
}

fn sql_str(text: Cow<'static, str>) -> SqlStr {
    match text {
        Cow::Borrowed(text) => text.into_sql_str(),
        Cow::Owned(text) => AssertSqlSafe(text).into_sql_str(),
    }
}

macro_rules! arguments {
    ($($type:ty => |$value:ident| $argument:expr;)*) => {$(
        impl From<$type> for Argument {
            fn from($value: $type) -> Self {
                $argument
            }
        }
    )*};
}

arguments! {
    i64 => |value| Self::Int(Some(value));
    Option<i64> => |value| Self::Int(value);
    bool => |value| Self::Int(Some(value.into()));
    Option<bool> => |value| Self::Int(value.map(i64::from));
    Timestamp => |value| Self::Int(Some(value.micros()));
    Option<Timestamp> => |value| Self::Int(value.map(Timestamp::micros));
    String => |value| Self::Text(Some(value));
    &str => |value| Self::Text(Some(value.to_owned()));
    Option<String> => |value| Self::Text(value);
    Option<&str> => |value| Self::Text(value.map(str::to_owned));
    Vec<u8> => |value| Self::Blob(Some(value));
    Option<Vec<u8>> => |value| Self::Blob(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_an_appended_statement_count_on() {
        let mut first = Statement::new("DELETE FROM a WHERE b = $1 AND c > $2")
            .bind("b")
            .bind(1_i64);
        first.append(Statement::new("COMMIT"));
        let eleven = "UPDATE a SET b = $2 || $11 WHERE c = $1";
        first.append((0..11_i64).fold(Statement::new(eleven), Statement::bind));
        assert_eq!(
            first.text,
            "DELETE FROM a WHERE b = $1 AND c > $2;COMMIT;UPDATE a SET b = $4 || $13 WHERE c = $3"
        );
        assert_eq!(first.arguments.len(), 13);
    }

    #[test]
    fn lists_of_many_lengths_have_few_texts() {
        let text = |length: i64| {
            let mut query = Statement::new("SELECT a FROM b WHERE a IN (");
            query.push_list(0..length);
            (query.text.into_owned(), query.arguments.len())
        };
        assert_eq!(text(0), ("SELECT a FROM b WHERE a IN (NULL)".to_owned(), 0));
        assert_eq!(text(5), text(8));
        assert_eq!(text(5).1, 8);
    }
}
