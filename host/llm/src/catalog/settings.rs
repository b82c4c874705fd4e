//! The short form of a model's configuration, which clients send as `model_settings`: a union by
//! `provider_type`, each member with the words of its vendor.

use bulkhead_domain::LlmConfig;
use serde_json::{Map, Value, json};

use super::model::{can_reason, takes_effort};

/// Tokens of an answer that are shown where the configuration has no limit; Google's models have a
/// higher one.
const SHOWN_TOKENS: i64 = 4_096;
const SHOWN_TOKENS_GOOGLE: i64 = 65_536;

/// Tokens of reasoning that are shown where the configuration leaves them to the vendor.
const SHOWN_BUDGET: i64 = 1_024;

/// A field with a value that it cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {expected}")]
pub struct InvalidSetting {
    /// The field's path within the settings; `model_settings` for all of them.
    pub field: &'static str,
    /// What it must be, for people.
    pub expected: &'static str,
}

/// The member of the union that describes a model of this endpoint type. Types that have none of
/// their own speak OpenAI's format.
fn member(endpoint_type: &str) -> &'static str {
    match endpoint_type {
        "anthropic" => "anthropic",
        "google_ai" => "google_ai",
        "google_vertex" => "google_vertex",
        "azure" => "azure",
        "xai" => "xai",
        "zai" | "zai_coding" => "zai",
        "groq" => "groq",
        "deepseek" => "deepseek",
        "together" => "together",
        "bedrock" => "bedrock",
        "openrouter" => "openrouter",
        "baseten" => "baseten",
        "chatgpt_oauth" => "chatgpt_oauth",
        _ => "openai",
    }
}

/// The configuration in the short form, every field of its member included.
///
/// `parallel_tool_calls` is always shown as true, as clients know it; what counts is
/// [`LlmConfig::parallel_tool_calls`].
pub fn render(config: &LlmConfig) -> Value {
    let member = member(&config.model_endpoint_type);
    let google = matches!(member, "google_ai" | "google_vertex");
    let shown = if google {
        SHOWN_TOKENS_GOOGLE
    } else {
        SHOWN_TOKENS
    };
    let budget = match config.max_reasoning_tokens {
        0 => SHOWN_BUDGET,
        budget => budget,
    };
    let enabled = if config.enable_reasoner {
        "enabled"
    } else {
        "disabled"
    };
    let effort = |default: &str| json!({"reasoning_effort": config.reasoning_effort.as_deref().unwrap_or(default)});
    let mut settings = json!({
        "provider_type": member,
        "max_output_tokens": config.max_tokens.unwrap_or(shown),
        "parallel_tool_calls": true,
        "temperature": config.temperature,
    });
    let own = match member {
        "anthropic" => json!({
            "thinking": {"type": enabled, "budget_tokens": budget},
            "response_format": config.response_format,
            "verbosity": config.verbosity,
            "effort": config.effort,
            "strict": config.strict,
        }),
        "google_ai" | "google_vertex" => json!({
            "thinking_config": {"include_thoughts": config.enable_reasoner,
                                "thinking_budget": budget},
            "response_schema": config.response_format,
        }),
        "zai" => json!({
            "thinking": {"type": enabled, "clear_thinking": false},
            "response_format": config.response_format,
        }),
        "openai" => json!({
            "reasoning": effort("minimal"),
            "response_format": config.response_format,
            "strict": config.strict,
        }),
        "chatgpt_oauth" => json!({"reasoning": effort("medium")}),
        "baseten" => json!({}),
        _ => json!({"response_format": config.response_format}),
    };
    if let (Value::Object(settings), Value::Object(own)) = (&mut settings, own) {
        settings.extend(own);
    }
    settings
}

/// Applies the fields that were sent; the others stay as they are, but parallel calls: they are
/// switched on unless the settings switch them off.
///
/// Whether the model reasons follows `thinking`; who creates an agent then calls
/// [`super::set_reasoning`], which wins.
///
/// # Errors
/// Names the field whose value it cannot have. The configuration is then as it was.
pub fn apply(config: &mut LlmConfig, settings: &Value) -> Result<(), InvalidSetting> {
    let mut changed = config.clone();
    let fields = Fields(settings.as_object().ok_or(InvalidSetting {
        field: "model_settings",
        expected: "a JSON object",
    })?);
    let parallel = fields.boolean("parallel_tool_calls", "/parallel_tool_calls")?;
    changed.parallel_tool_calls = Some(parallel.unwrap_or(true));
    if let Some(tokens) = fields.number("max_output_tokens", "/max_output_tokens", 1)? {
        changed.max_tokens = Some(tokens);
    }
    if let Some(temperature) = fields.temperature()? {
        changed.temperature = temperature;
    }
    for (path, key) in [
        ("response_format", "/response_format"),
        ("response_schema", "/response_schema"),
    ] {
        if let Some(format) = fields.sent(key) {
            if !format.is_null() && format.get("type").and_then(Value::as_str).is_none() {
                return Err(InvalidSetting {
                    field: path,
                    expected: "an object with a type, or null",
                });
            }
            changed.response_format = Some(format.clone()).filter(|format| !format.is_null());
        }
    }
    if let Some(strict) = fields.boolean("strict", "/strict")? {
        changed.strict = strict;
    }
    fields.reasoning(&mut changed)?;
    fields.words(&mut changed)?;
    *config = changed;
    Ok(())
}

