//! What is known of models by their names, for what providers don't tell.

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// Tokens that fit.
    pub(super) context: i64,
    /// Tokens of an answer at most.
    pub(super) output: i64,
    /// Whether it reasons.
    pub(super) reasons: bool,
    /// Whether it sees images.
    pub(super) sees: bool,
}

impl Known {
    /// A model that sees no images.
    const fn blind(self) -> Self {
        Self {
            sees: false,
            ..self
        }
    }
}

const fn plain(context: i64, output: i64) -> Known {
    Known {
        context,
        output,
        reasons: false,
        sees: true,
    }
}

const fn reasoning(context: i64, output: i64) -> Known {
    Known {
        context,
        output,
        reasons: true,
        sees: true,
    }
}

/// Beginnings of names; the longest that fits counts.
static FAMILIES: &[(&str, Known)] = &[
    // OpenAI. Of GPT-5, the numbers are of the input, which shares 400,000 with the output.
    ("gpt-3.5-turbo", plain(16_385, 4_096).blind()),
    ("gpt-4", plain(8_192, 8_192).blind()),
    ("gpt-4-32k", plain(32_768, 8_192).blind()),
    ("gpt-4-vision", plain(128_000, 4_096)),
    ("gpt-4-1106-vision", plain(128_000, 4_096)),
    ("gpt-4-turbo", plain(128_000, 4_096)),
    ("gpt-4-1106", plain(128_000, 4_096).blind()),
    ("gpt-4-0125", plain(128_000, 4_096).blind()),
    ("gpt-4o", plain(128_000, 16_384)),
    ("chatgpt-4o", plain(128_000, 16_384)),
    ("gpt-4.1", plain(1_047_576, 32_768)),
    ("gpt-4.5", plain(128_000, 16_384)),
    ("gpt-5", reasoning(272_000, 128_000)),
    ("gpt-5-chat", plain(128_000, 16_384)),
    ("gpt-oss", reasoning(131_072, 65_536).blind()),
    ("o1", reasoning(200_000, 100_000)),
    ("o1-mini", reasoning(128_000, 65_536).blind()),
    ("o1-preview", reasoning(128_000, 32_768).blind()),
    ("o3-mini", reasoning(200_000, 100_000).blind()),
    ("o3", reasoning(200_000, 100_000)),
    ("o4", reasoning(200_000, 100_000)),
    // Anthropic. Names without a version are of models after Claude 4.
    ("claude-", reasoning(200_000, 64_000)),
    ("claude-2", plain(200_000, 4_096).blind()),
    ("claude-instant", plain(100_000, 4_096).blind()),
    ("claude-3-", plain(200_000, 4_096)),
    ("claude-3-5-", plain(200_000, 8_192)),
    ("claude-3-7-", reasoning(200_000, 64_000)),
    ("claude-opus-4-0", reasoning(200_000, 32_000)),
    ("claude-opus-4-1", reasoning(200_000, 32_000)),
    ("claude-opus-4-2025", reasoning(200_000, 32_000)),
    // Google.
    ("gemini-", reasoning(1_048_576, 65_536)),
    ("gemini-1.5-", plain(1_048_576, 8_192)),
    ("gemini-1.5-pro", plain(2_097_152, 8_192)),
    ("gemini-2.0-", plain(1_048_576, 8_192)),
    ("gemma-3", plain(131_072, 8_192)),
    // Others.
    ("deepseek-chat", plain(128_000, 8_192).blind()),
    ("deepseek-reasoner", reasoning(128_000, 65_536).blind()),
    ("deepseek-r1", reasoning(128_000, 32_768).blind()),
    ("grok-3", plain(131_072, 32_768).blind()),
    ("grok-3-mini", reasoning(131_072, 32_768).blind()),
    ("grok-4", reasoning(256_000, 65_536)),
    ("grok-code", reasoning(256_000, 65_536).blind()),
    ("llama-3.1", plain(131_072, 32_768).blind()),
    ("llama-3.3", plain(131_072, 32_768).blind()),
    ("llama-4", plain(131_072, 8_192)),
    ("mistral-large", plain(131_072, 16_384)),
    ("mistral-medium", plain(131_072, 16_384)),
    ("mistral-small", plain(131_072, 16_384)),
    ("magistral", reasoning(131_072, 40_000)),
    ("codestral", plain(256_000, 16_384).blind()),
    ("ministral", plain(131_072, 16_384)),
    ("glm-4.5", reasoning(131_072, 98_304).blind()),
    ("glm-4.5v", reasoning(65_536, 16_384)),
    ("glm-4.6v", reasoning(131_072, 32_768)),
    ("glm-4.6", reasoning(200_000, 131_072).blind()),
    ("glm-5", reasoning(200_000, 131_072)),
    ("minimax-m", reasoning(204_800, 131_072).blind()),
    ("qwen3", reasoning(131_072, 32_768).blind()),
    ("qwen3-vl", reasoning(131_072, 32_768)),
];

