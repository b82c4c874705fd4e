//! What clients asked for, and what they were told of it. It outlives the servers.

use std::sync::Arc;

use parking_lot::Mutex;

/// One request that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Which of the world's agents.
    pub(crate) agent: usize,
    /// Stands in the input, in what tools write, and in the answer.
    pub(crate) token: String,
    /// Counters that the agent is to count once each.
    pub(crate) counters: Vec<String>,
    /// Whether the token is to be written into the agent's memory.
    pub(crate) remembers: bool,
    /// How far the client knows that it came.
    pub(crate) told: Told,
    /// Its run, where the client knows it and the run is one in the background.
    pub(crate) run: Option<String>,
}

/// What a client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    /// Nothing: it may have been done or not.
    Nothing,
    /// That it waits for an approval: the input is stored.
    Asked,
    /// All of the answer.
    Everything,
}

/// All requests of a world's agents.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    entries: Vec<Entry>,
    number: u64,
}

/// An entry of the journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(usize);

impl Journal {
    /// A token that nobody else has.
    pub(crate) fn token(&self) -> String {
        let mut inner = self.0.lock();
        inner.number += 1;
        format!("token-{}-end", inner.number)
    }

    pub(crate) fn note(&self, entry: Entry) -> Number {
        let mut inner = self.0.lock();
        inner.entries.push(entry);
        Number(inner.entries.len() - 1)
    }

    /// A client was told so much; it is never told less.
    pub(crate) fn told(&self, number: Number, told: Told) {
        let mut inner = self.0.lock();
        let entry = &mut inner.entries[number.0];
        entry.told = entry.told.max(told);
    }

    /// A client knows the run in the background that its request began.
    pub(crate) fn began(&self, number: Number, run: String) {
        self.0.lock().entries[number.0].run = Some(run);
    }

    /// The entry that a request for approval belongs to, by what the request holds.
    pub(crate) fn find(&self, text: &str) -> Option<Number> {
        let inner = self.0.lock();
        let mut entries = inner.entries.iter();
        let found = entries.position(|entry| text.contains(entry.token.as_str()));
        found.map(Number)
    }

    /// All requests to an agent.
    pub(crate) fn of(&self, agent: usize) -> Vec<Entry> {
        let inner = self.0.lock();
        let entries = inner.entries.iter().filter(|entry| entry.agent == agent);
        entries.cloned().collect()
    }

    /// The agents are others from now on.
    pub(crate) fn forget(&self) {
        self.0.lock().entries.clear();
    }
}
