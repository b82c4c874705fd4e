//! In what the endpoints that speak chat completions differ.

use bulkhead_domain::LlmConfig;
use url::Url;

use crate::chat::Endpoint;

/// How one endpoint wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The field for the most tokens of an answer.
    pub(super) max_tokens: &'static str,
    /// Whether fields beside the common ones are refused (`user`, `stream_options`).
    pub(super) strict_fields: bool,
    /// Whether a tool can be forced by its name.
    pub(super) named_choice: bool,
    /// The field in which reasoning goes back with the message that it led to.
    pub(super) reasoning: Option<&'static str>,
    /// Whether a message with calls must have that field, even empty.
    pub(super) reasoning_with_calls: bool,
    /// Whether arguments of earlier calls must be JSON objects: chat templates parse them.
    pub(super) parses_arguments: bool,
    /// Whether ids of calls are nine letters and digits.
    pub(super) short_ids: bool,
    /// Whether how much to reason, and how much to write, can be said.
    pub(super) effort: bool,
}

impl Dialect {
    /// That of an endpoint, by the configured type and, where that is `openai` for any server that
    /// speaks OpenAI's format, by its host and model.
    pub(super) fn of(config: &LlmConfig, endpoint: &Endpoint) -> Self {
        let others = Self {
            max_tokens: "max_tokens",
            strict_fields: false,
            named_choice: true,
            reasoning: None,
            reasoning_with_calls: false,
            parses_arguments: true,
            short_ids: false,
            effort: true,
        };
        match config.model_endpoint_type.as_str() {
            "openai" | "azure" => {
                let official = is_official(endpoint);
                Self {
                    max_tokens: "max_completion_tokens",
                    reasoning: (!official).then_some("reasoning_content"),
                    parses_arguments: !official,
                    effort: !is_plain_gpt(&config.model),
                    ..others
                }
            }
            "deepseek" => Self {
                reasoning: Some("reasoning_content"),
                reasoning_with_calls: true,
                ..others
            },
            "vllm" | "zai" | "zai_coding" | "fireworks" => Self {
                reasoning: Some("reasoning_content"),
                ..others
            },
            "ollama" | "openrouter" => Self {
                reasoning: Some("reasoning"),
                ..others
            },
            "llamacpp" => Self {
                reasoning: Some("reasoning_content"),
                named_choice: false,
                ..others
            },
            "lmstudio" | "lmstudio-legacy" | "lmstudio-chatcompletions" => Self {
                named_choice: false,
                ..others
            },
            "mistral" => Self {
                strict_fields: true,
                short_ids: true,
                ..others
            },
            _ => others,
        }
    }
}

/// Whether it is OpenAI itself, or OpenAI's models at Azure.
pub(super) fn is_official(endpoint: &Endpoint) -> bool {
    let Ok(url) = Url::parse(&endpoint.base_url) else {
        return false;
    };
    url.host_str().is_some_and(|host| {
        ["openai.com", "azure.com"]
            .iter()
            .any(|domain| host == *domain || host.ends_with(&format!(".{domain}")))
    })
}

/// Whether a name is that of an OpenAI model that reasons and is asked over the Responses API:
/// o1, o3, o4 and the GPT-5 family, fine-tuned ones included.
pub(crate) fn is_reasoning_model(model: &str) -> bool {
    let name = model.strip_prefix("ft:").unwrap_or(model);
    let family = name.split(['-', '.', ':']).next().unwrap_or(name);
    matches!(family, "o1" | "o3" | "o4") || name.starts_with("gpt-5")
}

/// Models of OpenAI that refuse settings of reasoning, wherever a gateway serves them.
fn is_plain_gpt(model: &str) -> bool {
    ["gpt-3", "gpt-4", "chatgpt-4", "ft:gpt-3", "ft:gpt-4"]
        .iter()
        .any(|prefix| model.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base_url: &str) -> Endpoint {
        Endpoint {
            name: "openai".to_owned(),
            provider: "OpenAI".to_owned(),
            provider_id: None,
            base_url: base_url.to_owned(),
            api_key: None,
            headers: Vec::new(),
        }
    }

    #[test]
    fn only_whole_names_of_families_are_reasoning_models() {
        for name in [
            "o1",
            "o3-mini",
            "o4-mini-2025-04-16",
            "gpt-5",
            "gpt-5.1",
            "gpt-5-nano",
        ] {
            assert!(is_reasoning_model(name), "{name}");
        }
        for name in ["o1x", "gpt-4o", "gpt-oss-120b", "llama-o3", "omni"] {
            assert!(!is_reasoning_model(name), "{name}");
        }
    }

    #[test]
    fn a_host_is_official_by_its_domain_alone() {
        assert!(is_official(&endpoint("https://api.openai.com/v1")));
        assert!(is_official(&endpoint(
            "https://x.openai.azure.com/openai/v1"
        )));
        assert!(!is_official(&endpoint("https://api.openai.com.example/v1")));
        assert!(!is_official(&endpoint("http://127.0.0.1:8000/openai.com")));
    }
}
