//! The body of a request.

use serde_json::{Map, Value, json};

use super::{dialect::Dialect, messages::messages, tools};
use crate::chat::ChatRequest;

/// What is posted. Settings that were not set are left out, so that the endpoint's own apply.
pub(super) fn body(request: &ChatRequest, stream: bool) -> Value {
    let config = &request.config;
    let dialect = Dialect::of(config, &request.endpoint);
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(config.model.as_str()));
    body.insert("messages".to_owned(), messages(request, dialect).into());
    tools::insert(&mut body, request, dialect);

    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    // OpenAI's search models choose by themselves and refuse to be told.
    let choosable = !config.model.contains("-search-");
    set("temperature", choosable.then(|| config.temperature.into()));
    set(dialect.max_tokens, config.max_tokens.map(Value::from));
    set(
        "frequency_penalty",
        config.frequency_penalty.map(Value::from),
    );
    set("response_format", config.response_format.clone());
    if dialect.effort {
        set(
            "reasoning_effort",
            config.reasoning_effort.clone().map(Value::from),
        );
        set("verbosity", config.verbosity.clone().map(Value::from));
    }
    if config.return_logprobs {
        set("logprobs", Some(Value::Bool(true)));
        set("top_logprobs", config.top_logprobs.map(Value::from));
    }
    if config.return_token_ids {
        set("return_token_ids", Some(Value::Bool(true)));
    }
    if !dialect.strict_fields {
        set("user", request.user.clone().map(Value::from));
    }
    if stream {
        set("stream", Some(Value::Bool(true)));
        if !dialect.strict_fields {
            set("stream_options", Some(json!({"include_usage": true})));
        }
    }
    Value::Object(body)
}
