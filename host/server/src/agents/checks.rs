//! Settings of agents that have bounds.

use bulkhead_domain::{CompactionSettings, LlmConfig};
use bulkhead_llm::catalog::settings;

use crate::{app::App, contract::Refusal};

/// Files that may be open at once. All of them stand in the prompt.
const FILES_MAX: i64 = 1_000;
/// Characters of an open file that a model sees: a whole file of the largest that are usual.
const FILE_CHARS_MAX: i64 = 250_000;

/// Refuses zones that nobody knows, since times are told in them.
pub(crate) fn timezone(name: &str) -> Result<(), Refusal> {
    if bulkhead_agent::clock::zone(name).is_some() {
        return Ok(());
    }
    Err(Refusal::unprocessable(format!(
        "Invalid timezone: {name}. It must be an IANA name, for example Europe/Zurich"
    )))
}

/// Refuses numbers of open files that no prompt could hold.
pub(crate) fn max_files_open(number: i64) -> Result<(), Refusal> {
    within("max_files_open", number, FILES_MAX)
}

/// Refuses views of files that no prompt could hold.
pub(crate) fn view_chars(number: i64) -> Result<(), Refusal> {
    within("per_file_view_window_char_limit", number, FILE_CHARS_MAX)
}

/// Refuses windows in which nothing fits.
pub(crate) fn context_window(tokens: i64) -> Result<(), Refusal> {
    if tokens > 0 {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "INVALID_ARGUMENT: context_window_limit must be at least 1. Got: {tokens}"
    )))
}

/// Refuses settings that the model which writes the summaries cannot have: the one that is named, where
/// this server has it, or the agent's own.
pub(crate) async fn compaction(
    app: &App,
    settings: &CompactionSettings,
    own: &LlmConfig,
) -> Result<(), Refusal> {
    let Some(model_settings) = &settings.model_settings else {
        return Ok(());
    };
    let named = match &settings.model {
        Some(handle) => app.engine.models().resolve(handle).await.ok(),
        None => None,
    };
    let mut model = named.unwrap_or_else(|| own.clone());
    settings::apply(&mut model, model_settings).map_err(|invalid| {
        Refusal::bad_request(format!(
            "INVALID_ARGUMENT: compaction_settings.model_settings: {invalid}"
        ))
    })
}

fn within(what: &str, number: i64, maximum: i64) -> Result<(), Refusal> {
    let bound = match number {
        ..=0 => "must be at least 1".to_owned(),
        number if number > maximum => format!("cannot exceed {maximum}"),
        _ => return Ok(()),
    };
    Err(Refusal::bad_request(format!(
        "INVALID_ARGUMENT: {what} {bound}. Got: {number}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_keep_to_their_bounds() {
        assert!(timezone("Europe/Zurich").is_ok() && timezone("UTC").is_ok());
        assert!(timezone("Nowhere/Here").is_err() && timezone("").is_err());
        assert!(max_files_open(1_000).is_ok() && view_chars(250_000).is_ok());
        for refused in [max_files_open(5_000), max_files_open(0), view_chars(-1)] {
            assert!(refused.is_err());
        }
        let Err(Refusal::Contract(status, body)) = max_files_open(5_000) else {
            panic!("it is refused in the contract's words");
        };
        let expected = "INVALID_ARGUMENT: max_files_open cannot exceed 1000. Got: 5000";
        assert_eq!(
            (status.as_u16(), body["detail"].as_str()),
            (400, Some(expected))
        );
    }
}
