//! Folders of a document, as they are made here.

use std::collections::HashMap;

use bulkhead_domain::{Folder, folder::view::Lines, id::FolderId};
use bulkhead_store::NewFile;

use super::{
    super::{
        agent::Attachment,
        read::{File, Source},
    },
    history::refused,
    options::Options,
};
use crate::{
    agents::choice,
    app::App,
    contract::Refusal,
    http::{
        folders::{save, upload},
        scope,
    },
};

/// Folders to make, by their places in the document.
pub(super) struct Planned {
    pub(super) folders: Vec<Folder>,
    /// Each with its place in the document.
    pub(super) files: Vec<(usize, NewFile)>,
    /// Places of folders by their local ids.
    pub(super) places: HashMap<String, usize>,
    /// Places of files by their local ids.
    pub(super) file_places: HashMap<String, usize>,
}

/// A file that an agent is to see.
pub(super) struct View {
    /// The file's place in the document.
    pub(super) file: usize,
    pub(super) lines: Lines,
}

/// Plans the folders of a document whose references are whole.
pub(super) async fn plan(
    app: &App,
    sources: Vec<Source>,
    files: Vec<File>,
    options: &Options,
) -> Result<Planned, Refusal> {
    let mut planned = Planned {
        folders: Vec::with_capacity(sources.len()),
        files: Vec::with_capacity(files.len()),
        places: HashMap::new(),
        file_places: HashMap::new(),
    };
    for source in sources {
        save::check_name(&source.name)?;
        let (config, handle) = match &options.embedding {
            Some(handle) => (None, Some(handle.clone())),
            None => (source.embedding_config, source.embedding),
        };
        let config = choice::embedding(app, config, handle).await?;
        let mut config = config.ok_or_else(|| {
            let reason = "it names no embedding model; name one beside the file (embedding)";
            refused(&source.id, reason)
        })?;
        if source.embedding_chunk_size.is_some() {
            config.embedding_chunk_size = source.embedding_chunk_size;
        }
        let folder = Folder {
            description: source.description,
            instructions: source.instructions,
            metadata: source.metadata,
            created_by_id: Some(scope::actor()),
            last_updated_by_id: Some(scope::actor()),
            ..Folder::new(source.name, config)
        };
        planned.places.insert(source.id, planned.folders.len());
        planned.folders.push(folder);
    }
    for (at, file) in files.into_iter().enumerate() {
        // References are whole, so that the folder is there.
        let Some(place) = planned.places.get(&file.source_id).copied() else {
            continue;
        };
        planned.file_places.insert(file.id.clone(), at);
        let name = file.file_name.or(file.original_file_name.clone());
        let name = upload::plain_name(name.as_deref().unwrap_or(&file.id))?;
        let size = file.file_size.and_then(|size| u64::try_from(size).ok());
        let read = file.content.as_ref().map_or(0, |text| text.len() as u64);
        if file
            .content
            .as_ref()
            .is_some_and(|text| text.contains('\0'))
        {
            return Err(refused(&file.id, "its content has a NUL character"));
        }
        let new = NewFile {
            folder_id: planned.folders[place].id,
            original_name: file.original_file_name.unwrap_or_else(|| name.clone()),
            name,
            media_type: file.file_type.unwrap_or_else(|| "text/plain".to_owned()),
            // What the file says counts no more than what is there.
            size: size.unwrap_or(read).max(read).min(upload::FILE_MAX as u64),
            content: file.content,
            upload: None,
        };
        planned.files.push((at, new));
    }
    Ok(planned)
}

impl Planned {
    /// The folders that an agent names.
    pub(super) fn of<'a>(&self, named: impl Iterator<Item = &'a String>) -> Vec<FolderId> {
        let places = named.filter_map(|id| self.places.get(id));
        let mut ids: Vec<FolderId> = Vec::new();
        for place in places {
            let id = self.folders[*place].id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// What an agent is to see.
    pub(super) fn views(&self, attachments: &[Attachment]) -> Vec<View> {
        let open = attachments.iter().filter(|attachment| attachment.is_open);
        let views = open.filter_map(|attachment| {
            let line = |line: Option<i64>| line.and_then(|line| u64::try_from(line).ok());
            Some(View {
                file: *self.file_places.get(&attachment.file_id)?,
                lines: Lines {
                    first: line(attachment.start_line),
                    last: line(attachment.end_line),
                },
            })
        });
        views.collect()
    }
}
