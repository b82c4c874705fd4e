//! Runs that go on in this process: one at a time for each thread, and each can be cancelled.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use bulkhead_domain::id::{AgentId, ConversationId, RunId};
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// A thread of messages: an agent's default one, or one of its conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadKey {
    /// The agent.
    pub agent_id: AgentId,
    /// None for the default thread.
    pub conversation_id: Option<ConversationId>,
}

type Gate = tokio::sync::Mutex<()>;

/// All runs that go on, and the gates that they pass one by one.
#[derive(Default)]
pub(crate) struct ActiveRuns {
    gates: Mutex<HashMap<ThreadKey, Weak<Gate>>>,
    runs: Arc<Mutex<HashMap<RunId, Active>>>,
}

#[derive(Clone)]
struct Active {
    thread: ThreadKey,
    cancel: CancellationToken,
    /// Ends when the run has ended and all of it is stored.
    done: CancellationToken,
}

/// A run that goes on. Dropping it says that it has ended.
pub(crate) struct ActiveRun {
    run_id: RunId,
    runs: Arc<Mutex<HashMap<RunId, Active>>>,
    pub(crate) cancel: CancellationToken,
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        if let Some(active) = self.runs.lock().remove(&self.run_id) {
            active.done.cancel();
        }
    }
}

impl ActiveRuns {
    /// Notes a run; it can be cancelled from now on.
    pub(crate) fn begin(
        &self,
        run_id: RunId,
        thread: ThreadKey,
        parent: &CancellationToken,
    ) -> ActiveRun {
        let cancel = parent.child_token();
        let active = Active {
            thread,
            cancel: cancel.clone(),
            done: CancellationToken::new(),
        };
        self.runs.lock().insert(run_id, active);
        ActiveRun {
            run_id,
            runs: Arc::clone(&self.runs),
            cancel,
        }
    }

    /// Waits until no other run of the thread goes on, in the order of arrival.
    pub(crate) async fn enter(&self, thread: ThreadKey) -> OwnedMutexGuard<()> {
        let gate = {
            let mut gates = self.gates.lock();
            let known = gates.get(&thread).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                // Gates that nobody holds are forgotten now and then, so that the table follows
                // the number of busy threads and not of all that ever were.
                if gates.len() == gates.capacity() {
                    gates.retain(|_, gate| gate.strong_count() > 0);
                }
                let gate = Arc::new(Gate::default());
                gates.insert(thread, Arc::downgrade(&gate));
                gate
            })
        };
        gate.lock_owned().await
    }

    /// The runs of an agent, or of one of its conversations only.
    pub(crate) fn of(&self, agent_id: AgentId, conversation: Option<ConversationId>) -> Vec<RunId> {
        let runs = self.runs.lock();
        let of_thread = runs.iter().filter(|(_, active)| {
            active.thread.agent_id == agent_id
                && (conversation.is_none() || active.thread.conversation_id == conversation)
        });
        of_thread.map(|(id, _)| *id).collect()
    }

    /// All runs.
    pub(crate) fn all(&self) -> Vec<RunId> {
        self.runs.lock().keys().copied().collect()
    }

    /// Whether a run goes on in this thread.
    pub(crate) fn busy(&self, thread: ThreadKey) -> Option<RunId> {
        let runs = self.runs.lock();
        runs.iter()
            .find(|(_, active)| active.thread == thread)
            .map(|(id, _)| *id)
    }

    /// Cancels a run and gives what ends when it has ended; none if it does not go on here.
    pub(crate) fn cancel(&self, run_id: RunId) -> Option<CancellationToken> {
        let active = self.runs.lock().get(&run_id).cloned()?;
        active.cancel.cancel();
        Some(active.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> ThreadKey {
        ThreadKey {
            agent_id: AgentId::random(),
            conversation_id: None,
        }
    }

    #[tokio::test]
    async fn runs_of_one_thread_pass_one_by_one_and_others_do_not_wait() {
        let runs = ActiveRuns::default();
        let (one, other) = (thread(), thread());
        let held = runs.enter(one).await;
        drop(runs.enter(other).await);
        let mut second = std::pin::pin!(runs.enter(one));
        assert!(futures::poll!(second.as_mut()).is_pending());
        drop(held);
        drop(second.await);
    }

    #[tokio::test]
    async fn gates_of_threads_that_are_not_busy_are_forgotten() {
        let runs = ActiveRuns::default();
        for _ in 0..10_000 {
            drop(runs.enter(thread()).await);
        }
        assert!(runs.gates.lock().len() < 100);
    }

    #[test]
    fn a_run_can_be_cancelled_until_it_ends() {
        let runs = ActiveRuns::default();
        let (id, thread) = (RunId::random(), thread());
        let run = runs.begin(id, thread, &CancellationToken::new());
        assert_eq!(runs.of(thread.agent_id, None), [id]);
        let done = runs.cancel(id).expect("it goes on");
        assert!(run.cancel.is_cancelled() && !done.is_cancelled());
        drop(run);
        assert!(done.is_cancelled() && runs.cancel(id).is_none());
    }
}
