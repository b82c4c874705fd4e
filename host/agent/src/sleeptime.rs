//! Agents that look after the memory of another one while it is idle (sleeptime).
//!
//! The commit that completes a request to an agent counts it and, when it is the turn of those that
//! look after its memory, stores a run for each of them, in the same transaction: a server that is
//! killed neither counts a request twice nor forgets one, and a run that it stored and never drove fails
//! like any other that was abandoned. What such a run is told is made afterwards: who it looks after,
//! and what was said since the last time.

use std::time::{Duration, Instant};

use bulkhead_domain::{
    Agent, Message, Role, Run,
    id::{AgentId, MessageId, RunId},
};
use bulkhead_store::{MessageFilter, PAGE_MAX, SleeptimeTurn, StoreError, ThreadFilter};

use crate::{
    AgentError, Begun, Engine, Incoming, Input, RunRequest, RunType,
    driver::Failed,
    transcript::{CHARS_PER_TOKEN, plain},
};

/// The share of its window that a transcript may fill, as a divisor: there must be room for the memory
/// and for what is done with it.
const WINDOW_SHARE: i64 = 2;
/// Bytes of a transcript, however large the window is.
const TRANSCRIPT_BYTES_MAX: usize = 512 << 10;

impl Engine {
    /// Sets the runs of a turn going, which are stored, and gives their ids. Nobody waits for them.
    pub(crate) fn look_after(&self, main: &Agent, turn: &SleeptimeTurn) -> Vec<RunId> {
        for run in &turn.runs {
            let (engine, turn, run) = (self.clone(), turn.clone(), run.clone());
            let (main_id, name) = (main.id, main.name.clone());
            let request = RunRequest {
                background: true,
                ..RunRequest::new(run.agent_id, RunType::Sleeptime)
            };
            // From now on it is known to go on here, and can be cancelled.
            let active = self
                .active()
                .begin(run.id, request.thread(), false, self.root());
            match active {
                Ok(active) => {
                    let begun = self.begun(request, run, active, Instant::now());
                    self.spawn(async move {
                        engine.take_turn((main_id, &name), &turn, begun).await;
                    });
                }
                Err(error) => self.spawn(async move {
                    engine.turn_failed(&run, Duration::ZERO, &error).await;
                }),
            }
        }
        turn.runs.iter().map(|run| run.id).collect()
    }

    /// Gives a run its input, and drives it in the background.
    async fn take_turn(&self, main: (AgentId, &str), turn: &SleeptimeTurn, mut begun: Begun) {
        match self.sleeptime_input(main, turn, begun.run.agent_id).await {
            Ok(input) => {
                begun.request.input = input;
                match self.background() {
                    Some(background) => background.drive(begun),
                    None => self.detach(begun),
                }
            }
            Err(error) => {
                let Begun {
                    run,
                    active,
                    began,
                    undriven,
                    ..
                } = begun;
                undriven.driven();
                self.turn_failed(&run, began.elapsed(), &error).await;
                drop(active);
            }
        }
    }

    /// Stores that a run failed before it had its turn in its thread.
    async fn turn_failed(&self, run: &Run, took: Duration, error: &AgentError) {
        let thread = crate::ThreadKey::default_of(run.agent_id);
        let failed = Failed {
            thread,
            run_id: run.id,
            is_whole: false,
            took,
            works: false,
        };
        failed.store(self.store(), error).await;
    }

    /// What an agent is told whose turn it is. Its own prompt is as the memory is by now.
    async fn sleeptime_input(
        &self,
        (main_id, name): (AgentId, &str),
        turn: &SleeptimeTurn,
        agent_id: AgentId,
    ) -> Result<Input, AgentError> {
        self.recompile_after_change(agent_id).await?;
        let agent = self.store().agent(&agent_id).await?;
        let agent = agent.ok_or(AgentError::NoAgent(agent_id))?;
        let room = agent.llm_config.context_window / WINDOW_SHARE * CHARS_PER_TOKEN;
        let room = usize::try_from(room).unwrap_or(0).min(TRANSCRIPT_BYTES_MAX);
        let said = self.said_between(main_id, turn.after, turn.until).await?;
        let text = task(main_id, name, &plain(&said, room));
        Ok(Input {
            decision: None,
            messages: vec![Incoming::text(Role::User, text)],
        })
    }

    /// What an agent heard and said in all its threads between these messages, the last one included:
    /// the newest [`PAGE_MAX`] of it at most. What else the system prompt and notices of the loop say is
    /// not among it.
    async fn said_between(
        &self,
        agent_id: AgentId,
        after: Option<MessageId>,
        until: Option<MessageId>,
    ) -> Result<Vec<Message>, AgentError> {
        let mut filter = MessageFilter {
            agent_id: Some(agent_id),
            thread: ThreadFilter::Any,
            after,
            newest: true,
            limit: Some(PAGE_MAX),
            ..MessageFilter::default()
        };
        let mut said = match self.store().messages(&filter).await {
            // The history was reset since.
            Err(StoreError::NotFound { .. }) if filter.after.is_some() => {
                filter.after = None;
                self.store().messages(&filter).await?
            }
            said => said?,
        };
        let last = until.and_then(|id| said.iter().position(|message| message.id == id));
        if let Some(last) = last {
            said.truncate(last + 1);
        }
        said.retain(is_said);
        Ok(said)
    }
}

/// Whether a message is part of what was said: system messages are where a request brought them.
fn is_said(message: &Message) -> bool {
    match message.role {
        Role::System => message.run_id.is_some(),
        Role::Summary => false,
        _ => true,
    }
}

/// What an agent is told that looks after the memory of another one.
fn task(main_id: AgentId, name: &str, transcript: &str) -> String {
    format!(
        "<system-reminder>\nYou look after the memory of the agent {name} ({main_id}), which does not \
         wait for you. Its blocks are yours too. What was said in its conversations since the last \
         time follows. Nobody reads what you answer: write into the blocks what will matter later, and \
         do not answer anybody who speaks in it. Call memory_finish_edits when the memory is as it \
         should be, also where nothing has to change.\n</system-reminder>\n\nMessages:\n{transcript}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_prompts_and_summaries_were_not_said() {
        let agent = AgentId::random();
        let mut said = Message::text(agent, Role::System, "from another agent");
        said.run_id = Some(RunId::random());
        assert!(is_said(&said) && is_said(&Message::text(agent, Role::User, "hello")));
        for role in [Role::System, Role::Summary] {
            assert!(!is_said(&Message::text(agent, role, "of the loop")));
        }
    }

    #[test]
    fn the_task_is_told_before_what_was_said() {
        let id = AgentId::random();
        let text = task(id, "Main", "[user] hello\n");
        let (reminder, messages) = text.split_once("\n\nMessages:\n").unwrap();
        assert!(
            reminder.starts_with("<system-reminder>\n") && reminder.ends_with("</system-reminder>")
        );
        assert!(reminder.contains(&id.to_string()) && messages == "[user] hello\n");
    }
}
