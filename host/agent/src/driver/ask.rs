//! One question to the model.

use bulkhead_domain::{
    Timestamp, ToolCall,
    id::{MessageId, StepId},
};
use bulkhead_llm::{
    ChatReply, ChatRequest, Delta as Given, ErrorKind, LlmError, catalog::sees_images,
};
use tokio::sync::mpsc;

use super::Driver;
use crate::{
    AgentError,
    asked::nanos,
    compact::text_tokens,
    event::{Delta, Event, Piece},
    toolset::Offered,
    transcript::{chat_messages, leave_out_images},
};

/// Times that a question is asked again with a shorter context.
const SHORTER_TRIES: u32 = 3;
/// Pieces that may wait between the provider's stream and the listener.
const PIECES_WAITING: usize = 32;

/// A step that has begun.
pub(super) struct Begun {
    pub(super) id: StepId,
    pub(super) message_id: MessageId,
    pub(super) at: Timestamp,
}

/// How a question ended.
pub(super) enum Asked {
    /// With a reply; true where its pieces were told.
    Answered(Box<ChatReply>, bool),
    /// The run was cancelled meanwhile; with the reply where it had come.
    Cancelled(Option<Box<ChatReply>>),
}

/// Which kinds of pieces came, which decides how they are numbered.
#[derive(Default)]
struct Kinds {
    reasoning: bool,
    text: bool,
    calls: Vec<(String, bool)>,
}

impl Driver {
    /// Asks the model, with a shorter context where the provider says that it does not fit, and others
    /// where it fails.
    pub(super) async fn ask(
        &mut self,
        step: &Begun,
        offered: &Offered,
    ) -> Result<Asked, AgentError> {
        let tokens = text_tokens(&self.system);
        if tokens > self.model.context_window {
            // No context is short enough for it.
            let window = self.model.context_window;
            return Err(AgentError::SystemPromptTooLarge { tokens, window });
        }
        let mut tries = 0;
        // The model that was asked first, and why it gave no answer.
        let mut first = None;
        loop {
            let request = self.chat_request(offered);
            let error = match self.ask_once(step, offered, &request).await {
                Ok(asked) => return Ok(asked),
                Err(error) => error,
            };
            let is_too_long = error.kind == ErrorKind::ContextWindowExceeded && !error.partial;
            if is_too_long && !self.has_fallen_back() {
                if tries == SHORTER_TRIES {
                    return Err(AgentError::ContextWindow(error.to_string()));
                }
                tracing::debug!(tries, "the context does not fit and is made shorter");
                let shrunk = self.shrink("context_window_exceeded", Some(step.id), tries);
                shrunk.await.map_err(|failed| match failed {
                    AgentError::NothingToCompact => AgentError::ContextWindow(error.to_string()),
                    other => other,
                })?;
                tries += 1;
                continue;
            }
            match self.fall_back(&error, &request).await {
                Some(before) => {
                    first.get_or_insert((before, error));
                }
                None => return Err(self.unanswered(first, error)),
            }
        }
    }