/// The fields that were sent.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn sent(&self, pointer: &str) -> Option<&'a Value> {
        let mut keys = pointer.trim_start_matches('/').split('/');
        let first = self.0.get(keys.next()?)?;
        keys.try_fold(first, |value, key| value.get(key))
    }

    fn given(&self, pointer: &str) -> Option<&'a Value> {
        self.sent(pointer).filter(|value| !value.is_null())
    }

    fn boolean(&self, field: &'static str, pointer: &str) -> Result<Option<bool>, InvalidSetting> {
        let expected = "true or false";
        let read = |value: &Value| value.as_bool().ok_or(InvalidSetting { field, expected });
        self.given(pointer).map(read).transpose()
    }

    fn number(
        &self,
        field: &'static str,
        pointer: &str,
        least: i64,
    ) -> Result<Option<i64>, InvalidSetting> {
        let expected = if least > 0 {
            "a positive integer"
        } else {
            "an integer, 0 or more"
        };
        let read = |value: &Value| {
            let number = value.as_i64().filter(|number| *number >= least);
            number.ok_or(InvalidSetting { field, expected })
        };
        self.given(pointer).map(read).transpose()
    }

    fn word(
        &self,
        field: &'static str,
        pointer: &str,
        words: &[&str],
        expected: &'static str,
    ) -> Result<Option<String>, InvalidSetting> {
        let read = |value: &Value| {
            let word = value.as_str().filter(|word| words.contains(word));
            word.map(str::to_owned)
                .ok_or(InvalidSetting { field, expected })
        };
        self.given(pointer).map(read).transpose()
    }

    fn temperature(&self) -> Result<Option<f64>, InvalidSetting> {
        let read = |value: &Value| {
            let number = value.as_f64().filter(|number| (0.0..=2.0).contains(number));
            number.ok_or(InvalidSetting {
                field: "temperature",
                expected: "a number from 0 to 2",
            })
        };
        self.given("/temperature").map(read).transpose()
    }

    fn reasoning(&self, config: &mut LlmConfig) -> Result<(), InvalidSetting> {
        let effort = self.word(
            "reasoning.reasoning_effort",
            "/reasoning/reasoning_effort",
            &["none", "minimal", "low", "medium", "high", "xhigh"],
            "none, minimal, low, medium, high or xhigh",
        )?;
        // Models that take none refuse the request.
        let takes = config.model_endpoint_type != "openai"
            || takes_effort(&config.model_endpoint_type, &config.model)
            || can_reason(config);
        if let Some(effort) = effort.filter(|_| takes) {
            config.reasoning_effort = Some(effort);
        }
        let kinds = ["enabled", "disabled"];
        let thinking = self.word(
            "thinking.type",
            "/thinking/type",
            &kinds,
            "enabled or disabled",
        )?;
        let thoughts = self.boolean(
            "thinking_config.include_thoughts",
            "/thinking_config/include_thoughts",
        )?;
        if let Some(wanted) = thinking.map(|kind| kind == "enabled").or(thoughts) {
            config.enable_reasoner = wanted && (config.enable_reasoner || can_reason(config));
        }
        let budget = self
            .number("thinking.budget_tokens", "/thinking/budget_tokens", 0)?
            .or(self.number(
                "thinking_config.thinking_budget",
                "/thinking_config/thinking_budget",
                0,
            )?);
        if let Some(budget) = budget {
            config.max_reasoning_tokens = budget;
        }
        Ok(())
    }

    fn words(&self, config: &mut LlmConfig) -> Result<(), InvalidSetting> {
        let verbosity = self.word(
            "verbosity",
            "/verbosity",
            &["low", "medium", "high"],
            "low, medium or high",
        )?;
        let effort = self.word(
            "effort",
            "/effort",
            &["low", "medium", "high", "max"],
            "low, medium, high or max",
        )?;
        config.verbosity = verbosity.or(config.verbosity.take());
        config.effort = effort.or(config.effort.take());
        if let Some(parser) = self.given("/tool_call_parser") {
            let parser = parser.as_str().ok_or(InvalidSetting {
                field: "tool_call_parser",
                expected: "a text",
            })?;
            config.tool_call_parser = Some(parser.to_owned());
        }
        Ok(())
    }
}
