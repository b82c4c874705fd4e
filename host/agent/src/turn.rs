//! Turns of runs on a database that several servers share.
//!
//! **Who has it.** The gate of a thread ([`crate::active`]) lets one run of this server pass at a time.
//! The turn, which stands in the database, is taken behind it: one run of all servers works on a
//! thread. It has it until its own server has stored its end, also after another server has
//! cancelled it. Of those that wait the oldest server's go first.
//!
//! **How it is lost.** Each server says now and then which runs it works on ([`crate::lease`]). Of one
//! that is killed, or can't reach the database, nothing is heard; after [`TURN_SILENCE`], by the
//! clock of the database, whoever waits takes its turn and in the same transaction puts its run out.
//!
//! **What the others believe, and why it is safe.** A server that has said a moment ago that it lives
//! knows that nobody took its turns. One that has not asks the database before it begins a step,
//! runs a tool or stores what came of them, and ends the run where another one works in its place.
//! What no clock can exclude (a pause between such a question and what follows it) the commit of a
//! step does: it is refused where the thread is not as it was read.

use std::time::{Duration, Instant};

use bulkhead_domain::{Run, RunStatus, id::RunId};
use bulkhead_store::{Ahead, Asking, StoreError, Turn, Why};
use tokio_util::sync::CancellationToken;

use crate::{AgentError, Engine, ThreadKey, lease::Moment};

/// After this long without a word from its server a turn counts no more: many times what a server
/// that lives is silent for, and what a person whose server was killed waits for at most.
pub const TURN_SILENCE: Duration = Duration::from_secs(5);
/// How soon a run looks again whether it is its turn, at least and at most. In between it is a part of
/// the time for which it has waited: most steps take longer than a look.
const LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// That part: so much is lost at most between the end of one run and the next one.
const LOOKS_PART: u32 = 4;
/// How soon a run that must be alone looks again: a client waits to hear whether it is.
const ALONE_LOOK: Duration = Duration::from_millis(200);
/// How long a run waits on although the database fails: as long as one that is started anew takes.
const FAILING_MOST: Duration = Duration::from_secs(30);
/// How long a request to cancel waits for the end of runs that other servers work on: some times what
/// they take to see it.
const SEEN: Duration = Duration::from_millis(1_000);
/// How often it looks whether that has ended.
const SEEN_LOOK: Duration = Duration::from_millis(20);
/// A server that was silent for this part of what makes it lose its turns has missed more than one
/// word, and is not waited for.
const SEEN_PART: u32 = 2;

/// What came of waiting for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The run has its turn.
    Turn,
    /// It was cancelled before.
    Cancelled,
    /// Another server has found it abandoned.
    Failed,
}

/// What came of asking to be alone in a thread.
pub(crate) enum Alone {
    /// The run has its turn, or has ended meanwhile.
    Yes,
    /// This one works on another server, which lives.
    Busy(RunId),
}

/// A run that waits for its turn.
struct Waiting<'a> {
    engine: &'a Engine,
    run: &'a Run,
    silence: Duration,
    has_asked: bool,
    /// Since when nobody works and older ones wait.
    free: Option<Instant>,
}

impl Engine {
    /// Waits for the turn of a run which has passed its gate. While the database fails it waits on for
    /// a while.
    pub(crate) async fn await_turn(
        &self,
        run: &Run,
        cancel: &CancellationToken,
    ) -> Result<Awaited, AgentError> {
        let Some(mut waiting) = self.waiting(run) else {
            return Ok(Awaited::Turn);
        };
        let began = Instant::now();
        let mut failing: Option<Instant> = None;
        loop {
            match waiting.ask().await {
                Ok(Turn::Taken) => return Ok(Awaited::Turn),
                Ok(Turn::Ended(ended)) if ended.status == RunStatus::Failed => {
                    return Ok(Awaited::Failed);
                }
                Ok(Turn::Ended(_)) => return Ok(Awaited::Cancelled),
                Ok(Turn::Behind(_)) => failing = None,
                Err(error) => {
                    let since = *failing.get_or_insert_with(Instant::now);
                    let is_gone = matches!(error, StoreError::NotFound { .. });
                    if is_gone || since.elapsed() > FAILING_MOST {
                        return Err(error.into());
                    }
                    tracing::debug!(run = %run.id, %error, "it is not known whose turn it is");
                }
            }
            let pause = (began.elapsed() / LOOKS_PART).clamp(LOOKS.0, LOOKS.1);
            let pause = cancel.run_until_cancelled(tokio::time::sleep(pause));
            if pause.await.is_none() {
                return Ok(Awaited::Cancelled);
            }
        }
    }

