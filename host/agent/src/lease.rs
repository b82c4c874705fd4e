//! What a server says of its runs to those that share the database with it, and what it may believe of
//! their turns without asking: see [`crate::turn`].

use std::time::{Duration, Instant};

use bulkhead_domain::{Timestamp, id::RunId};
use parking_lot::Mutex;

use crate::{AgentError, Engine, compiled_here};

/// A server that was silent for this part of what makes it lose its turns asks whether it has them
/// still. It says a word each second, and of a run that is locked at that moment none: so the pause
/// between two words that count may be three times that between two words.
const SURE_PART: u32 = 3;
/// The part of the silence within which the database must take such a word.
const SAID_PART: u32 = 2;
/// The same where nobody waits for it.
const SAID_UNSHARED: Duration = Duration::from_secs(10);

/// A moment by two clocks. That of the process stands still while the machine sleeps, and that of the
/// machine may be set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    instant: Instant,
    at: Timestamp,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self {
            instant: Instant::now(),
            at: Timestamp::now(),
        }
    }

    /// The time that has passed since an earlier moment, by the clock by which it was longer.
    fn since(self, earlier: Self) -> Duration {
        let micros = self.at.micros().saturating_sub(earlier.at.micros());
        let by_machine = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
        let by_process = self.instant.saturating_duration_since(earlier.instant);
        by_process.max(by_machine)
    }
}

/// When this server has said that it works on its runs.
#[derive(Debug, Default)]
pub(crate) struct Said(Mutex<Option<Unbroken>>);

/// Words that came one soon after another.
#[derive(Debug, Clone, Copy)]
struct Unbroken {
    first: Moment,
    last: Moment,
}

impl Said {
    /// Notes that it was said at this moment of all runs that went on then.
    fn note(&self, now: Moment, pause_most: Duration) {
        let mut said = self.0.lock();
        let before = said.filter(|said| now.since(said.last) < pause_most);
        *said = Some(Unbroken {
            first: before.map_or(now, |said| said.first),
            last: now,
        });
    }

    /// Whether nobody can have taken since the turn of a run that had it at a moment: something was
    /// said all the time.
    fn covers(&self, had: Moment, now: Moment, pause_most: Duration) -> bool {
        let soon = |later: Moment, earlier| later.since(earlier) < pause_most;
        let said = *self.0.lock();
        soon(now, had) || said.is_some_and(|said| soon(said.first, had) && soon(now, said.last))
    }
}

impl Engine {
    /// Says in the database that this server works on its runs. Where others share it, this is said
    /// much more often than each [`crate::TURN_SILENCE`].
    ///
    /// # Errors
    ///
    /// Failures of the database, and where it takes too long.
    #[compiled_here]
    pub async fn say_alive(&self) -> Result<(), AgentError> {
        let silence = self.turn_silence();
        let most = silence.map_or(SAID_UNSHARED, |silence| silence / SAID_PART);
        let now = Moment::now();
        let running = self.running();
        if !running.is_empty() {
            self.store().keep_runs_alive(&running, most).await?;
        }
        if let Some(silence) = silence {
            self.said().note(now, silence / SURE_PART);
        }
        Ok(())
    }

    /// Cancels the runs that go on here and that another server has cancelled, found abandoned, or
    /// put out of their turn, and those whose agent another one has paused or terminated: it may have
    /// ended before it cancelled them.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    #[compiled_here]
    pub async fn heed_others(&self) -> Result<(), AgentError> {
        let running = self.running();
        if running.is_empty() {
            return Ok(());
        }
        let working = self.active().working();
        for run_id in self.store().stopped_runs(&running, &working).await? {
            self.cancel_run(run_id);
        }
        Ok(())
    }

    /// Fails where another server may have begun to work in the place of a run that works here. It
    /// costs nothing as long as this server says that it lives.
    ///
    /// # Errors
    ///
    /// [`AgentError::TurnLost`], and failures of the database where it must be asked.
    pub(crate) async fn expect_turn(&self, run_id: RunId) -> Result<(), AgentError> {
        let Some(silence) = self.turn_silence() else {
            return Ok(());
        };
        let now = Moment::now();
        let had = self.active().turn(run_id);
        if had.is_some_and(|had| self.said().covers(had, now, silence / SURE_PART)) {
            return Ok(());
        }
        if !self.store().keep_turn(&run_id).await? {
            return Err(AgentError::TurnLost);
        }
        self.active().note_turn(run_id, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(2);

    fn after(moment: Moment, seconds: u64) -> Moment {
        Moment {
            instant: moment.instant + Duration::from_secs(seconds),
            at: moment.at,
        }
    }

    #[test]
    fn a_turn_is_sure_as_long_as_something_is_said_all_the_time() {
        let said = Said::default();
        let had = Moment::now();
        assert!(said.covers(had, after(had, 1), PAUSE), "it was just taken");
        assert!(!said.covers(had, after(had, 2), PAUSE), "nothing was said");
        for second in 1..9 {
            said.note(after(had, second), PAUSE);
            assert!(said.covers(had, after(had, second + 1), PAUSE), "{second}");
        }
        assert!(!said.covers(had, after(had, 10), PAUSE), "nothing any more");
        // A word after a pause says nothing of what came before.
        said.note(after(had, 11), PAUSE);
        assert!(!said.covers(had, after(had, 12), PAUSE));
        assert!(said.covers(after(had, 10), after(had, 12), PAUSE));
        assert!(said.covers(after(had, 11), after(had, 12), PAUSE));
    }

    #[test]
    fn a_machine_that_slept_was_silent() {
        let said = Said::default();
        let before = Moment::now();
        said.note(before, PAUSE);
        let woken = Moment {
            instant: before.instant,
            at: Timestamp::from_micros(before.at.micros() + 3_000_000),
        };
        assert!(!said.covers(before, woken, PAUSE));
        // A clock that was set back changes nothing.
        let set_back = Moment {
            at: Timestamp::from_micros(0),
            ..after(before, 1)
        };
        assert!(said.covers(before, set_back, PAUSE));
        assert!(!said.covers(before, after(set_back, 2), PAUSE));
    }
}
