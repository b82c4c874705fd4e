//! Projects, and who is in them.
//!
//! - `row`: a project as a row; `filter`: lists and counts; `members`: who is in a project beside its
//!   owner; `delete`: the end of a project.
//!
//! Whoever changes a project, its members, or makes an instance in it locks its row first; agents are
//! locked after projects.

mod delete;
mod filter;
mod members;
mod row;

use bulkhead_domain::{
    Timestamp,
    platform::{Project, ProjectId, Role, UserId},
};

pub use filter::ProjectFilter;
pub use members::{MEMBERS_MAX, MemberRecord};
pub(crate) use row::lock as lock_project;

use crate::{
    Result, Store, StoreError,
    agent::missing,
    compiled_here,
    sql::{Durability, Statement},
};

/// Living projects of one owner.
pub const PROJECTS_MAX: u64 = 10_000;

impl Store {
    /// Stores a new project. [`StoreError::NameTaken`] with the slug where another project of the
    /// owner has it, [`StoreError::NotFound`] where there is no such user, [`StoreError::Quota`]
    /// where the owner has [`PROJECTS_MAX`].
    #[compiled_here]
    pub async fn create_project(&self, project: &Project) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let owner = crate::user::lock_user(&mut transaction, project.owner_id).await?;
        owner.ok_or_else(|| missing("user", project.owner_id))?;
        let count = "SELECT COUNT(*) FROM projects WHERE owner_id = $1 AND deleted_at IS NULL";
        let count = Statement::new(count).bind(project.owner_id.to_string());
        let count = transaction.optional(count).await?;
        if count.map_or(Ok(0), |row| row.unsigned(0))? >= PROJECTS_MAX {
            return Err(StoreError::Quota {
                what: "the number of projects of one owner",
                limit: PROJECTS_MAX,
            });
        }
        row::insert(&mut transaction, project).await?;
        transaction.commit().await
    }

    /// The project with this id; none where it was deleted.
    #[compiled_here]
    pub async fn project(&self, id: ProjectId) -> Result<Option<Project>> {
        let row = self.database().optional(row::by_id(id)).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// Changes a project; gives it as it is then. Nobody else changes it from before `edit` sees it
    /// until it is stored. Its id, its owner and when it was made stay what they were.
    ///
    /// [`StoreError::NotFound`] where it is not there or was deleted, [`StoreError::NameTaken`] where
    /// another project of the owner has the new slug; where `edit` fails, nothing is stored.
    pub async fn update_project<E: From<StoreError>>(
        &self,
        id: ProjectId,
        edit: impl FnOnce(&mut Project) -> Result<(), E> + Send,
    ) -> Result<Project, E> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let former = row::lock(&mut transaction, id).await?;
        let mut project = former.clone();
        edit(&mut project)?;
        project.id = former.id;
        project.owner_id = former.owner_id;
        project.created_at = former.created_at;
        project.updated_at = Timestamp::now();
        row::replace(&mut transaction, &project).await?;
        transaction.commit().await?;
        Ok(project)
    }

    /// What a user is in a project; none for who is nothing in it, and where there is none.
    #[compiled_here]
    pub async fn role_in(&self, project: ProjectId, user: UserId) -> Result<Option<Role>> {
        let query = "SELECT CASE WHEN owner_id = $2 THEN 'owner' ELSE
                (SELECT role FROM project_members WHERE project_id = $1 AND user_id = $2) END
            FROM projects WHERE id = $1 AND deleted_at IS NULL";
        let query = Statement::new(query)
            .bind(project.to_string())
            .bind(user.to_string());
        let row = self.database().optional(query).await?;
        row.map_or(Ok(None), |row| row.optional_parsed(0, "role in a project"))
    }
}
