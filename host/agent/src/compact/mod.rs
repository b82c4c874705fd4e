//! Compaction: the oldest messages of a context are replaced by a summary of them.
//!
//! What is taken out stays in the history and can be searched. The cut is always before an answer
//! of the model, so that no result loses its call. The summary, the context without what it
//! replaces, and the system prompt of the moment are stored in one transaction.

mod summary;

use std::{collections::VecDeque, sync::Arc};

use bulkhead_domain::{
    Agent, CompactionMode, CompactionSettings, LlmConfig, Message, Part, Role, Timestamp, Trace,
    id::{RunId, StepId, TraceId},
};
use bulkhead_llm::{
    ToolSpec,
    catalog::tokens::{count, count_request},
};
use bulkhead_store::{StepCommit, StoreError, SystemContent};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentError, Engine,
    active::ThreadKey,
    asked::SUMMARIZATION,
    compiled_here,
    error::expect_active,
    fallback,
    pack::{self, CompactionStats},
    thread::Thread,
    transcript::chat_messages,
};

/// The share of the window that system prompt, summary and what stays should fill at most, so that
/// the next answer has room.
const FILL_MAX: f64 = 0.7;
/// By how much the evicted share grows where what stays is still too large.
const SHARE_STEP: f64 = 0.1;
/// Tokens that a summary is given room for.
const SUMMARY_TOKENS: i64 = 1_000;
/// What to compact with, and why.
pub(crate) struct Job<'a> {
    pub(crate) engine: &'a Engine,
    /// Whose thread it is.
    pub(crate) agent: Arc<Agent>,
    /// The model that the thread's runs ask now.
    pub(crate) model: &'a LlmConfig,
    /// Handles of the models that are asked where it fails.
    pub(crate) fallbacks: VecDeque<String>,
    /// Tokens that fit into the thread's own model: what the context is made short enough for.
    pub(crate) window: i64,
    pub(crate) settings: CompactionSettings,
    /// Why; none where a client asked for it.
    pub(crate) trigger: Option<&'static str>,
    /// Tokens of the context, where they are known.
    pub(crate) context_tokens: Option<i64>,
    pub(crate) run_id: Option<RunId>,
    pub(crate) step_id: Option<StepId>,
    pub(crate) cancel: CancellationToken,
}

/// A context that was made shorter.
pub(crate) struct Compacted {
    pub(crate) message: Message,
    pub(crate) summary: String,
    pub(crate) stats: CompactionStats,
    /// What the model that wrote the summary was sent and answered, where a step is its cause.
    pub(crate) trace: Option<Trace>,
}

/// What a client that asked for a compaction is told.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CompactionReport {
    /// The summary.
    pub summary: String,
    /// Messages in the context before, the system message included.
    pub num_messages_before: i64,
    /// And after.
    pub num_messages_after: i64,
}

impl Engine {
    /// Makes a thread's context shorter because a client asks for it; fields of `settings` count
    /// over those of the agent's.
    ///
    /// # Errors
    ///
    /// [`AgentError::Invalid`] for settings that there are not,
    /// [`AgentError::NothingToCompact`] where it would not get shorter, [`AgentError::Paused`] and
    /// [`AgentError::Terminated`], and failures of the model.
    #[compiled_here]
    pub async fn compact(
        &self,
        key: ThreadKey,
        settings: Map<String, Value>,
    ) -> Result<CompactionReport, AgentError> {
        let _gate = self.active().enter(key).await;
        let work = self.by_hand().begin(key.agent_id, self.root());
        let mut thread = Thread::load(self.store(), key).await?;
        expect_active(&thread.agent)?;
        if let Some(open) = thread.pending() {
            return Err(AgentError::PendingApproval(open.id));
        }
        let model = thread.model(&**self.models()).await?;
        let own = thread.agent.compaction_settings.clone().unwrap_or_default();
        let settings = own.overridden(settings);
        let settings = settings
            .map_err(|error| AgentError::Invalid(format!("compaction_settings: {error}")))?;
        let job = Job {
            engine: self,
            agent: Arc::clone(&thread.agent),
            model: &model,
            fallbacks: fallback::of(&thread.agent, &model),
            window: model.context_window,
            settings,
            trigger: None,
            context_tokens: None,
            run_id: None,
            step_id: None,
            cancel: work.cancel.clone(),
        };
        let compacted = match compact(&mut thread, job).await {
            Err(_) if work.cancel.is_cancelled() => {
                return Err(self.why_stopped(key).await);
            }
            compacted => compacted?,
        };
        Ok(CompactionReport {
            summary: compacted.summary,
            num_messages_before: compacted.stats.messages_count_before,
            num_messages_after: compacted.stats.messages_count_after,
        })
    }

