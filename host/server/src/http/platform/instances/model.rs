//! From what an agent type says of models to how an agent asks them.

use bulkhead_domain::LlmConfig;
use bulkhead_llm::catalog::{can_reason, set_reasoning};
use serde_json::{Map, Value};

use crate::app::App;

/// Tokens of context of a model that nobody has yet: what has been usual for years.
const ASSUMED_CONTEXT: i64 = 128_000;

/// What a type may say of how its model is asked.
const PARAMS: [&str; 7] = [
    "temperature",
    "max_tokens",
    "max_reasoning_tokens",
    "reasoning_effort",
    "frequency_penalty",
    "parallel_tool_calls",
    "context_window",
];

/// What begins the names of vendors' models, and the providers that have them.
const FAMILIES: [(&str, &str); 8] = [
    ("claude", "anthropic"),
    ("gemini", "google_ai"),
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("scripted", "bulkhead"),
];

/// The model of this name: a handle (`provider/model`), or what its vendor calls it. None where no
/// provider of this server has it.
pub(crate) async fn find(app: &App, name: &str) -> Option<LlmConfig> {
    if name.contains('/') {
        return app.models.find(name).await.ok().map(|found| found.config);
    }
    if let Some(vendor) = vendor(name) {
        let handle = format!("{vendor}/{name}");
        if let Ok(found) = app.models.find(&handle).await {
            return Some(found.config);
        }
    }
    let byok = app.models.byok().await.ok()?;
    for listing in app.models.catalog().all(&byok).await {
        let found = listing.models.iter().find(|model| model.name == name);
        if let Some(found) = found {
            return Some(found.config());
        }
    }
    None
}

/// A model that no provider of this server has yet: as soon as somebody sets its provider up, agents
/// with it answer.
pub(crate) fn unknown(name: &str) -> LlmConfig {
    let (provider, model) = match name.split_once('/') {
        Some((provider, model)) => (provider, model),
        None => (vendor(name).unwrap_or("openai"), name),
    };
    let endpoint_type = match provider {
        "anthropic" | "google_ai" => provider,
        _ => "openai",
    };
    let mut config = LlmConfig::new(provider, endpoint_type, model, ASSUMED_CONTEXT);
    let can = can_reason(&config);
    set_reasoning(&mut config, true, can);
    config
}

fn vendor(name: &str) -> Option<&'static str> {
    let family = FAMILIES.iter().find(|(family, _)| name.starts_with(family));
    family.map(|(_, vendor)| *vendor)
}

/// What is wrong with the parameters of a type: which one, and what it must be.
pub(crate) fn fault(params: &Map<String, Value>) -> Option<(String, String)> {
    if let Some(key) = params.keys().find(|key| !PARAMS.contains(&key.as_str())) {
        let known = PARAMS.join(", ");
        return Some((key.clone(), format!("is no parameter; there are {known}")));
    }
    apply(&mut unknown("model"), params)
        .err()
        .map(|(key, due)| (key.to_owned(), format!("must be {due}")))
}

/// Applies the parameters of a type. What is null is as what is left out.
pub(crate) fn apply(
    config: &mut LlmConfig,
    params: &Map<String, Value>,
) -> Result<(), (&'static str, &'static str)> {
    let given = |key| params.get(key).filter(|value| !value.is_null());
    let number = |key, range: std::ops::RangeInclusive<f64>, due| {
        let Some(value) = given(key) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| range.contains(number));
        number.map(Some).ok_or((key, due))
    };
    let whole = |key, least: i64, due| {
        let Some(value) = given(key) else {
            return Ok(None);
        };
        let number = value.as_i64().filter(|number| *number >= least);
        number.map(Some).ok_or((key, due))
    };
    if let Some(temperature) = number("temperature", 0.0..=2.0, "a number from 0 to 2")? {
        config.temperature = temperature;
    }
    if let Some(tokens) = whole("context_window", 4_000, "a whole number from 4000")? {
        config.context_window = config.context_window.min(tokens);
    }
    if let Some(tokens) = whole("max_tokens", 1, "a whole number from 1")? {
        config.max_tokens = Some(tokens);
    }
    if let Some(tokens) = whole("max_reasoning_tokens", 0, "a whole number from 0")? {
        config.max_reasoning_tokens = tokens;
    }
    let penalty = number("frequency_penalty", -2.0..=2.0, "a number from -2 to 2")?;
    config.frequency_penalty = penalty.or(config.frequency_penalty);
    if let Some(parallel) = given("parallel_tool_calls") {
        let due = ("parallel_tool_calls", "true or false");
        config.parallel_tool_calls = Some(parallel.as_bool().ok_or(due)?);
    }
    if let Some(effort) = given("reasoning_effort") {
        let due = "none, minimal, low, medium, high or xhigh";
        let known = ["none", "minimal", "low", "medium", "high", "xhigh"];
        let effort = effort.as_str().filter(|effort| known.contains(effort));
        config.reasoning_effort = Some(effort.ok_or(("reasoning_effort", due))?.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn parameters_go_into_the_configuration() {
        let mut config = unknown("claude-3-opus");
        let given =
            params(&json!({"temperature": 0.7, "max_tokens": 4000, "reasoning_effort": null}));
        apply(&mut config, &given).unwrap();
        assert!((config.temperature - 0.7).abs() < f64::EPSILON);
        assert_eq!(config.max_tokens, Some(4000));
        assert_eq!(config.handle(), "anthropic/claude-3-opus");
    }

    #[test]
    fn what_no_model_takes_is_named() {
        assert_eq!(
            fault(&params(&json!({"temperature": 1, "max_tokens": 5}))),
            None
        );
        for (given, key) in [
            (json!({"temprature": 1}), "temprature"),
            (json!({"temperature": 3}), "temperature"),
            (json!({"temperature": "hot"}), "temperature"),
            (json!({"max_tokens": 0}), "max_tokens"),
            (json!({"max_tokens": 1.5}), "max_tokens"),
            (json!({"parallel_tool_calls": 1}), "parallel_tool_calls"),
        ] {
            assert_eq!(
                fault(&params(&given)).map(|fault| fault.0).as_deref(),
                Some(key)
            );
        }
    }

    #[test]
    fn a_model_that_nobody_has_is_looked_for_at_its_vendor() {
        for (name, handle) in [
            ("gpt-4o", "openai/gpt-4o"),
            ("gemini-2.0-flash", "google_ai/gemini-2.0-flash"),
            ("local/llama", "local/llama"),
            ("mistral", "openai/mistral"),
        ] {
            assert_eq!(unknown(name).handle(), handle);
        }
    }
}
