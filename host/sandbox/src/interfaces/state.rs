//! `bulkhead:tool/state`: small durable state of the tool.

use std::sync::Arc;

use bulkhead_domain::HostCallOutcome;

use super::{
    missing_grant, unavailable,
    wit::state::{Entry, Host, StateError as WitError},
};
use crate::{
    recorder::Begun,
    services::{StateError, StateService},
    state::CallState,
};

/// Keys that one listing gives.
const MAX_KEYS: u32 = 1_000;

impl CallState {
    fn state_service(&mut self) -> Result<Arc<dyn StateService>, WitError> {
        if !self.context.authority.capabilities.state {
            let message = missing_grant("durable state", "--state");
            self.recorder.deny("state", message.clone());
            return Err(WitError::Denied(message));
        }
        let service = self.context.services.state.clone();
        service.ok_or_else(|| WitError::Unavailable(unavailable("durable state")))
    }

    fn end_state<T>(
        &mut self,
        begun: Begun,
        result: Result<T, WitError>,
        bytes: impl Fn(&T) -> usize,
    ) -> Result<T, WitError> {
        let (bytes, outcome) = match &result {
            Ok(value) => (bytes(value), HostCallOutcome::Ok),
            Err(WitError::Denied(_)) => (0, HostCallOutcome::Denied),
            Err(_) => (0, HostCallOutcome::Failed),
        };
        self.recorder.end(begun, bytes, outcome);
        result
    }
}

impl Host for CallState {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Entry>, WitError>> {
        self.breathe(key.len()).await;
        let begun = self.recorder.begin("state", "get", Some(&key), key.len());
        let result = match self.state_service() {
            Ok(service) => {
                let namespace = self.context.namespace();
                let found = service.get(&namespace, &key).await.map_err(WitError::from);
                found.map(|entry| {
                    entry.map(|entry| Entry {
                        value: entry.value,
                        version: entry.version,
                    })
                })
            }
            Err(error) => Err(error),
        };
        Ok(self.end_state(begun, result, |entry| {
            entry.as_ref().map_or(0, |e| e.value.len())
        }))
    }

    async fn put(
        &mut self,
        key: String,
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> wasmtime::Result<Result<u64, WitError>> {
        self.breathe(key.len() + value.len()).await;
        let begun = self
            .recorder
            .begin("state", "put", Some(&key), key.len() + value.len());
        let result = match self.state_service() {
            Ok(service) => {
                let namespace = self.context.namespace();
                service
                    .put(&namespace, &key, value, expected)
                    .await
                    .map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_state(begun, result, |_| 0))
    }

    async fn delete(
        &mut self,
        key: String,
        expected: u64,
    ) -> wasmtime::Result<Result<(), WitError>> {
        self.breathe(key.len()).await;
        let begun = self
            .recorder
            .begin("state", "delete", Some(&key), key.len());
        let result = match self.state_service() {
            Ok(service) => {
                let namespace = self.context.namespace();
                service
                    .delete(&namespace, &key, expected)
                    .await
                    .map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_state(begun, result, |()| 0))
    }

    async fn keys(
        &mut self,
        prefix: String,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<String>, WitError>> {
        self.breathe(prefix.len()).await;
        let begun = self
            .recorder
            .begin("state", "keys", Some(&prefix), prefix.len());
        let result = match self.state_service() {
            Ok(service) => {
                let namespace = self.context.namespace();
                let keys = service.keys(&namespace, &prefix, limit.min(MAX_KEYS)).await;
                keys.map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_state(begun, result, |keys| keys.iter().map(String::len).sum()))
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
