//! Lists that were fetched a short while ago.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use bulkhead_domain::digest::Hasher;
use parking_lot::Mutex;

use super::{Listing, fetch};
use crate::{catalog::provider::Provider, transport::Transport};

/// How long a provider's own list is good for: new models come weekly, and handles are looked up
/// with every agent that is made.
const FRESH: Duration = Duration::from_secs(300);

/// How long a provider that did not answer is left alone.
const FAILED: Duration = Duration::from_secs(30);

/// Providers that are remembered. Where there are more, all are forgotten and asked again.
const MAX_PROVIDERS: usize = 1_000;

/// One provider's list; the lock is held while it is fetched, so that it is fetched once.
type Slot = tokio::sync::Mutex<Option<(Instant, Arc<Listing>)>>;

/// Lists by provider.
#[derive(Debug, Default)]
pub(in crate::catalog) struct Cache {
    slots: Mutex<HashMap<String, Arc<Slot>>>,
}

impl Cache {
    /// The provider's list, fetched where it is not fresh.
    pub(in crate::catalog) async fn get(
        &self,
        transport: &Transport,
        provider: &Provider,
    ) -> Arc<Listing> {
        let slot = {
            let mut slots = self.slots.lock();
            let key = key(provider);
            if slots.len() >= MAX_PROVIDERS && !slots.contains_key(&key) {
                slots.clear();
            }
            Arc::clone(slots.entry(key).or_default())
        };
        let mut slot = slot.lock().await;
        if let Some((fetched, listing)) = slot.as_ref() {
            let good_for = if listing.complete { FRESH } else { FAILED };
            if fetched.elapsed() < good_for {
                return Arc::clone(listing);
            }
        }
        let listing = Arc::new(fetch(transport, provider).await);
        *slot = Some((Instant::now(), Arc::clone(&listing)));
        listing
    }

    /// Forgets a provider's list, whatever its address and key.
    pub(in crate::catalog) fn forget(&self, name: &str) {
        let begin = beginning(name);
        self.slots.lock().retain(|key, _| !key.starts_with(&begin));
    }
}

fn beginning(name: &str) -> String {
    format!("{name}\n")
}

/// Another address or another key may see other models.
fn key(provider: &Provider) -> String {
    let endpoint = &provider.endpoint;
    let mut hasher = Hasher::default();
    hasher.update(endpoint.api_key.as_ref().map_or(&[], |key| key.as_bytes()));
    let begin = beginning(&provider.name);
    format!("{begin}{}\n{}", endpoint.base_url, hasher.finish())
}
