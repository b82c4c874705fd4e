//! Compaction: the oldest messages of a context are replaced by a summary of them.
//!
//! What is taken out stays in the history and can be searched. The cut is always before an answer
//! of the model, so that no result loses its call. The summary, the context without what it
//! replaces, and the system prompt of the moment are stored in one transaction.

use bulkhead_domain::{
    CompactionMode, CompactionSettings, LlmConfig, Message, Part, Role, Timestamp,
    id::{RunId, StepId},
};
use bulkhead_llm::{
    ChatMessage, ChatRequest, ToolChoice, ToolSpec,
    catalog::tokens::{count, count_request},
};
use bulkhead_store::{StepCommit, SystemContent};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentError, Engine,
    active::ThreadKey,
    error::expect_active,
    pack::{self, CompactionStats},
    thread::Thread,
    transcript::{CHARS_PER_TOKEN, chat_messages, plain},
};

/// The share of the window that system prompt, summary and what stays should fill at most, so that
/// the next answer has room.
const FILL_MAX: f64 = 0.7;
/// By how much the evicted share grows where what stays is still too large.
const SHARE_STEP: f64 = 0.1;
/// Tokens that a summary is given room for.
const SUMMARY_TOKENS: i64 = 1_000;

const PROMPT: &str = "Summarise the conversation between a user and an AI agent that you are given. \
    The summary replaces it in the agent's view: keep facts, names, numbers, decisions, open \
    questions and promises, what tools were used for and what they gave, and what is to be done \
    next. Write plain sentences from the agent's point of view, without an introduction.";
const SELF_PROMPT: &str = "The conversation so far is about to leave your view. Write a summary of it \
    for yourself: facts, names, numbers, decisions, open questions and promises, what tools gave, and \
    what is to be done next. Answer with the summary alone.";

/// What to compact with, and why.
pub(crate) struct Job<'a> {
    pub(crate) engine: &'a Engine,
    /// The thread's model.
    pub(crate) model: &'a LlmConfig,
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
    /// Makes a thread's context shorter because a client asks for it; `settings` replace the
    /// agent's own.
    ///
    /// # Errors
    ///
    /// [`AgentError::NothingToCompact`] where it would not get shorter, [`AgentError::Paused`] and
    /// [`AgentError::Terminated`], and failures of the model.
    pub async fn compact(
        &self,
        key: ThreadKey,
        settings: Option<CompactionSettings>,
    ) -> Result<CompactionReport, AgentError> {
        let _gate = self.active().enter(key).await;
        let mut thread = Thread::load(self.store(), key).await?;
        expect_active(&thread.agent)?;
        if let Some(open) = thread.pending() {
            return Err(AgentError::PendingApproval(open.id));
        }
        let model = thread.model(&**self.models()).await?;
        let settings = settings.or_else(|| thread.agent.compaction_settings.clone());
        let job = Job {
            engine: self,
            model: &model,
            settings: settings.unwrap_or_default(),
            trigger: None,
            context_tokens: None,
            run_id: None,
            step_id: None,
            cancel: self.root().child_token(),
        };
        let compacted = compact(&mut thread, job).await?;
        Ok(CompactionReport {
            summary: compacted.summary,
            num_messages_before: compacted.stats.messages_count_before,
            num_messages_after: compacted.stats.messages_count_after,
        })
    }
}

/// Makes a context shorter and stores it.
pub(crate) async fn compact(thread: &mut Thread, job: Job<'_>) -> Result<Compacted, AgentError> {
    let system = thread.system.as_ref().map(Message::plain_text);
    let system = system.unwrap_or_default();
    let system_tokens = tokens(&system, &[], &[]);
    let window = job.model.context_window;
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
    let summary = summarise(&system, &thread.context[..kept_from], &job).await?;
    let summary = clip(&summary, job.settings.clip_chars);
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
    Ok(Compacted {
        message,
        summary,
        stats,
    })
}

