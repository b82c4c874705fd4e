//! Lists of projects.

use bulkhead_domain::platform::{Project, Role, UserId};

use super::row::record;
use crate::{
    NumberedPage, Result, Store, check, compiled_here, fold::pattern, numbered::NumberedListing,
    sql::Statement,
};

/// Those of one person. The user stands once in the list of tables, as a row of its own.
const OF_USER: NumberedListing = NumberedListing {
    columns: "p.id, p.name, p.slug, p.owner_id, p.created_at, p.updated_at,
        CASE WHEN p.owner_id = u.id THEN 'owner' ELSE m.role END",
    from: "projects p JOIN users u ON p.deleted_at IS NULL
        LEFT JOIN project_members m ON m.project_id = p.id AND m.user_id = u.id",
    order: "p.seq",
};

/// All of them, whoever asks.
const ALL: NumberedListing = NumberedListing {
    columns: "p.id, p.name, p.slug, p.owner_id, p.created_at, p.updated_at, NULL",
    from: "projects p",
    order: "p.seq",
};

/// Which projects to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct ProjectFilter {
    /// Who asks: roles are those of this user.
    pub user_id: Option<UserId>,
    /// Those too in which that user is nothing. Without a user it makes no difference: then it is
    /// all of them.
    pub all: bool,
    /// With this somewhere in the name, in upper or lower case.
    pub search: Option<String>,
    /// Which page.
    pub page: NumberedPage,
}

impl Store {
    /// The projects of a page that were not deleted, the oldest first, each with what the user is in
    /// it, and how many there are in all.
    #[compiled_here]
    pub async fn list_projects(
        &self,
        filter: &ProjectFilter,
    ) -> Result<(Vec<(Project, Option<Role>)>, u64)> {
        let search = filter.search.as_deref();
        check::text("the search", search.unwrap_or_default(), check::NAME_MAX)?;
        let conditions = |query: &mut Statement| {
            query.push(" AND p.deleted_at IS NULL");
            if let Some(user) = filter.user_id {
                query.push(" AND u.id = ").push_value(user.to_string());
                if !filter.all {
                    query.push(" AND p.id IN (SELECT id FROM projects WHERE owner_id = ");
                    query.push_value(user.to_string());
                    query.push(" AND deleted_at IS NULL UNION ALL");
                    query.push(" SELECT project_id FROM project_members WHERE user_id = ");
                    query.push_value(user.to_string()).push(")");
                }
            }
            if let Some(search) = search {
                query
                    .push(" AND p.name_folded LIKE ")
                    .push_value(pattern(search));
                query.push(" ESCAPE '\\'");
            }
        };
        let listing = if filter.user_id.is_some() {
            &OF_USER
        } else {
            &ALL
        };
        let (rows, total) = listing.page(self, filter.page, conditions).await?;
        let project = |row| Ok((record(row)?, row.optional_parsed(6, "role in a project")?));
        let projects = rows.iter().map(project).collect::<Result<Vec<_>>>()?;
        Ok((projects, total))
    }
}
