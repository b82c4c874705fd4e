//! From uploads to texts that can be searched, one file after the other: nobody waits for it.
//!
//! The database is the queue, so that a file is read whatever becomes of the server that took it.

use std::{sync::Arc, time::Duration};

use bulkhead_domain::{Timestamp, folder::chunk};
use bulkhead_store::{FileWork, StoreError};
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// How often a server looks for files that others left, where nobody told it of a new one.
const LOOK: Duration = Duration::from_secs(30);
/// After which time somebody has left a file: several times what the largest one takes.
const STALE: Duration = Duration::from_secs(120);
/// How long after a failure of the database it is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// What is said of a file whose reading failed for no reason of its own.
const FAILED: &str = "the server could not read this file; upload it again";

/// Reads files until `stop`. `shared`: other servers may be at some of them; otherwise whatever was
/// begun before this server started was left.
pub(crate) async fn run(app: Arc<App>, shared: bool, stop: CancellationToken) {
    stop.run_until_cancelled(async {
        let stale = |is_first: bool| {
            let age = if is_first && !shared {
                Duration::ZERO
            } else {
                STALE
            };
            let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
            Timestamp::from_micros(Timestamp::now().micros().saturating_sub(age))
        };
        let mut is_first = true;
        loop {
            match app.store.next_file_work(stale(is_first)).await {
                Ok(Some(work)) => one(&app, work).await,
                Ok(None) => {
                    is_first = false;
                    let told = app.file_work.notified();
                    let _ = tokio::time::timeout(LOOK, told).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "it is not known which files are to be read");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    })
    .await;
}

/// Reads a file, and says how that ended.
async fn one(app: &App, work: FileWork) {
    let id = work.file.id;
    let ended = match read(app, work).await {
        Ok(()) => app.store.end_file_work(&id, None).await,
        Err(error @ (StoreError::Quota { .. } | StoreError::Invalid { .. })) => {
            app.store.end_file_work(&id, Some(&error.to_string())).await
        }
        Err(error) if error.is_transient() => {
            tracing::warn!(%error, file = %id, "a file could not be read now");
            tokio::time::sleep(PAUSE).await;
            app.store.put_file_back(&id).await
        }
        Err(error) => {
            tracing::error!(%error, file = %id, "a file could not be read");
            app.store.end_file_work(&id, Some(FAILED)).await
        }
    };
    if let Err(error) = ended {
        tracing::warn!(%error, file = %id, "it could not be noted how reading a file ended");
    }
}

async fn read(app: &App, work: FileWork) -> Result<(), StoreError> {
    let Some(content) = work.content else {
        return Err(StoreError::Invalid {
            what: "the file",
            reason: "has no text",
        });
    };
    let tokens = work.folder.embedding_config.embedding_chunk_size;
    let chunks = chunk::chunks(&content, tokens);
    if !app
        .store
        .put_file_text(&work.file.id, &content, chunks)
        .await?
    {
        return Ok(());
    }
    for agent in app.store.all_agents_of_folder(&work.folder.id).await? {
        match app.store.sync_agent_files(&agent).await {
            // It was deleted meanwhile.
            Ok(()) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