async fn store(
    thread: &mut Thread,
    message: &Message,
    job: &Job<'_>,
    now: Timestamp,
) -> Result<(), AgentError> {
    let store = job.engine.store();
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
    store.commit_step(&commit).await?;
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

/// Asks for a summary: a small model where there is one, and the agent's own otherwise.
async fn summarise(system: &str, evicted: &[Message], job: &Job<'_>) -> Result<String, AgentError> {
    let own = matches!(
        job.settings.mode,
        CompactionMode::SelfCompactAll | CompactionMode::SelfCompactSlidingWindow
    );
    if own {
        return ask(job, job.model.clone(), system, evicted, true).await;
    }
    let other = match &job.settings.model {
        Some(handle) => Some(job.engine.models().resolve(handle).await?),
        None => small_model(job).await,
    };
    let other = other.filter(|other| other.handle() != job.model.handle());
    match other {
        Some(model) => match ask(job, model, system, evicted, false).await {
            Err(AgentError::Llm(error)) if job.settings.model.is_none() => {
                tracing::debug!(%error, "the small model wrote no summary; the agent's own is asked");
                ask(job, job.model.clone(), system, evicted, false).await
            }
            summary => summary,
        },
        None => ask(job, job.model.clone(), system, evicted, false).await,
    }
}

/// A small model of the agent's provider, where that provider has it.
async fn small_model(job: &Job<'_>) -> Option<LlmConfig> {
    let name = match job.model.model_endpoint_type.as_str() {
        "openai" => "gpt-5-mini",
        "anthropic" => "claude-haiku-4-5",
        "google_ai" => "gemini-2.5-flash",
        _ => return None,
    };
    let provider = job.model.provider_name.as_deref()?;
    let handle = format!("{provider}/{name}");
    job.engine.models().resolve(&handle).await.ok()
}

async fn ask(
    job: &Job<'_>,
    model: LlmConfig,
    system: &str,
    evicted: &[Message],
    inside: bool,
) -> Result<String, AgentError> {
    let models = job.engine.models();
    let endpoint = models.endpoint(&model).await?;
    let prompt = job.settings.prompt.as_deref();
    let (system, messages) = if inside {
        let mut messages = chat_messages(evicted);
        let prompt = prompt.unwrap_or(SELF_PROMPT).to_owned();
        messages.push(ChatMessage::User(vec![Part::text(prompt)]));
        (system.to_owned(), messages)
    } else {
        let most = model.context_window.saturating_mul(CHARS_PER_TOKEN);
        let text = transcript(evicted, usize::try_from(most).unwrap_or(usize::MAX));
        let mut messages = Vec::new();
        if job.settings.prompt_acknowledgement {
            messages.push(ChatMessage::User(vec![Part::text(
                "You are about to be given a transcript.",
            )]));
            messages.push(ChatMessage::Assistant {
                content: vec![Part::text(
                    "Understood. I will answer with the summary alone.",
                )],
                tool_calls: Vec::new(),
                model: None,
            });
        }
        messages.push(ChatMessage::User(vec![Part::text(text)]));
        (prompt.unwrap_or(PROMPT).to_owned(), messages)
    };
    let request = ChatRequest {
        config: model,
        endpoint,
        system,
        messages,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: false,
        user: None,
        script: None,
    };
    let reply = tokio::select! {
        biased;
        () = job.cancel.cancelled() => {
            return Err(AgentError::Internal("the run was cancelled".to_owned()));
        }
        reply = models.chat(&request, None) => reply.map_err(AgentError::Llm)?,
    };
    let mut text = String::new();
    for part in &reply.content {
        if let Part::Text { text: piece, .. } = part {
            text.push_str(piece);
        }
    }
    if text.trim().is_empty() {
        return Err(AgentError::UnusableReply(
            "The model wrote no summary".to_owned(),
        ));
    }
    Ok(text)
}

/// The messages as text between marks, at most `most` bytes of it.
fn transcript(messages: &[Message], most: usize) -> String {
    let lines = plain(messages, most);
    format!("<start_transcript>\n{lines}<end_transcript>\n. Generate the summary.")
}

/// Estimated tokens of a text.
pub(crate) fn text_tokens(text: &str) -> i64 {
    i64::try_from(count(text)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::id::AgentId;

    use super::*;

    fn conversation(turns: usize) -> Vec<Message> {
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

    #[test]
    fn a_transcript_keeps_its_ends() {
        let text = transcript(&conversation(1_000), 2_000);
        assert!(text.len() < 2_200 && text.contains("question 0") && text.contains("answer 999"));
        assert!(text.starts_with("<start_transcript>\n[user] question 0\n[assistant] answer 0\n"));
    }
}
