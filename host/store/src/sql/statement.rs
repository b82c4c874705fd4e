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
    /// nothing equals NULL.
    pub(crate) fn push_list<T: Into<Argument>>(
        &mut self,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
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
