//! Files of folders, and files as agents have them.

use std::{fmt, str::FromStr};

use crate::{
    Timestamp,
    id::{AgentFileId, FileId, FolderId, PassageId},
};

/// How far a file is on its way from bytes to text that can be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileStatus {
    /// Nobody has begun.
    Pending,
    /// Its text is read.
    Parsing,
    /// Its passages are made.
    Embedding,
    /// It can be searched.
    Completed,
    /// It has no text; the file says why.
    Error,
}

impl FileStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Parsing,
        Self::Embedding,
        Self::Completed,
        Self::Error,
    ];

    /// The stable name, as the database and the API write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Parsing => "parsing",
            Self::Embedding => "embedding",
            Self::Completed => "completed",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for FileStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What no status is called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a status of a file is pending, parsing, embedding, completed or error")]
pub struct ParseFileStatusError;

impl FromStr for FileStatus {
    type Err = ParseFileStatusError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|status| status.as_str() == text)
            .ok_or(ParseFileStatusError)
    }
}

/// A file of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFile {
    /// Its id.
    pub id: FileId,
    /// The folder.
    pub folder_id: FolderId,
    /// Its name in the folder, without the folder's. No other file of the folder has it.
    pub name: String,
    /// What it was called when it was uploaded.
    pub original_name: String,
    /// For example `text/plain`.
    pub media_type: String,
    /// Bytes of what was uploaded.
    pub size: u64,
    /// How far it is.
    pub status: FileStatus,
    /// Why it has no text, where that is so.
    pub error: Option<String>,
    /// Passages of it, once they are made.
    pub passages: Option<u64>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Its text, where that was asked for and is there.
    pub content: Option<String>,
}

/// A piece of a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePassage {
    /// Its id.
    pub id: PassageId,
    /// The folder.
    pub folder_id: FolderId,
    /// The file.
    pub file_id: FileId,
    /// The file's name, without the folder's.
    pub file_name: String,
    /// What agents call the file.
    pub path: String,
    /// The line of the file that it begins in, from 1.
    pub line: u64,
    /// The text.
    pub text: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A file as an agent has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// Its id.
    pub id: AgentFileId,
    /// The file.
    pub file_id: FileId,
    /// What the agent calls it: the folder's name, a slash, the file's name.
    pub path: String,
    /// The folder.
    pub folder_id: FolderId,
    /// The folder's name.
    pub folder_name: String,
    /// For example `text/plain`.
    pub media_type: String,
    /// Bytes of what was uploaded.
    pub size: u64,
    /// Whether it is in the agent's view.
    pub is_open: bool,
    /// What the agent sees of it while it is open; see [`super::view`].
    pub visible: Option<String>,
    /// The first line in view, from 1, where somebody said which.
    pub first_line: Option<u64>,
    /// The last line in view, where somebody said which.
    pub last_line: Option<u64>,
    /// When it was opened or searched last.
    pub last_accessed_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_back_by_its_name() {
        for status in FileStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        assert!("done".parse::<FileStatus>().is_err());
    }
}
