//! Ids of tool calls, as endpoints want them.

use std::borrow::Cow;

use bulkhead_domain::Digest;

/// Characters of an id at most; OpenAI refuses longer ones, and other providers make some.
const MAX_ID: usize = 40;
/// Characters of an id where it must be short.
const SHORT_ID: usize = 9;

/// The id as it is sent. The same id is always sent the same way, so that calls and results keep
/// belonging together.
pub(crate) fn sent(id: &str, short: bool) -> Cow<'_, str> {
    if short {
        let fits = id.len() == SHORT_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return if fits {
            Cow::Borrowed(id)
        } else {
            Cow::Owned(Digest::of(id.as_bytes()).hex()[..SHORT_ID].to_owned())
        };
    }
    if id.chars().count() <= MAX_ID {
        Cow::Borrowed(id)
    } else {
        let hex = Digest::of(id.as_bytes()).hex();
        Cow::Owned(format!("call_{}", &hex[..32]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_ids::CallIds;

    #[test]
    fn ids_fit_wherever_they_came_from() {
        assert_eq!(sent("call_abc", false), "call_abc");
        assert!(CallIds::default().claim(None).len() <= MAX_ID);
        let long = "x".repeat(64);
        assert!(sent(&long, false).len() <= MAX_ID);
        assert_eq!(sent(&long, false), sent(&long, false));
        assert_eq!(sent("D681PevKs", true), "D681PevKs");
        assert_eq!(sent("call_abc", true).len(), SHORT_ID);
        assert_ne!(sent("call_abc", true), sent("call_abd", true));
    }
}
