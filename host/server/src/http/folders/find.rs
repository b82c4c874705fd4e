//! The folder that a path names.

use bulkhead_domain::{Folder, id::FolderId};

use crate::{
    app::App,
    contract::{Refusal, id},
};

/// The folder with this id of the path.
pub(super) async fn folder(app: &App, folder_id: &str) -> Result<Folder, Refusal> {
    let id: FolderId = id::parse("folder_id", folder_id)?;
    let folder = app.store.folder(&id).await?;
    folder.ok_or_else(|| super::not_found(id))
}