    /// Takes the turn for a run that must be alone in its thread, unless a run of a server that lives
    /// has it. Whether it lives shows when it says so again, or says nothing for too long. One that
    /// was cancelled is about to end, and is waited for.
    pub(crate) async fn turn_alone(
        &self,
        run: &Run,
        cancel: &CancellationToken,
    ) -> Result<Alone, AgentError> {
        let Some(mut waiting) = self.waiting(run) else {
            return Ok(Alone::Yes);
        };
        let mut first = None;
        loop {
            let ahead = match waiting.ask().await? {
                Turn::Taken | Turn::Ended(_) => return Ok(Alone::Yes),
                Turn::Behind(ahead) => ahead,
            };
            let now = (ahead.run_id, ahead.alive_at);
            if ahead.why == Why::Works && *first.get_or_insert(now) != now {
                return Ok(Alone::Busy(ahead.run_id));
            }
            let pause = tokio::time::sleep(ALONE_LOOK);
            if cancel.run_until_cancelled(pause).await.is_none() {
                return Ok(Alone::Yes);
            }
        }
    }

    /// None where no other server shares the database.
    fn waiting<'a>(&'a self, run: &'a Run) -> Option<Waiting<'a>> {
        self.turn_silence().map(|silence| Waiting {
            engine: self,
            run,
            silence,
            has_asked: false,
            free: None,
        })
    }

    /// Waits for a while until the servers that work on these runs have ended them, which were
    /// cancelled: what is sent next to a thread finds it as its run left it. Those of which nothing
    /// was heard lately are not waited for.
    pub(crate) async fn seen_elsewhere(&self, runs: &[RunId]) -> Result<(), AgentError> {
        let Some(silence) = self.turn_silence() else {
            return Ok(());
        };
        let heard = silence / SEEN_PART;
        let seen = async {
            while !self.store().ending_runs(runs, heard).await?.is_empty() {
                tokio::time::sleep(SEEN_LOOK).await;
            }
            Ok(())
        };
        tokio::time::timeout(SEEN, seen).await.unwrap_or(Ok(()))
    }
}

impl Waiting<'_> {
    /// Takes the turn if nobody is before this run. Who has asked once looks first whether somebody
    /// is, which locks nothing.
    async fn ask(&mut self) -> Result<Turn, StoreError> {
        let engine = self.engine;
        let own = engine.active().of_thread(ThreadKey {
            agent_id: self.run.agent_id,
            conversation_id: self.run.conversation_id,
        });
        let asking = Asking {
            run: self.run,
            own: &own,
            silence: self.silence,
            // Its server lives, and for some reason lets the turn lie.
            yields: self.free.is_none_or(|free| free.elapsed() < self.silence),
        };
        if std::mem::replace(&mut self.has_asked, true)
            && let Some(ahead) = engine.store().ahead(asking).await?
        {
            self.note(ahead);
            return Ok(Turn::Behind(ahead));
        }
        let asked = Moment::now();
        let turn = engine.store().take_turn(asking).await?;
        match &turn {
            Turn::Taken => engine.active().note_turn(self.run.id, asked),
            Turn::Behind(ahead) => self.note(*ahead),
            Turn::Ended(_) => {}
        }
        Ok(turn)
    }

    fn note(&mut self, ahead: Ahead) {
        match ahead.why {
            Why::Waits => {
                self.free.get_or_insert_with(Instant::now);
            }
            Why::Works | Why::Ends => self.free = None,
        }
    }
}
