//! A mocked host: what it answers.

use std::{cell::RefCell, collections::BTreeMap, marker::PhantomData, rc::Rc};

use serde_json::Value;

use super::{
    seen::Seen,
    store::{Memory, State},
};
use crate::{Output, agents, files, http, memory, peers, recall, state};

/// Milliseconds that a call has left unless a test says otherwise: the host's default deadline.
const DEFAULT_REMAINING_MS: u64 = 30_000;

pub(super) type HttpHandler = Box<dyn FnMut(&http::Request) -> Result<http::Response, http::Error>>;
pub(super) type PeerHandler = Box<dyn FnMut(&str, &Value) -> Result<Output, peers::Error>>;
pub(super) type AgentHandler = Box<dyn FnMut(&str, &str) -> Result<String, agents::Error>>;

thread_local! {
    static CURRENT: RefCell<Rc<RefCell<Host>>> = RefCell::new(Rc::new(RefCell::new(Host::new())));
}

/// A host for tests. It grants what it is told of, keeps `state` and `memory`, and denies the rest.
pub struct Host {
    pub(super) call_id: String,
    pub(super) idempotency_key: String,
    pub(super) agent_id: Option<String>,
    pub(super) remaining_ms: u64,
    pub(super) env: BTreeMap<String, String>,
    pub(super) secrets: BTreeMap<String, String>,
    pub(super) http: Option<HttpHandler>,
    pub(super) peers: Option<PeerHandler>,
    pub(super) agents: Option<AgentHandler>,
    pub(super) state: State,
    pub(super) memory: Memory,
    pub(super) passages: Option<Vec<recall::Passage>>,
    pub(super) turns: Option<Vec<recall::Turn>>,
    pub(super) files: Option<Vec<(files::File, String)>>,
    pub(super) seen: Seen,
}

/// A mock in place, until it is dropped; then the one before is in place again.
#[must_use = "the mock is gone as soon as this is dropped"]
pub struct Installed {
    pub(super) host: Rc<RefCell<Host>>,
    before: Rc<RefCell<Host>>,
    /// A mock belongs to its thread.
    not_send: PhantomData<*const ()>,
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Host {
    /// A host that granted nothing.
    pub fn new() -> Self {
        Self {
            call_id: "call-mock".to_owned(),
            idempotency_key: "key-mock".to_owned(),
            agent_id: None,
            remaining_ms: DEFAULT_REMAINING_MS,
            env: BTreeMap::new(),
            secrets: BTreeMap::new(),
            http: None,
            peers: None,
            agents: None,
            state: State::default(),
            memory: Memory::default(),
            passages: None,
            turns: None,
            files: None,
            seen: Seen::default(),
        }
    }

    /// Answers requests.
    #[must_use]
    pub fn http(
        mut self,
        handler: impl FnMut(&http::Request) -> Result<http::Response, http::Error> + 'static,
    ) -> Self {
        self.http = Some(Box::new(handler));
        self
    }

    /// Answers calls of other tools, by name and input.
    #[must_use]
    pub fn peers(
        mut self,
        handler: impl FnMut(&str, &Value) -> Result<Output, peers::Error> + 'static,
    ) -> Self {
        self.peers = Some(Box::new(handler));
        self
    }

    /// Answers messages to agents, by id and text. `ask_matching` asks it once with the id `*`.
    #[must_use]
    pub fn agents(
        mut self,
        handler: impl FnMut(&str, &str) -> Result<String, agents::Error> + 'static,
    ) -> Self {
        self.agents = Some(Box::new(handler));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Lets a credential be read.
    #[must_use]
    pub fn secret(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.secrets.insert(name.into(), value.into());
        self
    }

    /// Puts a value into the state, at version 1.
    #[must_use]
    pub fn state(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.state.0.insert(
            key.into(),
            state::Entry {
                value: value.into(),
                version: 1,
            },
        );
        self
    }

    /// Puts a memory block there.
    #[must_use]
    pub fn memory_block(mut self, block: memory::Block) -> Self {
        self.memory.0.insert(block.label.clone(), block);
        self
    }

    /// Grants the archive and puts a passage into it.
    #[must_use]
    pub fn passage(mut self, passage: recall::Passage) -> Self {
        self.passages.get_or_insert_default().push(passage);
        self
    }

    /// Grants the conversation and puts a message at its end.
    #[must_use]
    pub fn turn(mut self, turn: recall::Turn) -> Self {
        self.turns.get_or_insert_default().push(turn);
        self
    }

    /// Grants files and attaches one.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        let (name, text) = (name.into(), text.into());
        let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let file = files::File {
            id: format!("file-{name}"),
            name,
            size,
            media_type: "text/plain".to_owned(),
            open: false,
        };
        self.files.get_or_insert_default().push((file, text));
        self
    }

    /// Lets an agent be the caller.
    #[must_use]
    pub fn agent_id(mut self, id: impl Into<String>) -> Self {
        self.agent_id = Some(id.into());
        self
    }

    /// Sets the id of the call and its key across retries.
    #[must_use]
    pub fn call(mut self, id: impl Into<String>, idempotency_key: impl Into<String>) -> Self {
        self.call_id = id.into();
        self.idempotency_key = idempotency_key.into();
        self
    }

    /// Sets how long the call has left.
    #[must_use]
    pub fn remaining_ms(mut self, remaining_ms: u64) -> Self {
        self.remaining_ms = remaining_ms;
        self
    }

    /// Puts it in place for this thread.
    pub fn install(self) -> Installed {
        let host = Rc::new(RefCell::new(self));
        let before = CURRENT.replace(Rc::clone(&host));
        Installed {
            host,
            before,
            not_send: PhantomData,
        }
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        CURRENT.set(Rc::clone(&self.before));
    }
}

/// Runs `work` on the mock of this thread. A handler of the test is taken out before it is
/// called, so that it may use the host interfaces itself.
pub(super) fn with<T>(work: impl FnOnce(&mut Host) -> T) -> T {
    let host = CURRENT.with_borrow(Rc::clone);
    let mut host = host.borrow_mut();
    work(&mut host)
}
