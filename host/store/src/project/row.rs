//! A project as a row.

use bulkhead_domain::platform::{Project, ProjectId, slug};

use crate::{
    Result, StoreError,
    agent::missing,
    check,
    fold::folded,
    sql::{Row, Statement, Transaction},
};

/// Refuses what no project has.
fn check(project: &Project) -> Result<()> {
    check::name("the project's name", &project.name)?;
    slug::check(&project.slug).map_err(|_| StoreError::Invalid {
        what: "the project's slug",
        reason: "is none",
    })
}

/// Writes a project that is not there yet.
pub(super) async fn insert(transaction: &mut Transaction, project: &Project) -> Result<()> {
    check(project)?;
    let insert = "INSERT INTO projects
            (id, name, name_folded, slug, owner_id, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let insert = Statement::new(insert)
        .bind(project.id.to_string())
        .bind(project.name.as_str())
        .bind(folded(&project.name))
        .bind(project.slug.as_str())
        .bind(project.owner_id.to_string())
        .bind(project.created_at)
        .bind(project.updated_at);
    let inserted = transaction.execute(insert).await.map(drop);
    inserted.map_err(|error| error.or_taken("project", &project.slug))
}

/// Writes a project in place of the one with its id, whose row is locked.
pub(super) async fn replace(transaction: &mut Transaction, project: &Project) -> Result<()> {
    check(project)?;
    let replace = "UPDATE projects SET name = $2, name_folded = $3, slug = $4, updated_at = $5
        WHERE id = $1";
    let replace = Statement::new(replace)
        .bind(project.id.to_string())
        .bind(project.name.as_str())
        .bind(folded(&project.name))
        .bind(project.slug.as_str())
        .bind(project.updated_at);
    let replaced = transaction.execute(replace).await.map(drop);
    replaced.map_err(|error| error.or_taken("project", &project.slug))
}

/// The project, which from here to the end of the transaction nobody else changes or deletes.
/// [`StoreError::NotFound`] where it is not there or was deleted.
pub(crate) async fn lock(transaction: &mut Transaction, id: ProjectId) -> Result<Project> {
    let mut query = by_id(id);
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    record(&row.ok_or_else(|| missing("project", id))?)
}

pub(super) fn by_id(id: ProjectId) -> Statement {
    let query = "SELECT id, name, slug, owner_id, created_at, updated_at FROM projects
        WHERE id = $1 AND deleted_at IS NULL";
    Statement::new(query).bind(id.to_string())
}

/// Reads the columns that [`by_id`] has, in its order.
pub(super) fn record(row: &Row) -> Result<Project> {
    Ok(Project {
        id: row.parsed(0, "project id")?,
        name: row.text(1)?,
        slug: row.text(2)?,
        owner_id: row.parsed(3, "owner of a project")?,
        created_at: row.timestamp(4)?,
        updated_at: row.timestamp(5)?,
    })
}