/// What is listed for a provider that does not answer: its models that people ask for most.
static USUAL: &[(&str, &[&str])] = &[
    (
        "openai",
        &[
            "gpt-4o",
            "gpt-4o-mini",
            "gpt-4.1",
            "gpt-4.1-mini",
            "gpt-4.1-nano",
            "gpt-5",
            "gpt-5-mini",
            "gpt-5-nano",
            "o3",
            "o4-mini",
        ],
    ),
    (
        "anthropic",
        &[
            "claude-haiku-4-5-20251001",
            "claude-sonnet-4-5-20250929",
            "claude-opus-4-5-20251101",
            "claude-sonnet-4-20250514",
            "claude-opus-4-1-20250805",
        ],
    ),
    (
        "google_ai",
        &[
            "gemini-2.5-flash",
            "gemini-2.5-flash-lite",
            "gemini-2.5-pro",
        ],
    ),
    ("deepseek", &["deepseek-chat", "deepseek-reasoner"]),
    ("xai", &["grok-3", "grok-3-mini", "grok-4"]),
    (
        "groq",
        &[
            "llama-3.1-8b-instant",
            "llama-3.3-70b-versatile",
            "openai/gpt-oss-120b",
        ],
    ),
    (
        "mistral",
        &[
            "mistral-large-latest",
            "mistral-medium-latest",
            "mistral-small-latest",
        ],
    ),
];

/// Beginnings or parts of names of embedding models, and the numbers in their vectors.
static EMBEDDINGS: &[(&str, i64)] = &[
    ("text-embedding-3-small", 1_536),
    ("text-embedding-3-large", 3_072),
    ("text-embedding-ada-002", 1_536),
    ("text-embedding-004", 768),
    ("gemini-embedding", 768),
    ("mistral-embed", 1_024),
    ("nomic-embed-text", 768),
    ("mxbai-embed-large", 1_024),
    ("all-minilm", 384),
    ("snowflake-arctic-embed", 1_024),
    ("bge-m3", 1_024),
    ("bge-large", 1_024),
    ("bge-base", 768),
    ("bge-small", 384),
    ("e5-large", 1_024),
    ("qwen3-embedding-0.6b", 1_024),
    ("qwen3-embedding-4b", 2_560),
    ("qwen3-embedding-8b", 4_096),
    ("embeddinggemma", 768),
];

/// Embedding models of providers that do not answer.
static USUAL_EMBEDDINGS: &[(&str, &[&str])] = &[
    (
        "openai",
        &[
            "text-embedding-3-small",
            "text-embedding-3-large",
            "text-embedding-ada-002",
        ],
    ),
    ("google_ai", &["gemini-embedding-001", "text-embedding-004"]),
    ("mistral", &["mistral-embed"]),
];

/// What is known of a model. Names of gateways (`openai/gpt-4o`) and of fine-tuned models
/// (`ft:gpt-4o:…`) are understood.
pub(super) fn model(name: &str) -> Option<Known> {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let name = name.strip_prefix("ft:").unwrap_or(&name);
    FAMILIES
        .iter()
        .filter(|(family, _)| name.starts_with(family))
        .max_by_key(|(family, _)| family.len())
        .map(|(_, known)| *known)
}

/// Whether a name is that of an embedding model.
pub(super) fn is_embedding(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("embed") || dimensions(&name).is_some()
}

/// The numbers in the vectors of an embedding model.
pub(super) fn dimensions(name: &str) -> Option<i64> {
    let name = name.to_ascii_lowercase();
    EMBEDDINGS
        .iter()
        .find(|(part, _)| name.contains(part))
        .map(|(_, dimensions)| *dimensions)
}

/// Models of a type of provider that does not answer.
pub(super) fn usual(provider_type: &str) -> &'static [&'static str] {
    names(USUAL, provider_type)
}

/// Embedding models of a type of provider that does not answer.
pub(super) fn usual_embeddings(provider_type: &str) -> &'static [&'static str] {
    names(USUAL_EMBEDDINGS, provider_type)
}

fn names(
    table: &'static [(&'static str, &'static [&'static str])],
    provider_type: &str,
) -> &'static [&'static str] {
    table
        .iter()
        .find(|(name, _)| *name == provider_type)
        .map_or(&[], |(_, names)| *names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_family_that_fits_counts() {
        let context = |name| model(name).map(|known| (known.context, known.reasons));
        assert_eq!(context("gpt-4-0613"), Some((8_192, false)));
        assert_eq!(context("gpt-4o-mini-2024-07-18"), Some((128_000, false)));
        assert_eq!(context("gpt-4.1-nano"), Some((1_047_576, false)));
        assert_eq!(context("openai/gpt-5-mini"), Some((272_000, true)));
        assert_eq!(context("gpt-5-chat-latest"), Some((128_000, false)));
        assert_eq!(context("ft:gpt-4o:acme::1"), Some((128_000, false)));
        assert_eq!(context("claude-3-5-haiku-latest"), Some((200_000, false)));
        assert_eq!(context("claude-sonnet-4-5"), Some((200_000, true)));
        assert_eq!(context("my-model"), None);
    }

    #[test]
    fn models_see_images_unless_they_are_known_not_to() {
        let sees = |name| model(name).is_none_or(|known| known.sees);
        for name in [
            "gpt-4o-mini",
            "gpt-4-turbo",
            "o3",
            "claude-sonnet-4-5",
            "qwen3-vl-8b",
            "mine",
        ] {
            assert!(sees(name), "{name}");
        }
        for name in [
            "gpt-4-0613",
            "openai/gpt-oss-120b",
            "o3-mini",
            "deepseek-chat",
            "qwen3-8b",
        ] {
            assert!(!sees(name), "{name}");
        }
    }

    #[test]
    fn everything_that_is_listed_without_asking_is_known() {
        for (_, names) in USUAL {
            for name in *names {
                assert!(model(name).is_some(), "{name}");
            }
        }
        for (_, names) in USUAL_EMBEDDINGS {
            for name in *names {
                assert!(dimensions(name).is_some(), "{name}");
            }
        }
    }
}