    /// Who cancels a compaction pauses or terminates the agent, or ends the server.
    async fn why_stopped(&self, key: ThreadKey) -> AgentError {
        if self.root().is_cancelled() {
            return AgentError::Internal("the server ended during a compaction".to_owned());
        }
        let thread = Thread::load(self.store(), key).await;
        let active = thread.and_then(|thread| expect_active(&thread.agent));
        // It may be resumed by now.
        active.err().unwrap_or(AgentError::Paused(key.agent_id))
    }
}

/// Makes a context shorter and stores it.
pub(crate) async fn compact(thread: &mut Thread, job: Job<'_>) -> Result<Compacted, AgentError> {
    let system = thread.system.as_ref().map(Message::plain_text);
    let system = system.unwrap_or_default();
    let system_tokens = tokens(&system, &[], &[]);
    let window = job.window;
    if system_tokens > window {
        return Err(AgentError::SystemPromptTooLarge {
            tokens: system_tokens,
            window,
        });
    }
    let all = matches!(
        job.settings.mode,
        CompactionMode::All | CompactionMode::SelfCompactAll
    );
    let kept_from = match all {
        true => thread.context.len(),
        false => cut(
            &thread.context,
            job.settings.sliding_window_percentage,
            window,
            system_tokens,
        ),
    };
    // One message for one is no gain.
    if kept_from < 2 {
        return Err(AgentError::NothingToCompact);
    }
    let before_tokens = job
        .context_tokens
        .unwrap_or_else(|| tokens(&system, &thread.context, &[]));
    let written = summary::write(&system, &thread.context[..kept_from], &job).await?;
    let summary = clip(&written.text, job.settings.clip_chars);
    let mut stats = CompactionStats {
        trigger: job.trigger.unwrap_or("api").to_owned(),
        context_tokens_before: Some(before_tokens),
        context_tokens_after: None,
        context_window: window,
        messages_count_before: count_messages(thread),
        messages_count_after: 0,
    };
    let evicted = thread.context.drain(..kept_from).count();
    let now = Timestamp::now();
    let timezone = thread.agent.timezone.clone();
    let mut message = Message {
        conversation_id: thread.conversation_id(),
        run_id: job.run_id,
        step_id: job.step_id,
        created_at: now,
        ..Message::new(thread.agent.id, Role::Summary)
    };
    // The figures after it need the length of the text that holds them; the text without them is
    // near enough.
    let text = |stats: Option<&CompactionStats>| {
        let note = note(evicted, &summary, job.trigger.is_some());
        pack::summary(&note, now, &timezone, stats)
    };
    message.content = vec![Part::text(text(None))];
    thread.context.insert(0, message.clone());
    stats.context_tokens_after = Some(tokens(&system, &thread.context, &[]));
    stats.messages_count_after = count_messages(thread);
    message.content = vec![Part::text(text(job.trigger.is_some().then_some(&stats)))];
    thread.context[0] = message.clone();
    store(thread, &message, &job, now).await?;
    let trace = job.step_id.map(|step_id| Trace {
        id: TraceId::random(),
        step_id,
        agent_id: thread.agent.id,
        run_id: job.run_id,
        call_type: SUMMARIZATION.to_owned(),
        request_json: written.request_json,
        response_json: written.response_json,
        created_at: now,
    });
    Ok(Compacted {
        message,
        summary,
        stats,
        trace,
    })
}

async fn store(
    thread: &mut Thread,
    message: &Message,
    job: &Job<'_>,
    now: Timestamp,
) -> Result<(), AgentError> {
    let store = job.engine.store();
    if let Some(run_id) = job.run_id {
        job.engine.expect_turn(run_id).await?;
    }
    let mut commit = StepCommit::new(thread.agent.id, thread.conversation_id());
    commit.messages = vec![message.clone()];
    commit.context = Some(thread.context_change());
    commit.at = now;
    thread.reload_blocks(store).await?;
    let sections = thread.sections(store, now).await?;
    if let Some(system) = &mut thread.system {
        system.content = vec![Part::text(sections.text())];
        commit.system = Some(SystemContent {
            message_id: system.id,
            content: system.content.clone(),
        });
    }
    // A run is cancelled by who pauses its agent; this may be none.
    commit.expects_active = job.run_id.is_none();
    let stored = store.commit_step(&commit).await;
    stored.map_err(|error| match error {
        StoreError::AgentPaused { .. } => AgentError::Paused(thread.agent.id),
        StoreError::AgentTerminated { .. } => AgentError::Terminated(thread.agent.id),
        error => error.into(),
    })?;
    thread.stored();
    Ok(())
}

