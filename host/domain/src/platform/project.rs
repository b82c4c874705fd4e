//! Projects, and who may do what in them.

use serde::{Deserialize, Serialize};

use super::{ProjectId, UserId};
use crate::{
    Timestamp,
    run::{UnknownWord, spelled},
};

/// What belongs together: instances, and the people who work with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// Its name for people.
    pub name: String,
    /// Its name in URLs, see [`super::slug`]. No other project of its owner has it; those of others
    /// may, so that nobody learns what others have.
    pub slug: String,
    /// Whose it is.
    pub owner_id: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Project {
    /// A project of this owner, made now.
    pub fn new(owner_id: UserId, name: impl Into<String>, slug: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: ProjectId::random(),
            name: name.into(),
            slug: slug.into(),
            owner_id,
            created_at: now,
            updated_at: now,
        }
    }
}

/// What somebody is in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees everything, changes nothing.
    Viewer,
    /// Works with the instances that are there.
    Member,
    /// Makes and ends instances, and decides who else is in the project. Each has one.
    Owner,
}

impl Role {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Owner => "owner",
        }
    }
}

spelled! {
    Role, "role in a project";
}

/// Somebody in a project beside its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The project.
    pub project_id: ProjectId,
    /// Who.
    pub user_id: UserId,
    /// [`Role::Member`] or [`Role::Viewer`].
    pub role: Role,
    /// Since when.
    pub added_at: Timestamp,
}
