//! Runs that go on in this process: one at a time for each thread, and each can be cancelled.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use bulkhead_domain::{
    Run,
    id::{AgentId, ConversationId, RunId},
};
use bulkhead_store::ThreadFilter;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use crate::{AgentError, Engine, lease::Moment};

/// Runs of one thread at once: one works and the others wait, each with its input in memory.
/// Whoever sends so many messages to one agent does not wait for its answers.
const RUNS_OF_THREAD_MAX: usize = 100;
/// Runs of one server at once, those that wait included. Far more than it can work on.
const RUNS_MAX: usize = 10_000;

/// A thread of messages: an agent's default one, or one of its conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadKey {
    /// The agent.
    pub agent_id: AgentId,
    /// None for the default thread.
    pub conversation_id: Option<ConversationId>,
}

impl ThreadKey {
    /// The default thread of an agent.
    pub fn default_of(agent_id: AgentId) -> Self {
        Self {
            agent_id,
            conversation_id: None,
        }
    }

    /// Says that it is not there.
    pub(crate) fn missing(self) -> AgentError {
        match self.conversation_id {
            Some(id) => AgentError::NoConversation(id),
            None => AgentError::NoAgent(self.agent_id),
        }
    }
}

type Gate = tokio::sync::Mutex<()>;

/// One gate for each thread, which one after another passes, in the order of arrival.
#[derive(Default)]
struct Gates(Mutex<HashMap<ThreadKey, Weak<Gate>>>);

/// All runs that go on, and the gates that they pass one by one.
#[derive(Default)]
pub(crate) struct ActiveRuns {
    /// Of runs: one works at a time.
    gates: Gates,
    /// Of requests that must be alone in their thread: one looks at a time whether it is.
    doors: Gates,
    runs: Arc<Mutex<HashMap<RunId, Active>>>,
    /// Threads in which nothing begins.
    closed: Arc<Mutex<Vec<Threads>>>,
}

/// Threads of an agent.
type Threads = (AgentId, ThreadFilter);

/// Lets nothing begin in threads of an agent until it is dropped.
pub(crate) struct Closing {
    threads: Threads,
    closed: Arc<Mutex<Vec<Threads>>>,
}

impl Drop for Closing {
    fn drop(&mut self) {
        let mut closed = self.closed.lock();
        if let Some(at) = closed.iter().position(|threads| *threads == self.threads) {
            closed.swap_remove(at);
        }
    }
}

#[derive(Clone)]
struct Active {
    thread: ThreadKey,
    /// Whether it must be alone: another one that must be is refused meanwhile.
    alone: bool,
    cancel: CancellationToken,
    /// When it certainly had its turn among servers that share the database; none while it waits.
    turn: Option<Moment>,
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

/// Sees to it that a run which was begun and is not driven does not stay as one that goes on. It
/// goes on until that is stored.
pub(crate) struct Undriven(Option<(Engine, Run, Arc<ActiveRun>)>);

impl Undriven {
    pub(crate) fn new(engine: &Engine, run: &Run, active: &Arc<ActiveRun>) -> Self {
        Self(Some((engine.clone(), run.clone(), Arc::clone(active))))
    }

