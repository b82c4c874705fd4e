//! Who is in a project beside its owner.

use bulkhead_domain::platform::{Member, ProjectId, Role, UserId};

use super::row::lock;
use crate::{
    NumberedPage, Result, Store, StoreError,
    agent::missing,
    compiled_here,
    numbered::NumberedListing,
    sql::{Durability, Statement},
    user::lock_user,
};

/// Members and viewers of one project.
pub const MEMBERS_MAX: u64 = 1_000;

const LISTING: NumberedListing = NumberedListing {
    columns: "project_id, user_id, role, added_at, email, first_name, last_name",
    from: "project_members JOIN users ON users.id = user_id",
    order: "project_members.seq",
};

/// Somebody in a project, with what others see of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRecord {
    /// Who, and what this person may do.
    pub member: Member,
    /// The address.
    pub email: String,
    /// The given name.
    pub first_name: String,
    /// The family name.
    pub last_name: String,
}

impl Store {
    /// Takes somebody into a project, or gives somebody who is there another role; since when stays
    /// what it was then. Gives the member as it is then.
    ///
    /// [`StoreError::NotFound`] where there is no such project or user; [`StoreError::Invalid`] for
    /// [`Role::Owner`], and for the project's owner, who needs no role beside that;
    /// [`StoreError::Quota`] where the project has [`MEMBERS_MAX`].
    #[compiled_here]
    pub async fn put_member(&self, member: &Member) -> Result<MemberRecord> {
        if member.role == Role::Owner {
            return Err(StoreError::Invalid {
                what: "the member's role",
                reason: "is the owner's; a project has one owner",
            });
        }
        let (project_id, user_id) = (member.project_id.to_string(), member.user_id.to_string());
        let mut transaction = self.database().begin(Durability::Power).await?;
        let project = lock(&mut transaction, member.project_id).await?;
        let user = lock_user(&mut transaction, member.user_id).await?;
        let user = user.ok_or_else(|| missing("user", member.user_id))?;
        if project.owner_id == member.user_id {
            return Err(StoreError::Invalid {
                what: "the member",
                reason: "is the project's owner",
            });
        }
        let put = "INSERT INTO project_members (project_id, user_id, role, added_at)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role
            RETURNING added_at";
        let put = Statement::new(put)
            .bind(project_id.as_str())
            .bind(user_id)
            .bind(member.role.as_str())
            .bind(member.added_at);
        let added = transaction.optional(put).await?;
        let added_at = added.map_or(Ok(member.added_at), |row| row.timestamp(0))?;
        let count = "SELECT COUNT(*) FROM project_members WHERE project_id = $1";
        let count = Statement::new(count).bind(project_id);
        let count = transaction.optional(count).await?;
        if count.map_or(Ok(0), |row| row.unsigned(0))? > MEMBERS_MAX {
            return Err(StoreError::Quota {
                what: "the number of members of one project",
                limit: MEMBERS_MAX,
            });
        }
        transaction.commit().await?;
        Ok(MemberRecord {
            member: Member {
                added_at,
                ..*member
            },
            email: user.email,
            first_name: user.first_name,
            last_name: user.last_name,
        })
    }

    /// Takes somebody out of a project. Whether this person was in it; the owner is no such.
    /// [`StoreError::NotFound`] where there is no such project.
    #[compiled_here]
    pub async fn remove_member(&self, project: ProjectId, user: UserId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction, project).await?;
        let delete = "DELETE FROM project_members WHERE project_id = $1 AND user_id = $2";
        let delete = Statement::new(delete)
            .bind(project.to_string())
            .bind(user.to_string());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }

    /// A page of those in a project beside its owner, who came first first, and how many they are in
    /// all. A project that is not there has none.
    #[compiled_here]
    pub async fn list_members(
        &self,
        project: ProjectId,
        page: NumberedPage,
    ) -> Result<(Vec<MemberRecord>, u64)> {
        let conditions = |query: &mut Statement| {
            query.push(" AND project_id = ");
            query.push_value(project.to_string());
        };
        let (rows, total) = LISTING.page(self, page, conditions).await?;
        let members = rows.iter().map(|row| {
            Ok(MemberRecord {
                member: Member {
                    project_id: row.parsed(0, "project of a member")?,
                    user_id: row.parsed(1, "user id")?,
                    role: row.parsed(2, "role in a project")?,
                    added_at: row.timestamp(3)?,
                },
                email: row.text(4)?,
                first_name: row.text(5)?,
                last_name: row.text(6)?,
            })
        });
        Ok((members.collect::<Result<Vec<_>>>()?, total))
    }
}
