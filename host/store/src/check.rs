//! What both databases must accept alike before either sees it, and the size of pages.

use serde_json::Value;

use crate::{Result, StoreError};

/// Names of components, tools, agents and credentials, in bytes. Far more than a person
/// writes, and small enough for every index of Postgres (2,704 bytes an entry).
pub const NAME_MAX: usize = 512;
/// One JSON document (a description, a grant, a receipt …), in bytes: the description of a
/// component with hundreds of tools fits.
pub const DOCUMENT_MAX: usize = 8 << 20;
/// How deep a JSON document that a client wrote may nest: what is deeper than 127 levels could
/// not be read back.
pub const DOCUMENT_DEPTH_MAX: usize = 100;
/// A note that a person adds to a grant, in bytes.
pub const NOTE_MAX: usize = 4096;
/// Entries of a list where the caller does not say.
pub const PAGE_DEFAULT: u32 = 100;
/// Entries of one page of a list, whatever the caller says: bounds memory and time.
pub const PAGE_MAX: u32 = 1000;

/// A name: not empty, not too long, and without NUL, which Postgres does not store.
pub(crate) fn name(what: &'static str, text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(StoreError::Invalid {
            what,
            reason: "is empty",
        });
    }
    self::text(what, text, NAME_MAX)
}

/// A text of at most `max` bytes without NUL.
pub(crate) fn text(what: &'static str, text: &str, max: usize) -> Result<()> {
    if text.len() > max {
        return Err(StoreError::Quota {
            what,
            limit: max as u64,
        });
    }
    if text.contains('\0') {
        return Err(StoreError::Invalid {
            what,
            reason: "contains a NUL character",
        });
    }
    Ok(())
}

/// A JSON document as text. NUL is escaped in it.
pub(crate) fn document(what: &'static str, value: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string(value).map_err(|_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    })?;
    if text.len() > DOCUMENT_MAX {
        return Err(StoreError::Quota {
            what,
            limit: DOCUMENT_MAX as u64,
        });
    }
    Ok(text)
}

/// A JSON document that a client wrote, as text of at most `max` bytes that can be read back.
pub(crate) fn json(
    what: &'static str,
    value: &Value,
    max: usize,
    too_large: &'static str,
) -> Result<String> {
    if !nests_within(value, DOCUMENT_DEPTH_MAX) {
        let reason = "nests deeper than 100 levels";
        return Err(StoreError::Invalid { what, reason });
    }
    let text = document(what, value)?;
    if text.len() > max {
        let reason = too_large;
        return Err(StoreError::Invalid { what, reason });
    }
    Ok(text)
}

/// Whether lists and objects stand in each other no deeper than this.
fn nests_within(value: &Value, depth: usize) -> bool {
    match (value, depth.checked_sub(1)) {
        (Value::Array(items), Some(left)) => items.iter().all(|item| nests_within(item, left)),
        (Value::Object(fields), Some(left)) => {
            fields.values().all(|field| nests_within(field, left))
        }
        (Value::Array(_) | Value::Object(_), None) => false,
        _ => true,
    }
}

/// The number of entries to ask the database for.
pub(crate) fn page(limit: Option<u32>) -> i64 {
    i64::from(limit.unwrap_or(PAGE_DEFAULT).min(PAGE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_nests_as_deep_as_can_be_read_back() {
        let nested = |depth| {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let json = |depth| json("it", &nested(depth), DOCUMENT_MAX, "is too large");
        assert!(json(DOCUMENT_DEPTH_MAX).is_ok());
        assert!(json(DOCUMENT_DEPTH_MAX + 1).is_err());
    }
}
