//! The tools that come with the server.

use std::{collections::BTreeSet, sync::LazyLock, time::Duration};

use bulkhead_domain::Digest;
use bulkhead_policy::{Capabilities, Limits, MemoryRule, capabilities::ANY};
use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Registry, core_tool, push::Origin};
use crate::source;

/// The built-in tools, each a component of this name. A tool of theirs that is called by its
/// bare name is theirs whatever else is installed.
///
/// Those that agents have by default come first.
const SEEDED: [(&str, &[u8]); 6] = [
    ("memory", bulkhead_tools::MEMORY),
    ("recall", bulkhead_tools::RECALL),
    ("messages", bulkhead_tools::MESSAGES),
    ("files", bulkhead_tools::FILES),
    ("fetch_webpage", bulkhead_tools::FETCH_WEBPAGE),
    ("web_search", bulkhead_tools::WEB_SEARCH),
];

/// Whether components of this name are built in.
pub(crate) fn is_builtin(component: &str) -> bool {
    SEEDED.iter().any(|(name, _)| *name == component)
}

/// Whether no tool of anybody else may be listed under this name: one of those that come with the server
/// has it, and agents begin with them and are told of them by their names. That holds before they are
/// installed, and for those that clients know although this server does not have them.
pub(crate) fn is_reserved_name(tool: &str) -> bool {
    const ELSEWHERE: [&str; 4] = [
        "grep_files",
        "open_files",
        "run_code_with_tools",
        "semantic_search_files",
    ];
    core_tool::tool_type(tool).is_some()
        || is_builtin(tool)
        || tool == source::code::NAME
        || ELSEWHERE.contains(&tool)
}

/// The components of the built-in tools that work on the agent itself, which calls them.
const OF_AGENTS: [&[u8]; 4] = [
    bulkhead_tools::MEMORY,
    bulkhead_tools::RECALL,
    bulkhead_tools::MESSAGES,
    bulkhead_tools::FILES,
];

/// What the component of this digest may do without a person's grant: of an agent's own tools, to
/// reach the agent that calls them. It goes by the bytes, since anybody may push others under the
/// same name.
pub(super) fn granted(digest: &Digest) -> Option<&'static Capabilities> {
    static DIGESTS: LazyLock<[Digest; 4]> = LazyLock::new(|| OF_AGENTS.map(Digest::of));
    static GRANTED: LazyLock<Capabilities> = LazyLock::new(|| {
        let any = || BTreeSet::from([ANY.to_owned()]);
        Capabilities {
            memory: Some(MemoryRule {
                labels: any(),
                write: true,
            }),
            recall: true,
            files: true,
            agents: any(),
            ..Capabilities::default()
        }
    });
    DIGESTS.contains(digest).then(|| &*GRANTED)
}

/// The limits of such a component where no grant says otherwise: other agents may take their time
/// to answer, as tools from source may.
pub(super) fn limits() -> Limits {
    Limits {
        timeout_ms: 180_000,
        ..Limits::default()
    }
}

/// How long the next built-in tool is waited for. It takes a second to compile one, once on a machine.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Built-in tools as they are installed.
pub(crate) struct Installing(watch::Receiver<Option<usize>>);

impl Installing {
    /// Waits until more of them are there than when this was asked last. False where no more come.
    pub(crate) async fn next(&mut self) -> bool {
        if self.0.has_changed().unwrap_or(false) {
            self.0.borrow_and_update();
            return true;
        }
        if self.0.borrow().is_none() {
            return false;
        }
        let changed = tokio::time::timeout(INSTALL_TIMEOUT, self.0.changed()).await;
        matches!(changed, Ok(Ok(())))
    }
}

impl Registry {
    /// Puts what comes with the server into the list of tools, and what was stored before there was a
    /// list.
    pub(crate) async fn list_builtins(&self) {
        if let Err(error) = source::code::list(&self.store).await {
            tracing::warn!(%error, "run_code was not listed");
        }
        if let Err(rejection) = self.list_missing_tools().await {
            tracing::warn!(
                error = rejection.message(),
                "tools of components were not listed"
            );
        }
        self.forget_plans();
    }

    /// Installs the built-in tools that are not stored yet, one after the other. A name that
    /// has a version keeps what is active: another version of this release waits for a person.
    pub(crate) async fn push_builtins(&self, stop: CancellationToken) {
        for (at, (name, bytes)) in SEEDED.into_iter().enumerate() {
            let pushed = stop
                .run_until_cancelled(self.push_builtin(name, bytes))
                .await;
            if pushed.is_none() {
                break;
            }
            self.installing.send_replace(Some(at + 1));
        }
        self.installing.send_replace(None);
    }

    /// Says that built-in tools will be installed by [`Self::push_builtins`], so that whoever needs
    /// one waits for it.
    pub(crate) fn expect_builtins(&self) {
        self.installing.send_replace(Some(0));
    }

    /// For whoever needs a built-in tool that may not be there yet.
    pub(crate) fn builtins(&self) -> Installing {
        Installing(self.installing.subscribe())
    }

    async fn push_builtin(&self, name: &'static str, bytes: &'static [u8]) {
        match self.store.component(&Digest::of(bytes)).await {
            Ok(Some(_)) => return,
            Ok(None) => {}
            Err(error) => return tracing::warn!(name, %error, "a built-in tool was not installed"),
        }
        let bytes = Bytes::from_static(bytes);
        if let Err(rejection) = self.push(Some(name), bytes, Origin::Start).await {
            tracing::warn!(
                name,
                error = rejection.message(),
                "a built-in tool was not installed"
            );
        }
    }
}
