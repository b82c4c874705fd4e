//! The summary of what leaves a context: who is asked for it, and how.

use bulkhead_domain::{CompactionMode, LlmConfig, Message, Part, Timestamp};
use bulkhead_llm::{ChatMessage, ChatRequest, ToolChoice, catalog::settings};
use serde_json::Value;

use super::Job;
use crate::{
    AgentError, fallback,
    transcript::{CHARS_PER_TOKEN, chat_messages, plain},
};

const PROMPT: &str = "Summarise the conversation between a user and an AI agent that you are given. \
    The summary replaces it in the agent's view: keep facts, names, numbers, decisions, open \
    questions and promises, what tools were used for and what they gave, and what is to be done \
    next. Write plain sentences from the agent's point of view, without an introduction.";
const SELF_PROMPT: &str = "The conversation so far is about to leave your view. Write a summary of it \
    for yourself: facts, names, numbers, decisions, open questions and promises, what tools gave, and \
    what is to be done next. Answer with the summary alone.";

/// A summary, and the question that it answers.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) request_json: Value,
    pub(super) response_json: Value,
}

/// Asks for a summary: the model that the settings name or a small one, where there is one; then the
/// one that the thread's runs ask, and those that are asked where that one fails. Nobody hears of a
/// summary before it is whole, so that any failure is a reason to ask the next.
///
/// # Errors
///
/// What the first of them failed for, but for a small model that nobody named.
pub(super) async fn write(
    system: &str,
    evicted: &[Message],
    job: &Job<'_>,
) -> Result<Written, AgentError> {
    let inside = matches!(
        job.settings.mode,
        CompactionMode::SelfCompactAll | CompactionMode::SelfCompactSlidingWindow
    );
    let other = match &job.settings.model {
        _ if inside => None,
        Some(handle) => Some(job.engine.models().resolve(handle).await?),
        None => small_model(job).await,
    };
    let mut first = None;
    if let Some(other) = other.filter(|other| other.handle() != job.model.handle()) {
        match ask(job, other, system, evicted, false).await {
            Err(error) if !job.cancel.is_cancelled() => {
                tracing::info!(%error, "a model wrote no summary; the agent's own is asked");
                first = job.settings.model.is_some().then_some(error);
            }
            ended => return ended,
        }
    }
    let mut fallbacks = job.fallbacks.clone();
    let mut model = job.model.clone();
    loop {
        let error = match ask(job, model, system, evicted, inside).await {
            Ok(summary) => return Ok(summary),
            Err(error) if job.cancel.is_cancelled() => return Err(error),
            Err(error) => first.take().unwrap_or(error),
        };
        match fallback::next(job.engine, job.model, &mut fallbacks).await {
            Some((instead, _)) => {
                tracing::info!(%error, instead = instead.handle(), "the model wrote no summary; another one is asked");
                (model, first) = (instead, Some(error));
            }
            None => return Err(error),
        }
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
) -> Result<Written, AgentError> {
    let models = job.engine.models();
    let model = match &job.settings.model_settings {
        Some(settings) if !inside => with_settings(model, settings),
        _ => model,
    };
    let endpoint = models.endpoint(&model).await?;
    let at = Timestamp::now();
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
    let asked = (&request.config, &request.endpoint);
    let noted = job.engine.note_summary(&job.agent, asked, reply.usage, at);
    noted.await;
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
    Ok(Written {
        text,
        request_json: reply.request_json,
        response_json: reply.response_json,
    })
}

/// A model that is asked as the settings say. They are in the words of one provider: where they are
/// none of this one's, it is asked as usual.
fn with_settings(mut model: LlmConfig, own: &Value) -> LlmConfig {
    if let Err(error) = settings::apply(&mut model, own) {
        tracing::debug!(%error, model = model.handle(), "a model is asked for a summary without its settings");
    }
    model
}

/// The messages as text between marks, at most `most` bytes of it.
fn transcript(messages: &[Message], most: usize) -> String {
    let lines = plain(messages, most);
    format!("<start_transcript>\n{lines}<end_transcript>\n. Generate the summary.")
}

#[cfg(test)]
mod tests {
    use super::{super::tests::conversation, *};

    #[test]
    fn a_transcript_keeps_its_ends() {
        let text = transcript(&conversation(1_000), 2_000);
        assert!(text.len() < 2_200 && text.contains("question 0") && text.contains("answer 999"));
        assert!(text.starts_with("<start_transcript>\n[user] question 0\n[assistant] answer 0\n"));
    }
}