    pub(super) fn chat_request(&self, offered: &Offered) -> ChatRequest {
        let agent = self.agent();
        let mut messages = chat_messages(&self.thread.context);
        messages.extend(chat_messages(&self.input));
        if !sees_images(&self.model) {
            leave_out_images(&mut messages);
        }
        ChatRequest {
            config: self.model.clone(),
            endpoint: self.endpoint.clone(),
            system: self.system.clone(),
            messages,
            tools: offered.specs.clone(),
            tool_choice: offered.choice.clone(),
            parallel_tool_calls: self.allows_parallel_calls(),
            user: self.request.user.clone(),
            script: agent
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("script"))
                .cloned(),
        }
    }

    /// Whether several calls of one reply count.
    pub(super) fn allows_parallel_calls(&self) -> bool {
        self.model.parallel_tool_calls == Some(true)
            && self.tools.book().allows_parallel_calls()
            && !self.agent().agent_type.is_legacy()
    }

    /// Whether answers are streamed. Older types think and speak in arguments, which no piece shows
    /// before it is whole.
    pub(super) fn hears_pieces(&self) -> bool {
        self.request.listening.tokens && !self.agent().agent_type.is_legacy()
    }

    async fn ask_once(
        &mut self,
        step: &Begun,
        offered: &Offered,
        request: &ChatRequest,
    ) -> Result<Asked, LlmError> {
        let models = std::sync::Arc::clone(self.engine.models());
        let cancel = self.cancel().clone();
        if !self.hears_pieces() {
            return tokio::select! {
                biased;
                () = cancel.cancelled() => Ok(Asked::Cancelled(None)),
                reply = models.chat(request, None) => {
                    Ok(Asked::Answered(Box::new(reply?), false))
                }
            };
        }
        let (sender, mut given) = mpsc::channel(PIECES_WAITING);
        let mut reply = models.chat(request, Some(sender));
        let mut kinds = Kinds::default();
        let mut told = false;
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(Asked::Cancelled(None)),
                piece = given.recv() => {
                    let Some(piece) = piece else { break };
                    told |= self.tell_piece(step, offered, &mut kinds, piece).await;
                }
                reply = &mut reply => {
                    while let Ok(piece) = given.try_recv() {
                        told |= self.tell_piece(step, offered, &mut kinds, piece).await;
                    }
                    if cancel.is_cancelled() {
                        return Ok(Asked::Cancelled(reply.ok().map(Box::new)));
                    }
                    return Ok(Asked::Answered(Box::new(reply?), told));
                }
            }
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(Asked::Cancelled(None)),
            reply = reply => Ok(Asked::Answered(Box::new(reply?), told)),
        }
    }

    async fn tell_piece(
        &mut self,
        step: &Begun,
        offered: &Offered,
        kinds: &mut Kinds,
        given: Given,
    ) -> bool {
        if self.ttft_ns.is_none() {
            self.ttft_ns = Some(nanos(self.began.elapsed()));
        }
        let index = kinds.index_of(&given);
        let piece = match given {
            Given::Reasoning(text) => Piece::Reasoning { text, native: true },
            Given::Text(text) => Piece::Text(text),
            Given::ToolCall { index, id, name } => {
                let waits = self.tools.waits(offered, &name);
                if kinds.calls.len() <= index {
                    kinds.calls.resize(index + 1, Default::default());
                }
                kinds.calls[index] = (id.clone(), waits);
                Piece::Call { id, name, waits }
            }
            Given::Arguments { index, json } => {
                let Some((id, waits)) = kinds.calls.get(index).cloned() else {
                    return false;
                };
                Piece::Arguments { id, json, waits }
            }
        };
        self.tell(Event::Delta(Delta {
            message_id: step.message_id,
            step_id: step.id,
            run_id: self.run.id,
            at: step.at,
            index,
            piece,
        }))
        .await;
        true
    }

    /// The calls of a reply that count, with the arguments that rules prescribe.
    pub(super) fn counted(&self, calls: Vec<ToolCall>, offered: &Offered) -> Vec<ToolCall> {
        let most = if self.allows_parallel_calls() {
            usize::MAX
        } else {
            1
        };
        let mut calls: Vec<ToolCall> = calls.into_iter().take(most).collect();
        for call in &mut calls {
            offered.prefill(call);
        }
        calls
    }
}

impl Kinds {
    /// Reasoning, text and calls are numbered in this order, by which of them are there.
    fn index_of(&mut self, given: &Given) -> u8 {
        match given {
            Given::Reasoning(_) => {
                self.reasoning = true;
                0
            }
            Given::Text(_) => {
                self.text = true;
                u8::from(self.reasoning)
            }
            Given::ToolCall { .. } | Given::Arguments { .. } => {
                u8::from(self.reasoning) + u8::from(self.text)
            }
        }
    }
}
