//! `bulkhead:tool/recall`: the agent's archive and conversation.

use std::sync::Arc;

use bulkhead_domain::HostCallOutcome;

use super::{
    missing_grant, unavailable,
    wit::recall::{Filter, Host, Passage, RecallError as WitError, Turn},
};
use crate::{
    recorder::Begun,
    services::{self, RecallError, RecallFilter, RecallService},
    state::CallState,
};

/// Results of one search; a model reads no more.
const MAX_RESULTS: u32 = 200;

impl CallState {
    fn recall_service(&mut self) -> Result<Arc<dyn RecallService>, WitError> {
        if !self.context.authority.capabilities.recall {
            let message = missing_grant("the agent's archive and conversation", "--recall");
            self.recorder.deny("recall", message.clone());
            return Err(WitError::Denied(message));
        }
        let service = self.context.services.recall.clone();
        service.ok_or_else(|| WitError::Unavailable(unavailable("archive or conversation")))
    }

    fn end_recall<T>(&mut self, begun: Begun, result: Result<T, WitError>) -> Result<T, WitError> {
        let outcome = match &result {
            Ok(_) => HostCallOutcome::Ok,
            Err(WitError::Denied(_)) => HostCallOutcome::Denied,
            Err(_) => HostCallOutcome::Failed,
        };
        self.recorder.end(begun, 0, outcome);
        result
    }
}

impl Host for CallState {
    async fn insert(
        &mut self,
        text: String,
        tags: Vec<String>,
    ) -> wasmtime::Result<Result<Passage, WitError>> {
        self.breathe(text.len()).await;
        let begun = self.recorder.begin("recall", "insert", None, text.len());
        let leak = self.leak("recall", text.as_bytes());
        let result = match leak.map_or_else(
            || self.recall_service(),
            |message| Err(WitError::Denied(message)),
        ) {
            Ok(service) => {
                let made = service.insert(text, tags).await;
                made.map(Passage::from).map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_recall(begun, result))
    }

    async fn search_archive(
        &mut self,
        query: String,
        filter: Filter,
    ) -> wasmtime::Result<Result<Vec<Passage>, WitError>> {
        self.breathe(query.len()).await;
        let begun = self
            .recorder
            .begin("recall", "search-archive", None, query.len());
        let result = match self.recall_service() {
            Ok(service) => {
                let found = service.search_archive(query, filter.into()).await;
                found
                    .map(|found| found.into_iter().map(Passage::from).collect())
                    .map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_recall(begun, result))
    }

    async fn search_conversation(
        &mut self,
        query: Option<String>,
        filter: Filter,
    ) -> wasmtime::Result<Result<Vec<Turn>, WitError>> {
        let bytes = query.as_ref().map_or(0, String::len);
        self.breathe(bytes).await;
        let begun = self
            .recorder
            .begin("recall", "search-conversation", None, bytes);
        let result = match self.recall_service() {
            Ok(service) => {
                let found = service.search_conversation(query, filter.into()).await;
                found
                    .map(|found| found.into_iter().map(Turn::from).collect())
                    .map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_recall(begun, result))
    }
}

impl From<Filter> for RecallFilter {
    fn from(filter: Filter) -> Self {
        Self {
            tags: filter.tags,
            match_all_tags: filter.match_all_tags,
            roles: filter.roles,
            since: filter.since,
            until: filter.until,
            limit: filter.limit.min(MAX_RESULTS),
        }
    }
}

impl From<services::Passage> for Passage {
    fn from(passage: services::Passage) -> Self {
        let services::Passage {
            id,
            text,
            tags,
            created_at,
            score,
        } = passage;
        Self {
            id,
            text,
            tags,
            created_at,
            score,
        }
    }
}

impl From<services::Turn> for Turn {
    fn from(turn: services::Turn) -> Self {
        let services::Turn {
            id,
            role,
            text,
            created_at,
            score,
        } = turn;
        Self {
            id,
            role,
            text,
            created_at,
            score,
        }
    }
}

impl From<RecallError> for WitError {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Invalid(message) => Self::Invalid(message),
            RecallError::Unavailable(message) => Self::Unavailable(message),
        }
    }
}
