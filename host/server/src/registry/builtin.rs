//! The tools that come with the server.

use bulkhead_domain::Digest;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::{Registry, push::Origin};
use crate::source;

/// The built-in tools, each a component of this name. A tool of theirs that is called by its
/// bare name is theirs whatever else is installed.
const SEEDED: [(&str, &[u8]); 2] = [
    ("fetch_webpage", bulkhead_tools::FETCH_WEBPAGE),
    ("web_search", bulkhead_tools::WEB_SEARCH),
];

/// Whether components of this name are built in.
pub(crate) fn is_builtin(component: &str) -> bool {
    SEEDED.iter().any(|(name, _)| *name == component)
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
    }

    /// Installs the built-in tools that are not stored yet, one after the other. A name that
    /// has a version keeps what is active: another version of this release waits for a person.
    pub(crate) async fn push_builtins(&self, stop: CancellationToken) {
        for (name, bytes) in SEEDED {
            let pushed = stop
                .run_until_cancelled(self.push_builtin(name, bytes))
                .await;
            if pushed.is_none() {
                return;
            }
        }
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
