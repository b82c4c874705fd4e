//! Small durable state, one namespace for each tool and agent.
//!
//! Every value has a version; a write names the version that it replaces, so that two calls at
//! the same time can't lose each other's work. [`update`] does the loop.

use serde::{Serialize, de::DeserializeOwned};

use crate::host;

/// How often [`update`] tries again after another call was faster. Each try is progress for
/// someone, so many in a row mean that the key is too busy for this way of writing.
const MAX_UPDATE_ATTEMPTS: u32 = 16;

/// A stored value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The bytes.
    pub value: Vec<u8>,
    /// Counts the writes of this key.
    pub version: u64,
}

/// Why the state can't be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool has no grant for state.
    #[error("{0}")]
    Denied(String),
    /// Another version is there (0: the key does not exist).
    #[error("the value has changed: its version is {0}")]
    Conflict(u64),
    /// The value, the key or the namespace is over its limit.
    #[error("over the limit of the state: {0}")]
    Quota(String),
    /// The host can't reach its storage.
    #[error("the state is unavailable: {0}")]
    Unavailable(String),
    /// The stored value is not of the type that is asked for, or a value can't be JSON.
    #[error("the value is not as expected: {0}")]
    Malformed(String),
}

/// The value of a key.
pub fn get(key: &str) -> Result<Option<Entry>, Error> {
    host::state::get(key)
}

/// Writes a value over the version `expected`, or creates the key with none. Gives the new version.
pub fn put(key: &str, value: impl Into<Vec<u8>>, expected: Option<u64>) -> Result<u64, Error> {
    host::state::put(key, value.into(), expected)
}

/// Removes a key that still has this version.
pub fn delete(key: &str, expected: u64) -> Result<(), Error> {
    host::state::delete(key, expected)
}

/// The keys that begin with `prefix`, in the order of their bytes; at most 1,000.
pub fn keys(prefix: &str, limit: u32) -> Result<Vec<String>, Error> {
    host::state::keys(prefix, limit)
}

/// The value of a key, read as JSON, and its version.
pub fn get_json<T: DeserializeOwned>(key: &str) -> Result<Option<(T, u64)>, Error> {
    let Some(entry) = get(key)? else {
        return Ok(None);
    };
    let value = serde_json::from_slice(&entry.value).map_err(malformed)?;
    Ok(Some((value, entry.version)))
}

/// Writes a value as JSON, like [`put`].
pub fn put_json<T: Serialize + ?Sized>(
    key: &str,
    value: &T,
    expected: Option<u64>,
) -> Result<u64, Error> {
    put(key, serde_json::to_vec(value).map_err(malformed)?, expected)
}

/// Replaces the value of a key by what `change` makes of it, again and again until no other
/// call was faster. `change` gets none if the key does not exist, and may run several times.
pub fn update<T: Serialize + DeserializeOwned>(
    key: &str,
    mut change: impl FnMut(Option<T>) -> T,
) -> Result<T, Error> {
    let mut last = Error::Conflict(0);
    for _ in 0..MAX_UPDATE_ATTEMPTS {
        let (old, version) = get_json::<T>(key)?.unzip();
        let new = change(old);
        match put_json(key, &new, version) {
            Ok(_) => return Ok(new),
            Err(error @ Error::Conflict(_)) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn malformed(error: serde_json::Error) -> Error {
    Error::Malformed(error.to_string())
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Denied(_) => Self::Denied(text),
            Error::Conflict(_) => Self::Conflict(text),
            Error::Quota(_) | Error::Unavailable(_) | Error::Malformed(_) => Self::Failed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, get, keys, put, update};

    #[test]
    fn an_update_sees_what_another_call_wrote_meanwhile() {
        let mut first = true;
        let total = update("total", |old: Option<u32>| {
            if std::mem::take(&mut first) {
                put("total", "40", None).expect("the key is new");
            }
            old.unwrap_or(0) + 2
        });
        assert_eq!(total, Ok(42));
    }

    #[test]
    fn an_update_that_is_always_too_late_ends() {
        let mut version = None;
        let result = update("busy", |_: Option<u32>| {
            version = Some(put("busy", "1", version).expect("this writer is faster"));
            0
        });
        assert!(matches!(result, Err(Error::Conflict(_))));
    }

    #[test]
    fn keys_come_in_the_order_of_their_bytes() {
        for key in ["b", "a2", "a10"] {
            put(key, "", None).expect("the key is new");
        }
        assert_eq!(keys("a", 10), Ok(vec!["a10".to_owned(), "a2".to_owned()]));
        assert_eq!(get("c"), Ok(None));
    }
}
