//! What people set of one model, kept when another one takes its place.
//!
//! A configuration does not say which of its values somebody chose. Those are the ones in which it
//! differs from how its model is asked unless somebody says otherwise.

use bulkhead_domain::LlmConfig;

use super::model::{can_reason, set_reasoning, takes_effort};

/// Copies the fields in which `from` is not as usual.
macro_rules! keep {
    ($from:ident, $usual:ident, $to:ident, $($field:ident),+ $(,)?) => {$(
        if $from.$field != $usual.$field {
            $to.$field.clone_from(&$from.$field);
        }
    )+};
}

/// Writes what was set of `from` over `to`, another model that is asked as usual. `usual` is how the
/// model of `from` is; where nobody knows it any more, what depends on the model is not kept.
///
/// What the other model does not have stays out, and it is given neither a longer context nor longer
/// answers than it usually has. Words that only one vendor knows are kept within its wire format.
pub fn keep_settings(from: &LlmConfig, usual: Option<&LlmConfig>, to: &mut LlmConfig) {
    let assumed = LlmConfig {
        max_tokens: from.max_tokens,
        reasoning_effort: from.reasoning_effort.clone(),
        max_reasoning_tokens: from.max_reasoning_tokens,
        ..LlmConfig::new(
            "",
            &from.model_endpoint_type,
            &from.model,
            from.context_window,
        )
    };
    let usual = usual.unwrap_or(&assumed);
    keep!(
        from,
        usual,
        to,
        temperature,
        parallel_tool_calls,
        response_format,
        strict,
        return_logprobs,
        top_logprobs,
        return_token_ids,
        put_inner_thoughts_in_kwargs,
    );
    keep_lengths(from, usual, to);
    keep_reasoning(from, usual, to);
    if from.model_endpoint_type == to.model_endpoint_type {
        keep!(
            from,
            usual,
            to,
            frequency_penalty,
            effort,
            verbosity,
            tool_call_parser,
        );
    }
}

fn keep_lengths(from: &LlmConfig, usual: &LlmConfig, to: &mut LlmConfig) {
    let is_same = from.handle() == to.handle();
    let (context, answer) = (to.context_window, to.max_tokens);
    keep!(from, usual, to, context_window, max_tokens);
    if !is_same {
        to.context_window = to.context_window.min(context);
        to.max_tokens = match (to.max_tokens, answer) {
            (Some(kept), Some(answer)) => Some(kept.min(answer)),
            (kept, _) => kept,
        };
    }
}

fn keep_reasoning(from: &LlmConfig, usual: &LlmConfig, to: &mut LlmConfig) {
    // Of a model that can't reason nobody switched it off.
    if !from.enable_reasoner && can_reason(from) {
        let can = to.enable_reasoner;
        set_reasoning(to, false, can);
        return;
    }
    if takes_effort(&to.model_endpoint_type, &to.model) {
        keep!(from, usual, to, reasoning_effort);
    }
    // Others are given none.
    if to.max_reasoning_tokens > 0 {
        keep!(from, usual, to, max_reasoning_tokens);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn model(endpoint_type: &str, name: &str, change: impl FnOnce(&mut LlmConfig)) -> LlmConfig {
        let mut config = LlmConfig::new(endpoint_type, endpoint_type, name, 128_000);
        config.max_tokens = Some(16_384);
        config.enable_reasoner = can_reason(&config);
        if config.enable_reasoner && endpoint_type == "anthropic" {
            config.max_reasoning_tokens = 1_024;
        }
        change(&mut config);
        config
    }

    fn usual(endpoint_type: &str, name: &str) -> LlmConfig {
        model(endpoint_type, name, |_| {})
    }

    fn kept(from: &LlmConfig, mut to: LlmConfig) -> LlmConfig {
        let usual = usual(&from.model_endpoint_type, &from.model);
        keep_settings(from, Some(&usual), &mut to);
        to
    }

    #[test]
    fn what_nobody_set_is_as_the_other_model_usually_has_it() {
        let claude = usual("anthropic", "claude-sonnet-4-5");
        for from in [usual("openai", "gpt-4o"), usual("openai", "gpt-5")] {
            assert_eq!(kept(&from, claude.clone()), claude);
        }
    }

    #[test]
    fn what_was_set_is_kept_as_far_as_the_other_model_has_it() {
        let from = model("openai", "gpt-5", |config| {
            config.parallel_tool_calls = Some(true);
            config.temperature = 0.2;
            config.response_format = Some(json!({"type": "json_object"}));
            config.max_tokens = Some(99);
            config.context_window = 9_000;
            config.verbosity = Some("low".to_owned());
            config.reasoning_effort = Some("high".to_owned());
        });
        let claude = kept(&from, usual("anthropic", "claude-sonnet-4-5"));
        assert_eq!(claude.parallel_tool_calls, Some(true));
        assert_eq!((claude.temperature, claude.max_tokens), (0.2, Some(99)));
        assert_eq!(claude.context_window, 9_000);
        assert_eq!(claude.response_format, from.response_format);
        assert_eq!((claude.verbosity, claude.reasoning_effort), (None, None));
        let other = kept(&from, usual("openai", "gpt-5-mini"));
        assert_eq!(other.verbosity.as_deref(), Some("low"));
        assert_eq!(other.reasoning_effort.as_deref(), Some("high"));
    }

    #[test]
    fn another_model_is_not_given_more_than_it_usually_has() {
        let from = model("anthropic", "claude-sonnet-4-5", |config| {
            config.context_window = 200_000;
            config.max_tokens = Some(60_000);
        });
        let other = kept(&from, usual("openai", "gpt-4o"));
        assert_eq!(
            (other.context_window, other.max_tokens),
            (128_000, Some(16_384))
        );
        let same = kept(&from, usual("anthropic", "claude-sonnet-4-5"));
        assert_eq!(
            (same.context_window, same.max_tokens),
            (200_000, Some(60_000))
        );
    }

    #[test]
    fn reasoning_that_was_switched_off_stays_off() {
        let off = model("openai", "gpt-5", |config| {
            set_reasoning(config, false, true);
        });
        let claude = usual("anthropic", "claude-sonnet-4-5");
        assert!(!kept(&off, claude.clone()).enable_reasoner);
        // It was never on here, and nobody minded.
        let never = usual("openai", "gpt-4o");
        assert!(!never.enable_reasoner && kept(&never, claude).enable_reasoner);
    }

    #[test]
    fn of_a_model_that_is_gone_the_settings_of_every_model_are_kept() {
        let from = model("openai", "gone", |config| {
            config.parallel_tool_calls = Some(true);
            config.max_tokens = Some(2_048);
        });
        let mut to = usual("anthropic", "claude-sonnet-4-5");
        keep_settings(&from, None, &mut to);
        assert_eq!(to.parallel_tool_calls, Some(true));
        assert_eq!(to.max_tokens, Some(16_384));
    }
}
