//! Names of models: `provider/model`.

/// Handles in an error's list; beyond that a person looks at `/v1/models`.
pub(super) const MAX_KNOWN: usize = 200;

/// A handle that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// It is not of the form `provider/model`.
    #[error("the handle {0} is not of the form provider/model")]
    Malformed(String),
    /// There is no such provider, or it has no such model.
    #[error("there is no model {handle}")]
    Unknown {
        /// The handle.
        handle: String,
        /// Handles that there are, 200 at most.
        known: Vec<String>,
    },
}

/// Provider and model of a handle; a model's name may hold slashes.
pub(super) fn split(handle: &str) -> Result<(&str, &str), HandleError> {
    handle
        .split_once('/')
        .filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
        .ok_or_else(|| HandleError::Malformed(handle.to_owned()))
}

/// Whether a name that is not in a provider's list means a model that is: lists give names with
/// dates (`claude-sonnet-4-5-20250929`) or tags (`llama3.2:latest`), people leave them out.
pub(super) fn is_short_for(short: &str, listed: &str) -> bool {
    let short = short.strip_suffix("-latest").unwrap_or(short);
    listed.strip_prefix(short).is_some_and(|rest| {
        let date = rest.strip_prefix('-').is_some_and(|date| {
            date.len() == 8 && date.bytes().all(|digit| digit.is_ascii_digit())
        });
        rest == ":latest" || date
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_has_two_halves() {
        assert_eq!(
            split("openrouter/openai/gpt-4o"),
            Ok(("openrouter", "openai/gpt-4o"))
        );
        for handle in ["gpt-4o", "/gpt-4o", "openai/", ""] {
            assert!(split(handle).is_err(), "{handle}");
        }
    }

    #[test]
    fn dates_and_tags_may_be_left_out_and_versions_not() {
        assert!(is_short_for(
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929"
        ));
        assert!(is_short_for(
            "claude-3-5-haiku-latest",
            "claude-3-5-haiku-20241022"
        ));
        assert!(is_short_for("llama3.2", "llama3.2:latest"));
        assert!(!is_short_for(
            "claude-sonnet-4",
            "claude-sonnet-4-5-20250929"
        ));
        assert!(!is_short_for("llama3.2", "llama3.2:1b"));
    }
}
