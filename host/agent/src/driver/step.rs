//! One step: a question to the model, the tools of its reply, and one transaction with all of it.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use bulkhead_domain::{
    Message, Part, Receipt, Role, StopReason, Timestamp, ToolCall, ToolReturn, Usage,
    id::{BlockId, MessageId, StepId},
};
use bulkhead_llm::{ChatReply, Finish};

use super::{
    Driver, Flow,
    ask::{Asked, Begun},
    end::is_deleted,
    still_required,
};
use crate::{
    AgentError,
    answer::{Answer, Reply},
    asked::nanos,
    compact,
    event::Shown,
    legacy, pack,
    toolset::Offered,
};

/// The share of the window from which on the context is made shorter after a step.
const SHRINK_ABOVE: f64 = 0.9;

/// A reply, taken apart.
struct Taken {
    content: Vec<Part>,
    calls: Vec<ToolCall>,
    /// Whether an older type asked to go on.
    heartbeat: bool,
}

/// What one step gives, to be stored together.
#[derive(Default)]
pub(super) struct Gathered {
    /// In the order in which they are stored, after the input.
    pub(super) messages: Vec<Message>,
    pub(super) receipts: Vec<(String, Receipt)>,
    pub(super) tools: Duration,
    pub(super) memory_changed: bool,
    /// Of the changed memory what other threads and agents may have too.
    pub(super) shared_blocks: BTreeSet<BlockId>,
    /// Whether a call ran that ends the loop.
    pub(super) exits: bool,
}

impl Driver {
    /// One step.
    pub(super) async fn step(&mut self, is_last: bool) -> Result<Flow, AgentError> {
        self.expect_turn().await?;
        let began = Instant::now();
        let step = Begun {
            id: StepId::random(),
            message_id: MessageId::random(),
            at: Timestamp::now(),
        };
        let offered = self.tools.offered(&self.history);
        let asked = match self.ask(&step, &offered).await {
            Ok(asked) => asked,
            // Whatever broke off, such as the writing of a summary, broke off for this.
            Err(_) if self.cancel().is_cancelled() => Asked::Cancelled(None),
            Err(error) => {
                self.steps += 1;
                let took = began.elapsed();
                let nothing = (Usage::default(), Vec::new());
                self.store_failed_step(&step, nothing, &error, took).await;
                return Err(error);
            }
        };
        let (mut reply, told) = match asked {
            Asked::Answered(reply, told) => (reply, told),
            Asked::Cancelled(None) => return self.end_cancelled().await.map(Flow::Stop),
            Asked::Cancelled(Some(mut reply)) => {
                self.steps += 1;
                self.usage += reply.usage;
                self.note_trace(step.id, &mut reply);
                let ended = self.end_unheard(&step, reply.usage, began.elapsed());
                return ended.await.map(Flow::Stop);
            }
        };
        self.note_trace(step.id, &mut reply);
        let asked_for = began.elapsed();
        self.steps += 1;
        self.usage += reply.usage;
        self.logprobs.clone_from(&reply.logprobs);
        if self.ttft_ns.is_none() {
            self.ttft_ns = Some(nanos(self.began.elapsed()));
        }
        let taken = match self.take_apart(&reply, &offered) {
            Ok(taken) => taken,
            Err(error) => {
                let (took, used) = (began.elapsed(), (reply.usage, Vec::new()));
                self.store_failed_step(&step, used, &error, took).await;
                return Err(error);
            }
        };
        let heartbeat = taken.heartbeat;
        let (waiting, running): (Vec<_>, Vec<_>) = taken
            .calls
            .into_iter()
            .partition(|call| self.tools.waits(&offered, &call.name));
        let answer = Answer::of(
            Reply {
                message_id: step.message_id,
                content: taken.content,
                running: running.clone(),
                waiting,
                model: reply.model.clone(),
                at: step.at,
                in_pieces: told,
            },
            &Message {
                step_id: Some(step.id),
                ..self.frame(Role::Assistant)
            },
        );
        let shown = if told { Shown::InPieces } else { Shown::Not };
        let mut gathered = Gathered::default();
        gathered.messages.extend(answer.messages().cloned());
        for message in answer.messages() {
            self.show(message, shown).await;
        }
        if self.has_gap {
            // Its listener did not hear all of the answer, because the run was cancelled.
            let ended = self.end_unheard(&step, reply.usage, began.elapsed());
            return ended.await.map(Flow::Stop);
        }
        let flow = if answer.waiting.is_some() {
            Flow::Stop(StopReason::RequiresApproval)
        } else if running.is_empty() {
            self.after_text(&reply, is_last, &step, &mut gathered)
        } else {
            let returns = self
                .execute(&running, &offered, step.id, &mut gathered)
                .await;
            self.after_tools(
                &running,
                &returns,
                heartbeat,
                is_last,
                step.id,
                &mut gathered,
            )
        };
        let record = self.step_record(&step, &reply, flow, asked_for, began.elapsed(), &gathered);
        let stored = self.store_step(&step, record, &mut gathered, flow);
        let committed = match stored.await {
            Ok(committed) => committed,
            Err(error) => {
                if !is_deleted(&error) {
                    // Nothing of it is in the history, and it was paid for.
                    let (took, used) = (began.elapsed(), (reply.usage, gathered.receipts));
                    self.store_failed_step(&step, used, &error, took).await;
                }
                return Err(error);
            }
        };
        let flow = self.stored_step(flow, &committed, &gathered).await?;
        self.shrink_if_full(&reply, &offered, &step, flow).await;
        Ok(flow)
    }

