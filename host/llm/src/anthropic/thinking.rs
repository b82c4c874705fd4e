//! Whether and how a model reasons in one request.

use bulkhead_domain::{LlmConfig, Part};
use serde_json::{Value, json};

use super::model::Model;
use crate::turns::{Said, Turn};

/// Tokens of reasoning where nobody said how many; the least that the vendor accepts.
const MIN_BUDGET: i64 = 1_024;
/// Tokens of an answer where nobody said how many.
const DEFAULT_MAX_TOKENS: i64 = 16_384;

/// How a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Not, or as the model does by itself.
    Off,
    /// With so many tokens at most.
    Budget(i64),
    /// As much as the model finds right.
    Adaptive,
}

impl Thinking {
    /// What the configuration wants and this conversation allows.
    pub(crate) fn of(config: &LlmConfig, model: &Model<'_>, turns: &[Turn<'_>]) -> Self {
        if !config.enable_reasoner || !model.reasons() {
            Self::Off
        } else if model.is_adaptive() {
            Self::Adaptive
        } else if begins_with_thinking(model, turns) {
            Self::Budget(config.max_reasoning_tokens.max(MIN_BUDGET))
        } else {
            Self::Off
        }
    }

    /// As the request says it.
    pub(crate) fn to_json(self) -> Option<Value> {
        match self {
            Self::Off => None,
            Self::Budget(tokens) => Some(json!({"type": "enabled", "budget_tokens": tokens})),
            // Without it, these models send reasoning without its text.
            Self::Adaptive => Some(json!({"type": "adaptive", "display": "summarized"})),
        }
    }

    /// Whether reasoning of earlier answers goes back. Models of other vendors reason unasked, and
    /// want it back for their calls of tools.
    pub(crate) fn sends_back(self, model: &Model<'_>) -> bool {
        self != Self::Off || !model.is_claude()
    }

    /// Tokens of the answer, and this with a budget that leaves room for one. The vendor counts
    /// reasoning as part of the answer; the configuration does not mean to have no answer at all.
    pub(crate) fn with_max_tokens(self, config: &LlmConfig, model: &Model<'_>) -> (i64, Self) {
        let bound = model.max_output().unwrap_or(i64::MAX);
        let wanted = config.max_tokens.filter(|tokens| *tokens > 0);
        let wanted = wanted.unwrap_or(DEFAULT_MAX_TOKENS);
        match self {
            Self::Budget(budget) if wanted.min(bound) <= budget => {
                let tokens = wanted.saturating_add(budget).min(bound);
                let left = tokens.saturating_sub(MIN_BUDGET).max(MIN_BUDGET);
                (tokens, Self::Budget(budget.min(left)))
            }
            _ => (wanted.min(bound), self),
        }
    }
}

/// Whether this piece is reasoning that the vendor takes back.
pub(crate) fn is_signed(part: &Part) -> bool {
    match part {
        Part::Reasoning { signature, .. } | Part::OmittedReasoning { signature } => {
            signature.as_ref().is_some_and(|text| !text.is_empty())
        }
        Part::RedactedReasoning { data } => !data.is_empty(),
        _ => false,
    }
}

/// Whether the vendor takes this conversation with a budget: an answer that waits for results of
/// its calls must begin with its reasoning. It does not when another model wrote it, or when it was
/// written without reasoning.
fn begins_with_thinking(model: &Model<'_>, turns: &[Turn<'_>]) -> bool {
    let mut first: Option<&Said<'_>> = None;
    for turn in turns.iter().rev() {
        match turn {
            Turn::User(turn) if turn.results.is_empty() => break,
            Turn::User(_) => {}
            Turn::Model(said) => first = said.first(),
        }
    }
    first.is_none_or(|said| {
        said.model.is_some_and(|name| model.is_same(name))
            && said.content.first().is_some_and(is_signed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(model: &str, max_tokens: i64, budget: i64) -> LlmConfig {
        LlmConfig {
            max_tokens: Some(max_tokens),
            max_reasoning_tokens: budget,
            ..LlmConfig::new("anthropic", "anthropic", model, 200_000)
        }
    }

    fn plan(config: &LlmConfig) -> (i64, Thinking) {
        let model = Model::of(&config.model);
        Thinking::of(config, &model, &[]).with_max_tokens(config, &model)
    }

    #[test]
    fn an_answer_has_room_beside_its_reasoning() {
        let sonnet = "claude-sonnet-4-5";
        for (max_tokens, budget, expected) in [
            (16_384, 0, (16_384, Thinking::Budget(1_024))),
            (4_096, 8_000, (12_096, Thinking::Budget(8_000))),
            (64_000, 90_000, (64_000, Thinking::Budget(62_976))),
            (1_000_000, 2_000, (64_000, Thinking::Budget(2_000))),
        ] {
            assert_eq!(plan(&config(sonnet, max_tokens, budget)), expected);
        }
    }

    #[test]
    fn each_model_reasons_in_its_own_way() {
        let thinking = |name| plan(&config(name, 4_096, 2_000)).1;
        assert_eq!(thinking("claude-3-5-haiku-latest"), Thinking::Off);
        assert_eq!(thinking("claude-opus-4-1"), Thinking::Budget(2_000));
        assert_eq!(thinking("claude-opus-4-7"), Thinking::Adaptive);
        assert_eq!(thinking("MiniMax-M2"), Thinking::Off);
        let off = LlmConfig {
            enable_reasoner: false,
            ..config("claude-opus-4-1", 4_096, 2_000)
        };
        assert_eq!(plan(&off).1, Thinking::Off);
    }
}
