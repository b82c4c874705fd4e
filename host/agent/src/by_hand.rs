//! What goes on in this process for an agent and is no run: a compaction or a call of a tool that a
//! client asked for. Whoever pauses or terminates the agent ends it.

use std::{collections::HashMap, sync::Arc};

use bulkhead_domain::id::AgentId;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// All of it, by numbers of its own.
#[derive(Default)]
pub(crate) struct ByHand(Arc<Mutex<Works>>);

#[derive(Default)]
struct Works {
    last: u64,
    going_on: HashMap<u64, Work>,
}

struct Work {
    agent_id: AgentId,
    cancel: CancellationToken,
    done: CancellationToken,
}

/// One that goes on. Dropping it says that it has ended.
pub(crate) struct Handwork {
    number: u64,
    works: Arc<Mutex<Works>>,
    pub(crate) cancel: CancellationToken,
}

impl Drop for Handwork {
    fn drop(&mut self) {
        if let Some(work) = self.works.lock().going_on.remove(&self.number) {
            work.done.cancel();
        }
    }
}

impl ByHand {
    /// Notes that something begins. Whoever asks afterwards whether the agent is active misses no
    /// [`ByHand::stop`].
    pub(crate) fn begin(&self, agent_id: AgentId, parent: &CancellationToken) -> Handwork {
        let cancel = parent.child_token();
        let mut works = self.0.lock();
        works.last += 1;
        let number = works.last;
        let work = Work {
            agent_id,
            cancel: cancel.clone(),
            done: CancellationToken::new(),
        };
        works.going_on.insert(number, work);
        Handwork {
            number,
            works: Arc::clone(&self.0),
            cancel,
        }
    }

    /// Cancels what goes on for an agent, and waits until it has ended.
    pub(crate) async fn stop(&self, agent_id: AgentId) {
        let done: Vec<CancellationToken> = {
            let works = self.0.lock();
            let of_agent = works.going_on.values();
            let of_agent = of_agent.filter(|work| work.agent_id == agent_id);
            of_agent
                .map(|work| {
                    work.cancel.cancel();
                    work.done.clone()
                })
                .collect()
        };
        for done in done {
            done.cancelled().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_goes_on_for_one_agent_is_cancelled_and_waited_for_and_nothing_else() {
        let works = ByHand::default();
        let root = CancellationToken::new();
        let (agent, other) = (AgentId::random(), AgentId::random());
        let (own, others) = (works.begin(agent, &root), works.begin(other, &root));
        let mut stopping = std::pin::pin!(works.stop(agent));
        assert!(futures::poll!(stopping.as_mut()).is_pending());
        assert!(own.cancel.is_cancelled() && !others.cancel.is_cancelled());
        drop(own);
        stopping.await;
        drop(others);
        works.stop(other).await;
        assert!(works.0.lock().going_on.is_empty());
    }
}
