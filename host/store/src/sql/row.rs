//! Reads a row of either driver by the position of its columns.

use sqlx::{Row as _, postgres::PgRow, sqlite::SqliteRow};

use crate::{Result, StoreError};

pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(&self, column: usize) -> Result<$type> {
            match self {
                Self::Sqlite(row) => Ok(row.try_get(column)?),
                Self::Postgres(row) => Ok(row.try_get(column)?),
            }
        }
    )*};
}

impl Row {
    getters! {
        int: i64;
        optional_int: Option<i64>;
        text: String;
        optional_text: Option<String>;
        blob: Vec<u8>;
        optional_blob: Option<Vec<u8>>;
    }

    /// A number that is never negative.
    pub(crate) fn unsigned(&self, column: usize) -> Result<u64> {
        let value = self.int(column)?;
        u64::try_from(value).map_err(|error| StoreError::corrupt("number", error))
    }

    /// A text that spells a `T`.
    pub(crate) fn parsed<T>(&self, column: usize, what: &'static str) -> Result<T>
    where
        T: std::str::FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        self.text(column)?
            .parse()
            .map_err(|error| StoreError::corrupt(what, error))
    }

    /// A JSON document.
    pub(crate) fn json<T>(&self, column: usize, what: &'static str) -> Result<T>
    where
        T: serde::de::DeserializeOwned,
    {
        let text = self.text(column)?;
        serde_json::from_str(&text).map_err(|error| StoreError::corrupt(what, error))
    }

    /// A JSON document, where there is one.
    pub(crate) fn optional_json<T>(&self, column: usize, what: &'static str) -> Result<Option<T>>
    where
        T: serde::de::DeserializeOwned,
    {
        let text = self.optional_text(column)?;
        text.map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|error| StoreError::corrupt(what, error))
    }

    /// A text that spells a `T`, where there is one.
    pub(crate) fn optional_parsed<T>(&self, column: usize, what: &'static str) -> Result<Option<T>>
    where
        T: std::str::FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        let text = self.optional_text(column)?;
        text.map(|text| text.parse())
            .transpose()
            .map_err(|error: T::Err| StoreError::corrupt(what, error))
    }

    /// A truth value, where there is one; 0 is false.
    pub(crate) fn optional_bool(&self, column: usize) -> Result<Option<bool>> {
        Ok(self.optional_int(column)?.map(|value| value != 0))
    }

    pub(crate) fn timestamp(&self, column: usize) -> Result<bulkhead_domain::Timestamp> {
        self.int(column)
            .map(bulkhead_domain::Timestamp::from_micros)
    }
}
