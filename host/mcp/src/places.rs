//! How many operations go on at once: with all servers, with one, and for one agent, so that neither
//! a server that never answers nor an agent that asks without end takes all places.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::McpError;

/// Operations at once. Each may hold an answer of some megabytes.
const AT_ONCE: usize = 64;
/// Operations at once with one server, so that one that never answers leaves places for others.
const AT_ONCE_WITH_ONE: usize = 16;
/// Operations at once for one agent: half of what one server takes, so that two agents can use it.
const AT_ONCE_FOR_ONE: usize = 8;
/// Servers and agents whose places are remembered before those that nobody holds are forgotten.
const BUSY_MAX: usize = 2000;
/// How long an operation waits for its place.
const PLACE_TIMEOUT: Duration = Duration::from_secs(20);

/// The places.
pub(crate) struct Places {
    patience: Duration,
    all: Arc<Semaphore>,
    with_one: Mutex<Known>,
    for_one: Mutex<Known>,
}

/// Places with each server or for each agent, as long as somebody holds one.
type Known = HashMap<String, Weak<Semaphore>>;

/// A place for one operation.
pub(crate) struct Place {
    _permits: Vec<OwnedSemaphorePermit>,
    /// Keeps the places of the server and of the agent known.
    _known: Vec<Arc<Semaphore>>,
}

impl Places {
    pub(crate) fn new() -> Self {
        Self {
            patience: PLACE_TIMEOUT,
            all: Arc::new(Semaphore::new(AT_ONCE)),
            with_one: Mutex::default(),
            for_one: Mutex::default(),
        }
    }

    /// A place for an operation with this server, for an agent where there is one.
    /// [`McpError::Busy`] where none is free for too long.
    pub(crate) async fn take(&self, server: &str, agent: Option<&str>) -> Result<Place, McpError> {
        let of_agent = agent.map(|agent| known(&self.for_one, agent, AT_ONCE_FOR_ONE));
        let of_server = known(&self.with_one, server, AT_ONCE_WITH_ONE);
        // First the agent's own, then the server's: whoever waits for one is in nobody else's way.
        let known: Vec<_> = of_agent.into_iter().chain([of_server]).collect();
        let all = Arc::clone(&self.all);
        let taken = timeout(self.patience, async {
            let mut permits = Vec::with_capacity(known.len() + 1);
            for places in known.iter().cloned().chain([all]) {
                permits.push(places.acquire_owned().await.ok()?);
            }
            Some(permits)
        });
        match taken.await {
            Ok(Some(permits)) => Ok(Place {
                _permits: permits,
                _known: known,
            }),
            _ => Err(McpError::Busy),
        }
    }

    /// A place for what is only a courtesy, where one is free.
    pub(crate) fn spare(&self) -> Option<Place> {
        let permit = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Place {
            _permits: vec![permit],
            _known: Vec::new(),
        })
    }
}

/// The places with this name, `count` where nobody holds one yet.
fn known(places: &Mutex<Known>, name: &str, count: usize) -> Arc<Semaphore> {
    let mut places = places.lock();
    if let Some(found) = places.get(name).and_then(Weak::upgrade) {
        return found;
    }
    if places.len() >= BUSY_MAX {
        places.retain(|_, places| places.strong_count() > 0);
    }
    let new = Arc::new(Semaphore::new(count));
    places.insert(name.to_owned(), Arc::downgrade(&new));
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impatient() -> Places {
        Places {
            patience: Duration::from_millis(50),
            ..Places::new()
        }
    }

    #[tokio::test]
    async fn one_agent_leaves_places_to_others() {
        let places = impatient();
        let mut held = Vec::new();
        for at in 0..AT_ONCE_FOR_ONE {
            let server = format!("server-{at}");
            held.push(places.take(&server, Some("greedy")).await.expect("a place"));
        }
        let refused = places.take("other", Some("greedy")).await;
        assert!(matches!(refused, Err(McpError::Busy)));
        held.push(places.take("other", Some("modest")).await.expect("a place"));
        held.push(places.take("other", None).await.expect("a place"));
        held.remove(0);
        places.take("other", Some("greedy")).await.expect("a place");
    }

    #[tokio::test]
    async fn one_server_leaves_places_to_others() {
        let places = impatient();
        let mut held = Vec::new();
        for at in 0..AT_ONCE_WITH_ONE {
            let agent = format!("agent-{at}");
            held.push(places.take("slow", Some(&agent)).await.expect("a place"));
        }
        assert!(matches!(
            places.take("slow", None).await,
            Err(McpError::Busy)
        ));
        places
            .take("quick", Some("agent-0"))
            .await
            .expect("a place");
    }
}