fn count_messages(thread: &Thread) -> i64 {
    let count = thread.context.len() + usize::from(thread.system.is_some());
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Estimated tokens of a context.
pub(crate) fn tokens(system: &str, messages: &[Message], tools: &[ToolSpec]) -> i64 {
    let counted = count_request(system, &chat_messages(messages), tools);
    i64::try_from(counted.total()).unwrap_or(i64::MAX)
}

/// How many of the oldest messages go: the share that was asked for, and more until what stays
/// leaves room for an answer. Zero where there is no place to cut.
fn cut(context: &[Message], share: f64, window: i64, system_tokens: i64) -> usize {
    let fits = |from: usize| {
        let kept = tokens("", &context[from..], &[]);
        let filled = (system_tokens + SUMMARY_TOKENS + kept) as f64;
        filled <= FILL_MAX * window as f64
    };
    let mut share = share.clamp(0.0, 1.0);
    let mut best = 0;
    while share < 1.0 + SHARE_STEP {
        // A share of a count of messages is no more than that count.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "see above"
        )]
        let target = (context.len() as f64 * share.min(1.0)).ceil() as usize;
        let place = (target..context.len()).find(|&at| at > 0 && may_cut(context, at));
        match place {
            Some(at) => {
                best = at;
                if fits(at) {
                    return at;
                }
            }
            // Nothing is left to cut before: all of it goes, if even the last part is too large.
            None if best == 0 || !fits(best) => {
                return if best == 0 && fits(0) {
                    0
                } else {
                    context.len()
                };
            }
            None => return best,
        }
        share += SHARE_STEP;
    }
    best
}

/// Whether the context may begin with this message: an answer of the model, whole.
fn may_cut(context: &[Message], at: usize) -> bool {
    let message = &context[at];
    let answers = message.role == Role::Assistant || message.is_approval_request();
    let before = at.checked_sub(1).and_then(|at| context.get(at));
    let same_step = before.is_some_and(|before| {
        before.step_id.is_some() && before.step_id == message.step_id && before.role != Role::User
    });
    answers && !same_step
}

/// What the model is told of the messages that are gone.
fn note(evicted: usize, summary: &str, automatic: bool) -> String {
    let (which, why) = match automatic {
        true => (format!("{evicted} messages"), "memory constraints"),
        false => (
            "prior messages".to_owned(),
            "conversation memory constraints",
        ),
    };
    format!(
        "Note: {which} from the beginning of the conversation have been hidden from view due to \
         {why}.\nThe following is a summary of the previous messages:\n {summary}"
    )
}

fn clip(text: &str, chars: Option<i64>) -> String {
    let most = chars.and_then(|chars| usize::try_from(chars).ok());
    match most.and_then(|most| text.char_indices().nth(most)) {
        Some((at, _)) => format!("{}... [summary truncated]", &text[..at]),
        None => text.to_owned(),
    }
}

/// Estimated tokens of a text.
pub(crate) fn text_tokens(text: &str) -> i64 {
    i64::try_from(count(text)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::id::AgentId;

    use super::*;

    pub(super) fn conversation(turns: usize) -> Vec<Message> {
        let agent = AgentId::random();
        let mut messages = Vec::new();
        for turn in 0..turns {
            messages.push(Message::text(agent, Role::User, format!("question {turn}")));
            messages.push(Message {
                step_id: Some(StepId::random()),
                ..Message::text(agent, Role::Assistant, format!("answer {turn}"))
            });
        }
        messages
    }

    #[test]
    fn the_oldest_share_goes_up_to_an_answer() {
        let context = conversation(10);
        let at = cut(&context, 0.3, 128_000, 100);
        assert_eq!((at, context[at].role), (7, Role::Assistant));
    }

    #[test]
    fn more_goes_where_what_stays_does_not_fit() {
        let context = conversation(50);
        let all = tokens("", &context, &[]);
        // Room for half of it beside the summary.
        let window = (SUMMARY_TOKENS + all / 2) * 10 / 7;
        assert!(cut(&context, 0.1, window, 0) > cut(&context, 0.1, window * 10, 0));
    }

    #[test]
    fn results_stay_with_their_calls() {
        let mut context = conversation(2);
        let step = context[1].step_id;
        let mut result = Message::new(context[0].agent_id, Role::Tool);
        result.step_id = step;
        context.insert(2, result);
        assert!(!may_cut(&context, 2) && may_cut(&context, 1) && !may_cut(&context, 0));
    }
}
