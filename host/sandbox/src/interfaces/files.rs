//! `bulkhead:tool/files`: the files that are attached to the agent.

use std::sync::Arc;

use bulkhead_domain::HostCallOutcome;

use super::{
    missing_grant, unavailable,
    wit::files::{File, FileError as WitError, Hit, Host},
};
use crate::{
    recorder::Begun,
    services::{AttachedFile, FileHit, FilesError, FilesService},
    state::CallState,
};

/// Results of one search; a model reads no more.
const MAX_RESULTS: u32 = 1_000;
/// Lines shown around a result.
const MAX_CONTEXT_LINES: u32 = 50;

impl CallState {
    fn files_service(&mut self) -> Result<Arc<dyn FilesService>, WitError> {
        if !self.context.authority.capabilities.files {
            let message = missing_grant("the agent's files", "--files");
            self.recorder.deny("files", message.clone());
            return Err(WitError::Denied(message));
        }
        let service = self.context.services.files.clone();
        service.ok_or_else(|| WitError::Unavailable(unavailable("files")))
    }

    fn end_files<T>(&mut self, begun: Begun, result: Result<T, WitError>) -> Result<T, WitError> {
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
    async fn listing(&mut self) -> wasmtime::Result<Result<Vec<File>, WitError>> {
        self.breathe(0).await;
        let begun = self.recorder.begin("files", "listing", None, 0);
        let result = match self.files_service() {
            Ok(service) => service
                .listing()
                .await
                .map(|files| files.into_iter().map(File::from).collect())
                .map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_files(begun, result))
    }

    async fn open(
        &mut self,
        name: String,
        first_line: Option<u32>,
        last_line: Option<u32>,
    ) -> wasmtime::Result<Result<String, WitError>> {
        self.breathe(name.len()).await;
        let begun = self
            .recorder
            .begin("files", "open", Some(&name), name.len());
        let result = match self.files_service() {
            Ok(service) => service
                .open(&name, first_line, last_line)
                .await
                .map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_files(begun, result))
    }

    async fn close(&mut self, name: String) -> wasmtime::Result<Result<(), WitError>> {
        self.breathe(name.len()).await;
        let begun = self
            .recorder
            .begin("files", "close", Some(&name), name.len());
        let result = match self.files_service() {
            Ok(service) => service.close(&name).await.map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_files(begun, result))
    }

    async fn grep(
        &mut self,
        pattern: String,
        names: Vec<String>,
        context_lines: u32,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<Hit>, WitError>> {
        self.breathe(pattern.len()).await;
        let begun = self.recorder.begin("files", "grep", None, pattern.len());
        let result = match self.files_service() {
            Ok(service) => {
                let lines = context_lines.min(MAX_CONTEXT_LINES);
                let hits = service
                    .grep(pattern, names, lines, limit.min(MAX_RESULTS))
                    .await;
                hits.map(|hits| hits.into_iter().map(Hit::from).collect())
                    .map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_files(begun, result))
    }

    async fn search(
        &mut self,
        query: String,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<Hit>, WitError>> {
        self.breathe(query.len()).await;
        let begun = self.recorder.begin("files", "search", None, query.len());
        let result = match self.files_service() {
            Ok(service) => {
                let hits = service.search(query, limit.min(MAX_RESULTS)).await;
                hits.map(|hits| hits.into_iter().map(Hit::from).collect())
                    .map_err(WitError::from)
            }
            Err(error) => Err(error),
        };
        Ok(self.end_files(begun, result))
    }
}

impl From<AttachedFile> for File {
    fn from(file: AttachedFile) -> Self {
        let AttachedFile {
            id,
            name,
            size,
            media_type,
            open,
        } = file;
        Self {
            id,
            name,
            size,
            media_type,
            open,
        }
    }
}

impl From<FileHit> for Hit {
    fn from(hit: FileHit) -> Self {
        let FileHit {
            file,
            line,
            text,
            score,
        } = hit;
        Self {
            file,
            line,
            text,
            score,
        }
    }
}

impl From<FilesError> for WitError {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::NotFound => Self::NotFound,
            FilesError::Invalid(message) => Self::Invalid(message),
            FilesError::Unavailable(message) => Self::Unavailable(message),
        }
    }
}
