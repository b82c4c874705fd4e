//! Which page of a list is asked for.

use bulkhead_store::{PAGE_MAX, SandboxType};
use serde_json::json;

use crate::contract::{Refusal, repr};

/// The query of a list.
#[derive(Debug)]
pub(super) struct ListQuery {
    pub(super) limit: u32,
    /// The id of the entry before the page.
    pub(super) after: Option<String>,
    pub(super) sandbox_type: Option<SandboxType>,
}

/// Reads a query. `typed`: whether it may name a kind of sandbox. Parameters that the contract does
/// not name are ignored.
pub(super) fn read(query: Option<&str>, typed: bool) -> Result<ListQuery, Refusal> {
    let mut read = ListQuery {
        // The contract's own default.
        limit: PAGE_MAX,
        after: None,
        sandbox_type: None,
    };
    let mut faults = Vec::new();
    for (key, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match key.as_ref() {
            "after" => read.after = Some(value.into_owned()),
            "limit" => match limit(&value) {
                Ok(limit) => read.limit = limit,
                Err(fault) => faults.push(fault),
            },
            "sandbox_type" if typed => match value.parse() {
                Ok(kind) => read.sandbox_type = Some(kind),
                Err(_) => faults.push(fault(
                    "enum",
                    "sandbox_type",
                    "Input should be 'e2b', 'modal' or 'local'",
                    &value,
                    ", 'ctx': {'expected': \"'e2b', 'modal' or 'local'\"}",
                )),
            },
            _ => {}
        }
    }
    if faults.is_empty() {
        Ok(read)
    } else {
        Err(Refusal::invalid(&faults, &[]))
    }
}

/// A number of entries; more than a page holds is a whole page.
fn limit(text: &str) -> Result<u32, String> {
    match text.trim().parse::<i64>() {
        Ok(limit) if limit < 0 => Err(fault(
            "greater_than_equal",
            "limit",
            "Input should be greater than or equal to 0",
            text,
            ", 'ctx': {'ge': 0}",
        )),
        Ok(limit) => Ok(u32::try_from(limit).map_or(PAGE_MAX, |limit| limit.min(PAGE_MAX))),
        Err(_) => Err(fault(
            "int_parsing",
            "limit",
            "Input should be a valid integer, unable to parse string as an integer",
            text,
            "",
        )),
    }
}

/// A fault as the contract says it. `context`: what follows the input.
fn fault(kind: &str, key: &str, message: &str, input: &str, context: &str) -> String {
    let quoted = |text: &str| repr::repr(&json!(text));
    format!(
        "{{'type': '{kind}', 'loc': ('query', '{key}'), 'msg': {}, 'input': {}{context}}}",
        quoted(message),
        quoted(input)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_never_larger_than_the_largest() {
        for (query, limit) in [
            (None, PAGE_MAX),
            (Some("limit=0&other=x"), 0),
            (Some("limit=7&after=a%20b"), 7),
            (Some("limit=4294967296"), PAGE_MAX),
        ] {
            assert_eq!(read(query, true).expect("fits").limit, limit, "{query:?}");
        }
        let after = read(Some("after=a%20b"), true).expect("fits").after;
        assert_eq!(after.as_deref(), Some("a b"));
    }

    #[test]
    fn a_kind_of_sandbox_counts_where_there_are_several() {
        let kind = |typed| {
            read(Some("sandbox_type=e2b"), typed)
                .expect("fits")
                .sandbox_type
        };
        assert_eq!((kind(true), kind(false)), (Some(SandboxType::E2b), None));
        assert!(read(Some("sandbox_type=cloud"), true).is_err());
        assert!(read(Some("sandbox_type=cloud"), false).is_ok());
    }
}
