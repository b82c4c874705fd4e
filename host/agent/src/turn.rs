//! Turns of runs on a database that several servers share.
//!
//! The gate of a thread lets one run of this server pass at a time. The turn, which stands in the
//! database, is taken behind it: one run of all servers works on a thread. It counts as long as its
//! server says now and then that it works on the run, so that one that is killed holds nobody up for
//! long. Whatever the clocks say, a step is stored only where the thread is as it was read.

use std::time::Duration;

use bulkhead_domain::{Run, Timestamp, id::RunId};
use bulkhead_store::Turn;
use tokio_util::sync::CancellationToken;

use crate::{AgentError, Engine, ThreadKey};

/// After this long without a word from its server a turn counts no more: many times what a server
/// that lives is silent for, and what a person whose server was killed waits for at most.
pub const TURN_SILENCE: Duration = Duration::from_secs(5);
/// How soon a run looks again whether it is its turn, at first and at most: most steps take longer.
const LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));
/// How long a request to cancel waits for the end of runs that other servers work on, which look twice
/// a second.
const SEEN: Duration = Duration::from_millis(1_500);
/// How often it looks whether that has ended.
const SEEN_LOOK: Duration = Duration::from_millis(20);

/// What came of asking to be alone in a thread.
pub(crate) enum Alone {
    /// The run has its turn, or was cancelled meanwhile.
    Yes,
    /// This one works on another server, which lives.
    Busy(RunId),
}

impl Engine {
    /// Waits for the turn of a run which has passed its gate. False if it was cancelled before.
    pub(crate) async fn await_turn(
        &self,
        run: &Run,
        cancel: &CancellationToken,
    ) -> Result<bool, AgentError> {
        let mut pause = LOOKS.0;
        loop {
            match self.ask_for_turn(run).await? {
                Turn::Taken => return Ok(true),
                Turn::Ended => return Ok(false),
                Turn::Of { .. } => {}
            }
            if cancel
                .run_until_cancelled(tokio::time::sleep(pause))
                .await
                .is_none()
            {
                return Ok(false);
            }
            pause = (pause * 2).min(LOOKS.1);
        }
    }

    /// Takes the turn for a run that must be alone in its thread, unless a run of a server that lives
    /// has it. Whether it lives shows when it says so again, or says nothing for too long.
    pub(crate) async fn turn_alone(
        &self,
        run: &Run,
        cancel: &CancellationToken,
    ) -> Result<Alone, AgentError> {
        let mut first = None;
        loop {
            let now = match self.ask_for_turn(run).await? {
                Turn::Taken | Turn::Ended => return Ok(Alone::Yes),
                Turn::Of { run_id, alive_at } => (run_id, alive_at),
            };
            if *first.get_or_insert(now) != now {
                return Ok(Alone::Busy(now.0));
            }
            let pause = tokio::time::sleep(LOOKS.1);
            if cancel.run_until_cancelled(pause).await.is_none() {
                return Ok(Alone::Yes);
            }
        }
    }

    async fn ask_for_turn(&self, run: &Run) -> Result<Turn, AgentError> {
        let Some(silence) = self.turn_silence() else {
            return Ok(Turn::Taken);
        };
        let own = self.active().of_thread(ThreadKey {
            agent_id: run.agent_id,
            conversation_id: run.conversation_id,
        });
        let silence = i64::try_from(silence.as_micros()).unwrap_or(i64::MAX);
        let since = Timestamp::now().micros().saturating_sub(silence);
        let since = Timestamp::from_micros(since);
        Ok(self.store().take_turn(run, &own, since).await?)
    }

    /// Waits for a while until the servers that work on these runs have seen that they were cancelled:
    /// they say how long each took. What is sent next to a thread finds it as its run left it.
    pub(crate) async fn seen_elsewhere(&self, runs: &[RunId]) -> Result<(), AgentError> {
        if self.turn_silence().is_none() {
            return Ok(());
        }
        let seen = async {
            for run_id in runs {
                let goes_on = |run: Run| run.total_duration_ns.is_none();
                while self.store().run(run_id).await?.is_some_and(goes_on) {
                    tokio::time::sleep(SEEN_LOOK).await;
                }
            }
            Ok(())
        };
        // Nobody says so of a server that was killed.
        tokio::time::timeout(SEEN, seen).await.unwrap_or(Ok(()))
    }
}
