//! Gives a reply: waits, fails, and cuts it into the pieces of a stream.

use std::time::{Duration, Instant};

use bulkhead_domain::{Part, ToolCall};

use super::{MODEL, failure, grammar::Reply, record};
use crate::{
    catalog::tokens,
    chat::{ChatReply, ChatRequest, Delta, Deltas, Finish},
    error::LlmError,
};

/// Bytes of a piece of arguments: pieces cut through names and values, as a provider's do.
const ARGUMENTS_PIECE: usize = 16;

/// Bytes of a word's piece at most: texts without spaces stream too.
const WORD_PIECE: usize = 48;

/// Gives the reply to the request.
pub(super) async fn play(
    request: &ChatRequest,
    reply: Reply,
    deltas: Option<&Deltas>,
) -> Result<ChatReply, LlmError> {
    let started = Instant::now();
    let prompt = tokens::count_request(&request.system, &request.messages, &request.tools);
    if !reply.wait.is_zero() {
        tokio::time::sleep(reply.wait).await;
    }
    if i64::try_from(prompt.total()).is_ok_and(|total| total > super::CONTEXT_WINDOW) {
        return Err(failure::too_long(prompt.total()));
    }
    let fail = reply.fail.as_ref().filter(|fail| {
        fail.over_tokens
            .is_none_or(|tokens| prompt.total() > tokens)
    });
    let after = fail.and_then(|fail| deltas.and(fail.after_pieces));
    if let (Some(fail), None) = (fail, after) {
        return Err(failure::scripted(fail.kind, false));
    }

    let (content, tool_calls) = if reply.empty {
        (Vec::new(), Vec::new())
    } else {
        (record::content(&reply), record::tool_calls(request, &reply))
    };
    let mut first_delta = None;
    if let Some(deltas) = deltas {
        let pieces = pieces(&content, &tool_calls).take(after.unwrap_or(usize::MAX));
        first_delta = stream(pieces, reply.pause, deltas, started).await;
    }
    if let Some(fail) = fail {
        return Err(failure::scripted(fail.kind, first_delta.is_some()));
    }
    let finish = reply.finish.unwrap_or(Finish::Stop);
    let usage = record::usage(prompt, &content, &tool_calls);
    Ok(ChatReply {
        request_json: record::request_json(request, deltas.is_some()),
        response_json: record::response_json(&content, &tool_calls, &finish, &usage),
        content,
        tool_calls,
        finish,
        usage,
        model: MODEL.to_owned(),
        logprobs: None,
        first_delta,
    })
}

/// Sends the pieces; tells when the first was sent. That nobody reads any more is no error.
async fn stream(
    pieces: impl Iterator<Item = Delta>,
    pause: Duration,
    deltas: &Deltas,
    started: Instant,
) -> Option<Duration> {
    let mut first = None;
    for piece in pieces {
        if first.is_some() && !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        first.get_or_insert_with(|| started.elapsed());
        if deltas.send(piece).await.is_err() {
            break;
        }
    }
    first
}

/// The reply in pieces: words of reasoning and text, then each call with its arguments.
fn pieces<'a>(content: &'a [Part], calls: &'a [ToolCall]) -> impl Iterator<Item = Delta> + 'a {
    let said = content.iter().flat_map(|part| {
        let (text, make): (&str, fn(String) -> Delta) = match part {
            Part::Text { text, .. } => (text, Delta::Text),
            Part::Reasoning { reasoning, .. } => (reasoning, Delta::Reasoning),
            _ => ("", Delta::Text),
        };
        words(text).map(move |piece| make(piece.to_owned()))
    });
    let called = calls.iter().enumerate().flat_map(|(index, call)| {
        let begin = Delta::ToolCall {
            index,
            id: call.id.clone(),
            name: call.name.clone(),
        };
        let arguments = cut(&call.arguments, ARGUMENTS_PIECE).map(move |piece| Delta::Arguments {
            index,
            json: piece.to_owned(),
        });
        std::iter::once(begin).chain(arguments)
    });
    said.chain(called)
}

/// Words, each with the space after it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
        .flat_map(|word| cut(word, WORD_PIECE))
}

/// Pieces of `size` bytes at most, cut between characters.
fn cut(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, left) = rest.split_at(rest.floor_char_boundary(size));
        rest = left;
        Some(piece)
    })
}
