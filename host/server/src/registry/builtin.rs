//! The tools that come with the server.

use bulkhead_domain::Digest;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::Registry;

impl Registry {
    /// Installs the built-in tools that are not stored yet, one after the other. What a newer
    /// release brings is an ordinary new version: wider wishes wait for a person.
    pub(crate) async fn push_builtins(&self, stop: CancellationToken) {
        for (name, bytes) in bulkhead_tools::ALL {
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
        if let Err(rejection) = self.push(Some(name), Bytes::from_static(bytes)).await {
            tracing::warn!(
                name,
                error = rejection.message(),
                "a built-in tool was not installed"
            );
        }
    }
}
