//! New files.

use std::time::Duration;

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_store::{DuplicateFile, NewFile, StoreError};
use tokio::sync::{Semaphore, SemaphorePermit};
use utoipa::ToSchema;

use super::{find, form, kind, view::FileView};
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Query},
    },
    http::{
        AppState,
        error::{self, Rejection},
        json, missing,
        query::Path,
        unbroken_contract,
    },
};

/// Bytes of a file.
pub(crate) const FILE_MAX: usize = 32 << 20;
/// Bytes of a form: a file of the largest size, and what is around it.
const UPLOAD_MAX: usize = FILE_MAX + (64 << 10);
/// A file of the largest size over a line of 0.25 MB/s.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(140);
/// How long an upload may make no progress.
const UPLOAD_IDLE: Duration = Duration::from_secs(10);
/// Files that are in memory at once on their way in.
const AT_ONCE: usize = 4;
/// How long a further one waits.
const WAIT: Duration = Duration::from_secs(30);
/// Bytes of a file's name, as file systems have it, less room for a number.
const NAME_MAX: usize = 240;

static UPLOADING: Semaphore = Semaphore::const_new(AT_ONCE);

const DUPLICATES: &[(&str, DuplicateFile)] = &[
    ("skip", DuplicateFile::Skip),
    ("error", DuplicateFile::Error),
    ("suffix", DuplicateFile::Suffix),
    ("replace", DuplicateFile::Replace),
];

/// The form of an upload.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it stands for a form in the document of the API")]
pub(crate) struct UploadForm {
    /// a text in UTF-8, 32 MiB at most
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// How a file is taken.
#[derive(Clone, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UploadQuery {
    /// what happens where the folder has a file of this name: suffix (the default), error, skip or
    /// replace
    #[param(value_type = Option<String>)]
    duplicate_handling: Option<DuplicateFile>,
    /// the file's name, in place of its own
    name: Option<String>,
}

impl FromQuery for UploadQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            duplicate_handling: query.variant("duplicate_handling", DUPLICATES),
            name: query.text("name"),
        }
    }
}

/// Puts a file into a folder. Its text is read and searched later: `processing_status` says when.
#[utoipa::path(
    post,
    path = "/v1/folders/{folder_id}/upload",
    operation_id = "upload_file_to_folder",
    tag = "folders",
    params(("folder_id" = String, Path, description = "the folder's id"), UploadQuery),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = OK, body = FileView, description = "the file"), Refusals)
)]
pub(crate) async fn upload(
    State(app): State<AppState>,
    Path(folder_id): Path<String>,
    Parameters(query): Parameters<UploadQuery>,
    request: Request,
) -> Result<Json<FileView>, Refusal> {
    json::require_media_type(request.headers(), &["multipart/form-data"])?;
    let folder = find::folder(&app, &folder_id).await?;
    let headers = request.headers().clone();
    let reading = json::Reading {
        limit: UPLOAD_MAX,
        timeout: UPLOAD_TIMEOUT,
        idle: UPLOAD_IDLE,
        too_large: &error::BODY_TOO_LARGE,
        slots: None,
    };
    // From its first byte on, so that no more of them are in memory than have a place.
    let place = slot().await?;
    let body = json::read_body(request, &reading).await?;
    let sent = form::read(&headers, body).await?;
    let original_name = plain_name(&sent.name)?;
    let name = match &query.name {
        None => original_name.clone(),
        Some(name) => named(name, &original_name)?,
    };
    let text = kind::text(&name, sent.media_type.as_deref(), &sent.bytes)?;
    let new = NewFile {
        folder_id: folder.id,
        name,
        original_name,
        media_type: text.media_type,
        size: sent.bytes.len() as u64,
        content: Some(text.content),
        upload: None,
    };
    drop(sent.bytes);
    let duplicate = query.duplicate_handling.unwrap_or_default();
    let added = unbroken_contract(async move {
        let _place = place;
        let added = app.store.add_file(new, duplicate).await;
        let added = added.map_err(|error| refusal(error, &folder.name))?;
        app.file_work.notify_one();
        Ok(added)
    });
    let added = added.await?;
    Ok(Json(FileView::uploaded(added.file, &added.folder_name)))
}

/// A place in memory for one file.
async fn slot() -> Result<SemaphorePermit<'static>, Rejection> {
    let busy = || {
        let text = "too many files are being uploaded at once; try again in a moment";
        Rejection::with(&error::OVERLOADED, text)
    };
    let free = tokio::time::timeout(WAIT, UPLOADING.acquire()).await;
    // The semaphore is never closed.
    free.map_err(|_| busy())?.map_err(|_| busy())
}

/// The name of a file without the folders that some clients put before it.
pub(crate) fn plain_name(name: &str) -> Result<String, Refusal> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let is_usable = !name.is_empty()
        && ![".", ".."].contains(&name)
        && name.len() <= NAME_MAX
        && !name.chars().any(char::is_control);
    if is_usable {
        return Ok(name.to_owned());
    }
    Err(Refusal::bad_request(format!(
        "INVALID_ARGUMENT: a file's name has 1 to {NAME_MAX} bytes in one line"
    )))
}

/// The name that a client chose, with the file's own ending where it has none.
fn named(name: &str, original: &str) -> Result<String, Refusal> {
    let name = plain_name(name)?;
    match original.rsplit_once('.') {
        Some((_, ending)) if !name.contains('.') => plain_name(&format!("{name}.{ending}")),
        _ => Ok(name),
    }
}

fn refusal(error: StoreError, folder_name: &str) -> Refusal {
    match error {
        StoreError::NameTaken { name, .. } => Refusal::bad_request(format!(
            "INVALID_ARGUMENT: File '{name}' already exists in folder '{folder_name}'"
        )),
        error => missing::stored(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_part_of_a_path_in_one_line() {
        let name = |name| plain_name(name).ok();
        assert_eq!(name("a/b\\c.txt").as_deref(), Some("c.txt"));
        for wrong in ["", "a/", "..", "a\nb.txt", &"x".repeat(NAME_MAX + 1)] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
        let named = |name| named(name, "a.txt").ok();
        assert_eq!(named("notes").as_deref(), Some("notes.txt"));
        assert_eq!(named("notes.md").as_deref(), Some("notes.md"));
    }
}
