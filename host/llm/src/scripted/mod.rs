//! The offline model `bulkhead/scripted`: no language model, and says so. It follows a script, so that
//! a demonstration, a test or a first step needs no key and no network, and the same question has the
//! same answer every time.
//!
//! - [`GRAMMAR`] is what people read; `grammar` is what reads it.
//! - `script`: replies that belong to an agent instead of standing in a message.
//! - `input`: what is new in a conversation, and what was answered since it began.
//! - `answer`: the decision; `words`: sentences for where no script says anything; `fill`: values for
//!   calls that are forced and that no script wrote.
//! - `play`: waits, fails and streams as the script says; `failure`, `record`: the forms of it.
//!
//! It has no state: what was done already is read from the conversation, so that a restart of the
//! server, an approval that comes a day later and a second server all go on alike.

mod answer;
mod failure;
mod fill;
mod grammar;
mod input;
mod play;
mod record;
mod script;
mod words;

#[cfg(test)]
mod tests;

use bulkhead_domain::LlmConfig;

use crate::{
    chat::{ChatReply, ChatRequest, Deltas},
    error::LlmError,
};

/// The provider's name, the first half of [`HANDLE`].
pub const PROVIDER_NAME: &str = "bulkhead";

/// The provider's name of the model.
pub const MODEL: &str = "scripted";

/// The model's handle.
pub const HANDLE: &str = "bulkhead/scripted";

/// Stands for an address in configurations; nothing is ever connected to.
pub const ENDPOINT: &str = "bulkhead://scripted";

/// Tokens that fit, as `catalog::tokens` counts them. More are refused like a provider refuses them.
pub const CONTEXT_WINDOW: i64 = 128_000;

/// How to write scripts, for people.
pub const GRAMMAR: &str = r#"Lines of a message to bulkhead/scripted, each a command:

  call NAME with {"a": 1}   call a tool; without `with …` the arguments are {}; several lines are
                            calls at once; text that is no JSON is passed on as it is
  think TEXT                reason
  say TEXT                  answer, instead of calls or beside them
  then                      alone on a line: what follows is the next reply of the same request,
                            given when the tools have returned
  repeat                    give this reply again and again, after every result
  wait 200ms | 2s           wait before the reply (600s at most)
  pause 50ms                wait between the pieces of a streamed reply
  stop length | filtered    end as if tokens had run out, or as if the provider had held it back
  empty                     answer with nothing at all
  fail KIND                 fail as a provider does: timeout, rate_limit, authentication, server,
                            overloaded, bad_request, unprocessable, credits, permission, not_found,
                            context_window, connection, empty, invalid
  fail KIND after N pieces  … when so many pieces of a streamed reply were sent
  fail KIND over N tokens   … only while the request has more tokens than that

A message with at least one command is read for commands alone; any other is answered with a
sentence. When the replies are used up, results of tools are quoted.

An agent's metadata may hold replies instead:

  {"script": [{"when": "weather", "reply": "call get_weather\nthen\nTake an umbrella."}]}

The first entry whose `when` is part of what began the request decides; an entry without `when` fits
everything. A reply without commands is said as it is."#;

/// Whether a configuration names the offline model.
pub fn is_scripted(config: &LlmConfig) -> bool {
    config.provider_name.as_deref() == Some(PROVIDER_NAME)
        || config
            .handle
            .as_deref()
            .and_then(|handle| handle.split_once('/'))
            .is_some_and(|(provider, _)| provider == PROVIDER_NAME)
}

/// The request as traces show it; nobody posts it.
pub(crate) fn payload(request: &ChatRequest, stream: bool) -> serde_json::Value {
    record::request_json(request, stream)
}

/// Answers by the script.
pub(crate) async fn chat(
    request: &ChatRequest,
    deltas: Option<&Deltas>,
) -> Result<ChatReply, LlmError> {
    let reply = answer::decide(request).map_err(|reason| failure::refusal(&reason))?;
    play::play(request, reply, deltas).await
}
