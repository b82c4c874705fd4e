//! `bulkhead:tool/state`: small durable state of the tool.

use std::sync::Arc;

use super::{
    entry::service,
    wit::state::{Entry, Host, StateError as WitError},
};
use crate::{
    services::{Namespace, StateError, StateService},
    state::CallState,
};

/// Keys that one listing gives.
const MAX_KEYS: u32 = 1_000;

impl CallState {
    fn state_service(&mut self) -> Result<(Arc<dyn StateService>, Namespace), WitError> {
        let granted = self.context.authority.capabilities.state;
        let what = || "durable state".to_owned();
        self.require::<WitError>(granted, "state", what, || "--state".to_owned())?;
        let found = self.context.services.state.clone();
        let found = service::<_, WitError>(found, "durable state")?;
        Ok((found, self.context.namespace()))
    }
}

impl Host for CallState {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Entry>, WitError>> {
        let begun = self.begin("state", "get", Some(&key), key.len()).await;
        let result = async {
            let (service, namespace) = self.state_service()?;
            let found = service.get(&namespace, &key).await?;
            Ok(found.map(|entry| Entry {
                value: entry.value,
                version: entry.version,
            }))
        };
        let result = result.await;
        Ok(self.end(begun, result, |entry| {
            entry.as_ref().map_or(0, |entry| entry.value.len())
        }))
    }

    async fn put(
        &mut self,
        key: String,
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> wasmtime::Result<Result<u64, WitError>> {
        let bytes = key.len() + value.len();
        let begun = self.begin("state", "put", Some(&key), bytes).await;
        let result = async {
            self.keep_secrets::<WitError>("state", &[key.as_bytes(), &value])?;
            let (service, namespace) = self.state_service()?;
            Ok(service.put(&namespace, &key, value, expected).await?)
        };
        let result = result.await;
        Ok(self.end(begun, result, |_| 0))
    }

    async fn delete(
        &mut self,
        key: String,
        expected: u64,
    ) -> wasmtime::Result<Result<(), WitError>> {
        let begun = self.begin("state", "delete", Some(&key), key.len()).await;
        let result = async {
            let (service, namespace) = self.state_service()?;
            Ok(service.delete(&namespace, &key, expected).await?)
        };
        let result = result.await;
        Ok(self.end(begun, result, |()| 0))
    }

    async fn keys(
        &mut self,
        prefix: String,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<String>, WitError>> {
        let begun = self
            .begin("state", "keys", Some(&prefix), prefix.len())
            .await;
        let result = async {
            let (service, namespace) = self.state_service()?;
            Ok(service
                .keys(&namespace, &prefix, limit.min(MAX_KEYS))
                .await?)
        };
        let result = result.await;
        Ok(self.end(begun, result, |keys: &Vec<String>| {
            keys.iter().map(String::len).sum()
        }))
    }
}

impl From<StateError> for WitError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Conflict(version) => Self::Conflict(version),
            StateError::Quota(message) => Self::Quota(message),
            StateError::Unavailable(message) => Self::Unavailable(message),
        }
    }
}