    /// The run is driven from now on, to an end that is stored.
    pub(crate) fn driven(mut self) {
        self.0 = None;
    }
}

impl Drop for Undriven {
    fn drop(&mut self) {
        if let Some((engine, run, active)) = self.0.take() {
            engine.give_up(run, active);
        }
    }
}

impl Gates {
    async fn enter(&self, thread: ThreadKey) -> OwnedMutexGuard<()> {
        let gate = {
            let mut gates = self.0.lock();
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
}

impl ActiveRuns {
    /// Notes a run; it can be cancelled from now on. Refused where its thread is closed, as one that
    /// is not there, and where too many wait already.
    pub(crate) fn begin(
        &self,
        run_id: RunId,
        thread: ThreadKey,
        alone: bool,
        parent: &CancellationToken,
    ) -> Result<ActiveRun, AgentError> {
        // Held until the run is noted: whoever closes its thread after this finds it.
        let closed = self.closed.lock();
        let is_meant = |(agent_id, threads): &Threads| {
            *agent_id == thread.agent_id && threads.has(thread.conversation_id)
        };
        if closed.iter().any(is_meant) {
            return Err(thread.missing());
        }
        let mut runs = self.runs.lock();
        if runs.len() >= RUNS_MAX {
            return Err(AgentError::TooManyRuns {
                what: "this server",
                limit: RUNS_MAX,
            });
        }
        // A thread can't have more than there are.
        let of_thread = || runs.values().filter(|active| active.thread == thread);
        if runs.len() >= RUNS_OF_THREAD_MAX && of_thread().count() >= RUNS_OF_THREAD_MAX {
            return Err(AgentError::TooManyRuns {
                what: match thread.conversation_id {
                    None => "this agent",
                    Some(_) => "this conversation",
                },
                limit: RUNS_OF_THREAD_MAX,
            });
        }
        let cancel = parent.child_token();
        let active = Active {
            thread,
            alone,
            cancel: cancel.clone(),
            turn: None,
            done: CancellationToken::new(),
        };
        runs.insert(run_id, active);
        Ok(ActiveRun {
            run_id,
            runs: Arc::clone(&self.runs),
            cancel,
        })
    }

    /// Lets nothing begin in threads of an agent as long as the answer is there.
    pub(crate) fn close(&self, agent_id: AgentId, threads: ThreadFilter) -> Closing {
        let threads = (agent_id, threads);
        self.closed.lock().push(threads);
        Closing {
            threads,
            closed: Arc::clone(&self.closed),
        }
    }

    /// Waits until no other run of the thread goes on, in the order of arrival.
    pub(crate) async fn enter(&self, thread: ThreadKey) -> OwnedMutexGuard<()> {
        self.gates.enter(thread).await
    }

    /// Waits until no other request looks whether it is alone in the thread, in the order of arrival.
    pub(crate) async fn door(&self, thread: ThreadKey) -> OwnedMutexGuard<()> {
        self.doors.enter(thread).await
    }

    /// The runs in threads of an agent.
    pub(crate) fn of(&self, agent_id: AgentId, threads: ThreadFilter) -> Vec<RunId> {
        let runs = self.runs.lock();
        let of_threads = runs.iter().filter(|(_, active)| {
            active.thread.agent_id == agent_id && threads.has(active.thread.conversation_id)
        });
        of_threads.map(|(id, _)| *id).collect()
    }

    /// All runs.
    pub(crate) fn all(&self) -> Vec<RunId> {
        self.runs.lock().keys().copied().collect()
    }

    /// Notes that a run had its turn at this moment.
    pub(crate) fn note_turn(&self, run_id: RunId, had: Moment) {
        if let Some(active) = self.runs.lock().get_mut(&run_id) {
            active.turn = Some(had);
        }
    }

    /// When a run had its turn, as far as it is known.
    pub(crate) fn turn(&self, run_id: RunId) -> Option<Moment> {
        self.runs.lock().get(&run_id).and_then(|active| active.turn)
    }

    /// The runs that had their turn and have not ended.
    pub(crate) fn working(&self) -> Vec<RunId> {
        let runs = self.runs.lock();
        let working = runs.iter().filter(|(_, active)| active.turn.is_some());
        working.map(|(id, _)| *id).collect()
    }

    /// The runs in one thread.
    pub(crate) fn of_thread(&self, thread: ThreadKey) -> Vec<RunId> {
        let runs = self.runs.lock();
        let of_thread = runs.iter().filter(|(_, active)| active.thread == thread);
        of_thread.map(|(id, _)| *id).collect()
    }

    /// Whether a run goes on in this thread.
    pub(crate) fn busy(&self, thread: ThreadKey) -> Option<RunId> {
        let runs = self.runs.lock();
        runs.iter()
            .find(|(_, active)| active.thread == thread)
            .map(|(id, _)| *id)
    }

    /// The run in this thread that must be alone there, if one does.
    pub(crate) fn alone(&self, thread: ThreadKey) -> Option<RunId> {
        let runs = self.runs.lock();
        runs.iter()
            .find(|(_, active)| active.thread == thread && active.alone)
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
        ThreadKey::default_of(AgentId::random())
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
        assert!(runs.gates.0.lock().len() < 100);
    }

    #[test]
    fn nothing_begins_in_a_closed_thread_until_it_is_open_again() {
        let runs = ActiveRuns::default();
        let own = thread();
        let other = ThreadKey {
            conversation_id: Some(ConversationId::random()),
            ..own
        };
        let begins = |thread| {
            let run = runs.begin(RunId::random(), thread, false, &CancellationToken::new());
            run.is_ok()
        };
        let closing = runs.close(own.agent_id, ThreadFilter::Default);
        assert!(!begins(own) && begins(other) && begins(thread()));
        let all = runs.close(own.agent_id, ThreadFilter::Any);
        assert!(!begins(own) && !begins(other));
        drop(all);
        assert!(!begins(own) && begins(other));
        drop(closing);
        assert!(begins(own));
    }

    #[test]
    fn so_many_runs_of_a_thread_and_of_a_server_go_on_or_wait_and_no_more() {
        let runs = ActiveRuns::default();
        let root = CancellationToken::new();
        let begin = |thread| runs.begin(RunId::random(), thread, false, &root);
        let of_one = thread();
        let mut held: Vec<_> = (0..RUNS_OF_THREAD_MAX)
            .map(|_| begin(of_one).expect("there is room"))
            .collect();
        let refused = begin(of_one).err().expect("there is none");
        assert!(refused.to_string().contains("this agent"), "{refused}");
        held.pop();
        held.push(begin(of_one).expect("one has ended"));
        held.push(begin(thread()).expect("others have room"));
        let others = (held.len()..RUNS_MAX).map(|_| {
            let active = Active {
                thread: thread(),
                alone: false,
                cancel: root.child_token(),
                turn: None,
                done: CancellationToken::new(),
            };
            (RunId::random(), active)
        });
        runs.runs.lock().extend(others);
        let refused = begin(thread()).err().expect("there is none");
        assert!(refused.to_string().contains("this server"), "{refused}");
        drop(held);
        assert!(begin(of_one).is_ok());
    }

    #[test]
    fn a_run_can_be_cancelled_until_it_ends() {
        let runs = ActiveRuns::default();
        let (id, thread) = (RunId::random(), thread());
        let run = runs.begin(id, thread, true, &CancellationToken::new());
        let run = run.expect("the thread is open");
        assert_eq!(runs.of(thread.agent_id, ThreadFilter::Any), [id]);
        assert_eq!(runs.alone(thread), Some(id));
        let done = runs.cancel(id).expect("it goes on");
        assert!(run.cancel.is_cancelled() && !done.is_cancelled());
        drop(run);
        assert!(done.is_cancelled() && runs.cancel(id).is_none());
    }
}
