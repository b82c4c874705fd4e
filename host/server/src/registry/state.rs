//! Tool state, kept in the store.

use bulkhead_sandbox::services::{Namespace, StateEntry, StateError, StateService};
use bulkhead_store::{StateNamespace, Store, StoreError};
use futures::future::BoxFuture;

/// `state` over the store.
pub(crate) struct StoredState(pub(crate) Store);

fn space(namespace: &Namespace) -> StateNamespace {
    StateNamespace {
        tool: namespace.tool.clone(),
        agent: namespace.agent.clone(),
    }
}

fn refusal(error: StoreError) -> StateError {
    match error {
        StoreError::Conflict { current } => StateError::Conflict(current),
        StoreError::Quota { .. } | StoreError::Invalid { .. } => {
            StateError::Quota(error.to_string())
        }
        error => {
            tracing::error!(%error, "tool state could not be reached");
            StateError::Unavailable("the storage of tool state is unavailable".to_owned())
        }
    }
}

impl StateService for StoredState {
    fn get<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StateEntry>, StateError>> {
        Box::pin(async move {
            let entry = self
                .0
                .state_get(&space(namespace), key)
                .await
                .map_err(refusal)?;
            Ok(entry.map(|entry| StateEntry {
                value: entry.value,
                version: entry.version,
            }))
        })
    }

    fn put<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, StateError>> {
        Box::pin(async move {
            self.0
                .state_put(&space(namespace), key, value, expected)
                .await
                .map_err(refusal)
        })
    }

    fn delete<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        expected: u64,
    ) -> BoxFuture<'a, Result<(), StateError>> {
        Box::pin(async move {
            self.0
                .state_delete(&space(namespace), key, expected)
                .await
                .map_err(refusal)
        })
    }

    fn keys<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StateError>> {
        Box::pin(async move {
            self.0
                .state_keys(&space(namespace), prefix, limit)
                .await
                .map_err(refusal)
        })
    }
}