    /// Thoughts, text and calls of a reply.
    fn take_apart(&self, reply: &ChatReply, offered: &Offered) -> Result<Taken, AgentError> {
        let calls = self.counted(reply.tool_calls.clone(), offered);
        let mut taken = Taken {
            content: reply.content.clone(),
            calls: Vec::with_capacity(calls.len()),
            heartbeat: false,
        };
        if !self.agent().agent_type.is_legacy() {
            taken.calls = calls;
            return Ok(taken);
        }
        if calls.is_empty() {
            return Err(AgentError::UnusableReply(
                "No tool calls found in response, model must make a tool call".to_owned(),
            ));
        }
        // What such a model writes beside its call is a thought.
        taken.content = taken.content.into_iter().map(as_thought).collect();
        for call in calls {
            let part = legacy::take(call);
            taken.content.extend(part.thinking);
            taken.heartbeat |= part.heartbeat;
            taken.calls.push(part.call);
        }
        Ok(taken)
    }

    /// What follows a reply without calls.
    fn after_text(
        &self,
        reply: &ChatReply,
        is_last: bool,
        step: &Begun,
        gathered: &mut Gathered,
    ) -> Flow {
        if reply.finish == Finish::Length {
            return Flow::Stop(StopReason::MaxTokensExceeded);
        }
        let missing = self
            .tools
            .book()
            .missing_before_exit(self.tools.names(), &self.history);
        if missing.is_empty() {
            return Flow::Stop(StopReason::EndTurn);
        }
        gathered
            .messages
            .push(self.notice(&still_required(&missing, self.agent()), step.id));
        if is_last {
            return Flow::Stop(StopReason::MaxSteps);
        }
        Flow::On
    }

    /// What follows the calls of a reply.
    pub(super) fn after_tools(
        &self,
        calls: &[ToolCall],
        returns: &[ToolReturn],
        heartbeat: bool,
        is_last: bool,
        step_id: StepId,
        gathered: &mut Gathered,
    ) -> Flow {
        if self.cancel().is_cancelled() {
            return Flow::Stop(StopReason::Cancelled);
        }
        let book = self.tools.book();
        let exits = gathered.exits;
        let is_legacy = self.agent().agent_type.is_legacy();
        let failed = returns
            .iter()
            .any(|returned| returned.status == bulkhead_domain::ToolStatus::Error);
        let continues = calls.iter().any(|call| book.continues(&call.name));
        let ends = match is_legacy {
            false => exits,
            // A call of such a type goes on only where something asks for it.
            true => (exits && !failed) || !(heartbeat || continues || failed),
        };
        let missing = book.missing_before_exit(self.tools.names(), &self.history);
        if ends && missing.is_empty() {
            return Flow::Stop(match is_legacy {
                true => StopReason::EndTurn,
                false => StopReason::ToolRule,
            });
        }
        if ends {
            gathered
                .messages
                .push(self.notice(&still_required(&missing, self.agent()), step_id));
        }
        if is_last {
            return Flow::Stop(StopReason::MaxSteps);
        }
        if is_legacy && !ends {
            let reason = match failed {
                true => "Function call failed, returning control",
                false => "Function called using request_heartbeat=true, returning control",
            };
            let notice = pack::heartbeat(reason, Timestamp::now(), &self.agent().timezone);
            gathered.messages.push(self.notice(&notice, step_id));
        }
        Flow::On
    }

    /// A notice to the model in a person's place.
    fn notice(&self, text: &str, step_id: StepId) -> Message {
        Message {
            content: vec![Part::text(text)],
            step_id: Some(step_id),
            ..self.frame(Role::User)
        }
    }

    /// Makes the context shorter where it fills most of the window. That it could not be done now
    /// is no reason to fail a step that is stored: the next one tries again.
    async fn shrink_if_full(
        &mut self,
        reply: &ChatReply,
        offered: &Offered,
        step: &Begun,
        flow: Flow,
    ) {
        let window = self.own_model().context_window as f64;
        let filled = match reply.usage.total_tokens {
            // An endpoint that reports no usage. The estimate is for this alone; nobody is billed it.
            0 => compact::tokens(&self.system, &self.thread.context, &offered.specs),
            reported => reported,
        };
        self.context_tokens = Some(filled);
        let is_full = filled as f64 > SHRINK_ABOVE * window;
        let waits = matches!(
            flow,
            Flow::Stop(StopReason::RequiresApproval | StopReason::Cancelled)
        );
        if !is_full || waits || self.cancel().is_cancelled() {
            return;
        }
        if let Err(error) = self
            .shrink("post_step_context_check", Some(step.id), 0)
            .await
        {
            tracing::warn!(agent = %self.request.agent_id, %error, "a full context was not made shorter");
        }
        for trace in std::mem::take(&mut self.traces) {
            if let Err(error) = self.store.add_trace(&trace).await {
                tracing::warn!(step = %step.id, %error, "a summary's trace was not stored");
            }
        }
    }
}

/// Text of a model that speaks by a tool only.
fn as_thought(part: Part) -> Part {
    match part {
        Part::Text { text, signature } => Part::Reasoning {
            is_native: false,
            reasoning: text,
            signature,
        },
        other => other,
    }
}
