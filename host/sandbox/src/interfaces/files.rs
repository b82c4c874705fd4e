//! `bulkhead:tool/files`: the files that are attached to the agent.

use std::sync::Arc;

use super::{
    entry::service,
    wit::files::{File, FileError as WitError, Hit, Host, Lines, Opened},
};
use crate::{
    services::{AttachedFile, FileHit, FileLines, FilesError, FilesService, OpenedFile},
    state::CallState,
};

/// Results of one search; a model reads no more.
const MAX_RESULTS: u32 = 1_000;
/// Lines shown around a result.
const MAX_CONTEXT_LINES: u32 = 50;

impl CallState {
    fn files_service(&mut self) -> Result<Arc<dyn FilesService>, WitError> {
        let granted = self.context.authority.capabilities.files;
        let what = || "the agent's files".to_owned();
        self.require::<WitError>(granted, "files", what, || "--files".to_owned())?;
        service(self.context.services.files.clone(), "files")
    }
}

fn text_bytes(hits: &[Hit]) -> usize {
    hits.iter().map(|hit| hit.text.len()).sum()
}

impl Host for CallState {
    async fn listing(&mut self) -> wasmtime::Result<Result<Vec<File>, WitError>> {
        let begun = self.begin("files", "listing", None, 0).await;
        let result = async {
            let files = self.files_service()?.listing().await?;
            Ok(files.into_iter().map(File::from).collect())
        };
        let result = result.await;
        Ok(self.end(begun, result, |files: &Vec<File>| {
            files.iter().map(|file| file.name.len()).sum()
        }))
    }

    async fn open_limit(&mut self) -> wasmtime::Result<Result<u32, WitError>> {
        let begun = self.begin("files", "open-limit", None, 0).await;
        let result = async { Ok(self.files_service()?.open_limit().await?) };
        let result = result.await;
        Ok(self.end(begun, result, |_| 0))
    }

    async fn open(
        &mut self,
        name: String,
        lines: Lines,
    ) -> wasmtime::Result<Result<Opened, WitError>> {
        let begun = self.begin("files", "open", Some(&name), name.len()).await;
        let result = async {
            let service = self.files_service()?;
            let Lines { first, last } = lines;
            let opened = service.open(&name, FileLines { first, last }).await?;
            Ok(Opened::from(opened))
        };
        let result = result.await;
        Ok(self.end(begun, result, |opened: &Opened| opened.text.len()))
    }

    async fn close(&mut self, name: String) -> wasmtime::Result<Result<(), WitError>> {
        let begun = self.begin("files", "close", Some(&name), name.len()).await;
        let result = async {
            let service = self.files_service()?;
            Ok(service.close(&name).await?)
        };
        let result = result.await;
        Ok(self.end(begun, result, |()| 0))
    }

    async fn grep(
        &mut self,
        pattern: String,
        names: Vec<String>,
        context_lines: u32,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<Hit>, WitError>> {
        let begun = self.begin("files", "grep", None, pattern.len()).await;
        let result = async {
            let service = self.files_service()?;
            let lines = context_lines.min(MAX_CONTEXT_LINES);
            let hits = service
                .grep(pattern, names, lines, limit.min(MAX_RESULTS))
                .await?;
            Ok(hits.into_iter().map(Hit::from).collect())
        };
        let result = result.await;
        Ok(self.end(begun, result, |hits: &Vec<Hit>| text_bytes(hits)))
    }

    async fn search(
        &mut self,
        query: String,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<Hit>, WitError>> {
        let begun = self.begin("files", "search", None, query.len()).await;
        let result = async {
            let service = self.files_service()?;
            let hits = service.search(query, limit.min(MAX_RESULTS)).await?;
            Ok(hits.into_iter().map(Hit::from).collect())
        };
        let result = result.await;
        Ok(self.end(begun, result, |hits: &Vec<Hit>| text_bytes(hits)))
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

impl From<OpenedFile> for Opened {
    fn from(opened: OpenedFile) -> Self {
        let OpenedFile {
            text,
            previous,
            closed,
        } = opened;
        Self {
            text,
            previous: previous.map(|FileLines { first, last }| Lines { first, last }),
            closed,
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
