//! `bulkhead:tool/recall`: the agent's archive and conversation.

use std::sync::Arc;

use super::{
    entry::service,
    wit::recall::{Filter, Host, Passage, RecallError as WitError, Turn},
};
use crate::{
    services::{self, RecallError, RecallFilter, RecallService},
    state::CallState,
};

/// Results of one search; a model reads no more.
const MAX_RESULTS: u32 = 200;

impl CallState {
    fn recall_service(&mut self) -> Result<Arc<dyn RecallService>, WitError> {
        let granted = self.context.authority.capabilities.recall;
        let what = || "the agent's archive and conversation".to_owned();
        self.require::<WitError>(granted, "recall", what, || "--recall".to_owned())?;
        let found = self.context.services.recall.clone();
        service(found, "archive or conversation")
    }
}

impl Host for CallState {
    async fn insert(
        &mut self,
        text: String,
        tags: Vec<String>,
    ) -> wasmtime::Result<Result<Passage, WitError>> {
        let begun = self.begin("recall", "insert", None, text.len()).await;
        let result = async {
            self.keep_secrets::<WitError>("recall", &[text.as_bytes()])?;
            let service = self.recall_service()?;
            Ok(service.insert(text, tags).await?.into())
        };
        let result = result.await;
        Ok(self.end(begun, result, |_| 0))
    }

    async fn search_archive(
        &mut self,
        query: String,
        filter: Filter,
    ) -> wasmtime::Result<Result<Vec<Passage>, WitError>> {
        let begun = self
            .begin("recall", "search-archive", None, query.len())
            .await;
        let result = async {
            let service = self.recall_service()?;
            let found = service.search_archive(query, filter.into()).await?;
            Ok(found.into_iter().map(Passage::from).collect())
        };
        let result = result.await;
        Ok(self.end(begun, result, |found: &Vec<Passage>| {
            found.iter().map(|passage| passage.text.len()).sum()
        }))
    }

    async fn search_conversation(
        &mut self,
        query: Option<String>,
        filter: Filter,
    ) -> wasmtime::Result<Result<Vec<Turn>, WitError>> {
        let bytes = query.as_ref().map_or(0, String::len);
        let begun = self
            .begin("recall", "search-conversation", None, bytes)
            .await;
        let result = async {
            let service = self.recall_service()?;
            let found = service.search_conversation(query, filter.into()).await?;
            Ok(found.into_iter().map(Turn::from).collect())
        };
        let result = result.await;
        Ok(self.end(begun, result, |found: &Vec<Turn>| {
            found.iter().map(|turn| turn.text.len()).sum()
        }))
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
