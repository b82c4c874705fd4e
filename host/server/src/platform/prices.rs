//! What models cost, as the operator says it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Tokens that a price is for.
const TOKENS: f64 = 1_000_000.0;

/// What a model costs, in a currency of the operator's choice (dollars, as providers name their
/// prices) for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of what the model is sent.
    pub input: f64,
    /// Of what it answers, thoughts among it.
    pub output: f64,
    /// Of what it is sent again and has kept; where it is left out, that of other input.
    pub cached_input: Option<f64>,
    /// Of what it is to keep; where it is left out, that of other input.
    pub cache_write: Option<f64>,
}

/// The prices of models by their handles (`provider/model`).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

/// Tokens that steps used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// Sent, all together.
    pub(crate) prompt: u64,
    /// Answered.
    pub(crate) completion: u64,
    /// Of those sent, read from the model's cache.
    pub(crate) cached: u64,
    /// Of those sent, written to it.
    pub(crate) cache_write: u64,
}

impl Prices {
    /// Why a price can't be used.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let all = self.0.values().flat_map(|price| {
            let more = [price.cached_input, price.cache_write];
            [price.input, price.output]
                .into_iter()
                .chain(more.into_iter().flatten())
        });
        let mut all = all;
        all.any(|price| !price.is_finite() || price < 0.0)
            .then_some("must have prices that are numbers and not below zero")
    }

    /// What these tokens of a model cost; none where its price is not known.
    pub(crate) fn cost(&self, handle: &str, tokens: Tokens) -> Option<f64> {
        let price = self.0.get(handle)?;
        let cached = tokens.cached.min(tokens.prompt);
        let written = tokens.cache_write.min(tokens.prompt - cached);
        let fresh = tokens.prompt - cached - written;
        let parts = [
            (fresh, price.input),
            (cached, price.cached_input.unwrap_or(price.input)),
            (written, price.cache_write.unwrap_or(price.input)),
            (tokens.completion, price.output),
        ];
        Some(
            parts
                .iter()
                .map(|(tokens, price)| of(*tokens, *price))
                .sum(),
        )
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "2^53 tokens are more than there will be"
)]
fn of(tokens: u64, price: f64) -> f64 {
    tokens as f64 * price / TOKENS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        let text = r#"
            [prices."anthropic/claude"]
            input = 3.0
            output = 15.0
            cached_input = 0.3
        "#;
        #[derive(Deserialize)]
        struct File {
            prices: Prices,
        }
        toml::from_str::<File>(text).unwrap().prices
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let tokens = Tokens {
            prompt: 2_000_000,
            completion: 100_000,
            cached: 1_000_000,
            cache_write: 500_000,
        };
        let cost = prices().cost("anthropic/claude", tokens).unwrap();
        assert!(
            (cost - (0.5 * 3.0 + 0.3 + 0.5 * 3.0 + 1.5)).abs() < 1e-9,
            "{cost}"
        );
        assert_eq!(prices().cost("openai/gpt", tokens), None);
    }

    #[test]
    fn more_cached_tokens_than_tokens_cost_no_less_than_nothing() {
        let tokens = Tokens {
            prompt: 1,
            cached: 5,
            cache_write: 7,
            completion: 0,
        };
        assert!(prices().cost("anthropic/claude", tokens).unwrap() > 0.0);
    }

    #[test]
    fn a_price_is_a_number_that_can_be_paid() {
        assert_eq!(prices().fault(), None);
        for text in ["input = -1\noutput = 1", "input = nan\noutput = 1"] {
            let price: Price = toml::from_str(text).unwrap();
            let prices = Prices(BTreeMap::from([("a".to_owned(), price)]));
            assert!(prices.fault().is_some(), "{text}");
        }
    }
}
