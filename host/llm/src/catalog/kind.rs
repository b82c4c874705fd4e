//! The kinds of provider that are known: where they are and whose wire format they speak.

/// How a provider's models are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// `GET /models` in OpenAI's form.
    OpenAi,
    /// `GET /v1/models`, Anthropic.
    Anthropic,
    /// `GET /v1beta/models`, Gemini.
    Gemini,
    /// `GET /api/tags`, Ollama.
    Ollama,
    /// The offline model alone.
    Scripted,
}

/// What is the same for all providers of a type.
#[derive(Debug)]
pub(super) struct Kind {
    /// The type on the wire.
    pub(super) provider_type: &'static str,
    /// The name that people know.
    pub(super) title: &'static str,
    /// `model_endpoint_type` of its models.
    pub(super) endpoint_type: &'static str,
    /// Whether its embedding models can be asked: the wire format of embeddings has fewer types.
    pub(super) embeds: bool,
    /// Where it is, unless it is wherever its user runs it.
    pub(super) base_url: Option<&'static str>,
    /// A path that belongs to every address of this type.
    pub(super) path: &'static str,
    /// How its models are listed.
    pub(super) lists: Lists,
}

const fn compatible(
    provider_type: &'static str,
    title: &'static str,
    endpoint_type: &'static str,
    base_url: &'static str,
) -> Kind {
    Kind {
        provider_type,
        title,
        endpoint_type,
        embeds: false,
        base_url: Some(base_url),
        path: "",
        lists: Lists::OpenAi,
    }
}

const fn local(
    provider_type: &'static str,
    title: &'static str,
    endpoint_type: &'static str,
) -> Kind {
    Kind {
        provider_type,
        title,
        endpoint_type,
        embeds: true,
        base_url: None,
        path: "/v1",
        lists: Lists::OpenAi,
    }
}

/// All of them. The offline model has the type that the wire knows for a server's own models.
static KINDS: &[Kind] = &[
    Kind {
        provider_type: "letta",
        title: "Bulkhead",
        endpoint_type: "openai",
        embeds: false,
        base_url: Some(crate::scripted::ENDPOINT),
        path: "",
        lists: Lists::Scripted,
    },
    Kind {
        embeds: true,
        ..compatible("openai", "OpenAI", "openai", "https://api.openai.com/v1")
    },
    Kind {
        lists: Lists::Anthropic,
        ..compatible(
            "anthropic",
            "Anthropic",
            "anthropic",
            "https://api.anthropic.com",
        )
    },
    Kind {
        embeds: true,
        lists: Lists::Gemini,
        ..compatible(
            "google_ai",
            "Google AI",
            "google_ai",
            "https://generativelanguage.googleapis.com",
        )
    },
    Kind {
        lists: Lists::Ollama,
        ..local("ollama", "Ollama", "ollama")
    },
    local("vllm", "vLLM", "vllm"),
    local("sglang", "SGLang", "openai"),
    local("lmstudio_openai", "LM Studio", "lmstudio"),
    compatible("groq", "Groq", "groq", "https://api.groq.com/openai/v1"),
    compatible(
        "deepseek",
        "DeepSeek",
        "deepseek",
        "https://api.deepseek.com/v1",
    ),
    Kind {
        embeds: true,
        ..compatible(
            "together",
            "Together",
            "together",
            "https://api.together.xyz/v1",
        )
    },
    compatible("xai", "xAI", "xai", "https://api.x.ai/v1"),
    Kind {
        embeds: true,
        ..compatible("mistral", "Mistral", "mistral", "https://api.mistral.ai/v1")
    },
    compatible(
        "openrouter",
        "OpenRouter",
        "openrouter",
        "https://openrouter.ai/api/v1",
    ),
    compatible(
        "cerebras",
        "Cerebras",
        "openai",
        "https://api.cerebras.ai/v1",
    ),
    compatible(
        "fireworks",
        "Fireworks",
        "openai",
        "https://api.fireworks.ai/inference/v1",
    ),
    compatible(
        "baseten",
        "Baseten",
        "baseten",
        "https://inference.baseten.co/v1",
    ),
    compatible("minimax", "MiniMax", "minimax", "https://api.minimax.io/v1"),
    compatible("zai", "Z.ai", "zai", "https://api.z.ai/api/paas/v4"),
    compatible(
        "zai_coding",
        "Z.ai Coding",
        "zai_coding",
        "https://api.z.ai/api/coding/paas/v4",
    ),
    compatible(
        "hugging-face",
        "Hugging Face",
        "hugging-face",
        "https://router.huggingface.co/v1",
    ),
];

/// The kind with this type.
pub(super) fn of(provider_type: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|kind| kind.provider_type == provider_type)
}
