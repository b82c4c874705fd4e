//! Grants: what a person allowed a component.

use bulkhead_domain::{Timestamp, id::GrantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Row, Statement},
};

const COLUMNS: &str = "SELECT
    id, component, tool, capabilities, limits, note, created_at, expires_at
    FROM grants WHERE 1 = 1";

/// What a person allowed a component, or one tool of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Identifies this grant.
    pub id: GrantId,
    /// The name of the component; it holds for every active version.
    pub component: String,
    /// The tool that it holds for; all of them where none is named.
    #[serde(default)]
    pub tool: Option<String>,
    /// What is allowed, as the policy writes it.
    pub capabilities: Value,
    /// What a call may consume, as the policy writes it.
    #[serde(default)]
    pub limits: Option<Value>,
    /// Why, in a person's words.
    #[serde(default)]
    pub note: Option<String>,
    /// When it was given.
    pub created_at: Timestamp,
    /// From when on it no longer holds.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

impl Grant {
    /// A grant from now on, for all tools of the component, without an end.
    pub fn new(component: impl Into<String>, capabilities: Value) -> Self {
        Self {
            id: GrantId::random(),
            component: component.into(),
            tool: None,
            capabilities,
            limits: None,
            note: None,
            created_at: Timestamp::now(),
            expires_at: None,
        }
    }
}

/// Which grants to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct GrantFilter {
    /// For the component of this name.
    pub component: Option<String>,
    /// Those that hold for this tool: its own and those for all tools.
    pub tool: Option<String>,
    /// Those that have not expired at this time.
    pub valid_at: Option<Timestamp>,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
    /// Those that follow this one in the list.
    pub after: Option<GrantId>,
}

impl Store {
    /// Stores a grant, in place of one with the same id.
    #[compiled_here]
    pub async fn put_grant(&self, grant: &Grant) -> Result<()> {
        check::name("the grant's component", &grant.component)?;
        if let Some(tool) = &grant.tool {
            check::name("the grant's tool", tool)?;
        }
        check::text(
            "the grant's note",
            grant.note.as_deref().unwrap_or_default(),
            check::NOTE_MAX,
        )?;
        let limits = grant.limits.as_ref();
        let limits = limits.map(|limits| check::document("the grant's limits", limits));
        let put = "INSERT INTO grants
            (id, component, tool, capabilities, limits, note, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (id) DO UPDATE SET
                component = excluded.component, tool = excluded.tool,
                capabilities = excluded.capabilities, limits = excluded.limits,
                note = excluded.note, created_at = excluded.created_at,
                expires_at = excluded.expires_at";
        let put = Statement::new(put)
            .bind(grant.id.to_string())
            .bind(grant.component.as_str())
            .bind(grant.tool.clone())
            .bind(check::document(
                "the grant's capabilities",
                &grant.capabilities,
            )?)
            .bind(limits.transpose()?)
            .bind(grant.note.clone())
            .bind(grant.created_at)
            .bind(grant.expires_at);
        let mut transaction = self.database().begin(Durability::Power).await?;
        transaction.defer(put).await?;
        transaction.commit().await
    }

    /// The grant with this id, expired or not.
    #[compiled_here]
    pub async fn grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        let mut query = Statement::new(COLUMNS);
        query.push(" AND id = ").push_value(id.to_string());
        self.database()
            .optional(query)
            .await?
            .as_ref()
            .map(record)
            .transpose()
    }

    /// Grants, the newest first.
    #[compiled_here]
    pub async fn grants(&self, filter: &GrantFilter) -> Result<Vec<Grant>> {
        let mut query = Statement::new(COLUMNS);
        for (what, name) in [
            ("the grant's component", &filter.component),
            ("the grant's tool", &filter.tool),
        ] {
            name.as_deref()
                .map_or(Ok(()), |name| check::name(what, name))?;
        }
        query.push_if(" AND component = ", filter.component.clone());
        if let Some(tool) = &filter.tool {
            query
                .push(" AND (tool IS NULL OR tool = ")
                .push_value(tool.as_str())
                .push(")");
        }
        if let Some(at) = filter.valid_at {
            query
                .push(" AND (expires_at IS NULL OR expires_at > ")
                .push_value(at)
                .push(")");
        }
        if let Some(after) = &filter.after {
            let at = Statement::new("SELECT created_at FROM grants WHERE id = $1");
            let at = self.database().optional(at.bind(after.to_string())).await?;
            let missing = || StoreError::NotFound {
                what: "grant",
                id: after.to_string(),
            };
            let at = at.ok_or_else(missing)?.int(0)?;
            query.push(" AND (created_at, id) < (").push_value(at);
            query.push(", ").push_value(after.to_string()).push(")");
        }
        query.push(" ORDER BY created_at DESC, id DESC LIMIT ");
        query.push_value(check::page(filter.limit));
        self.database()
            .all(query)
            .await?
            .iter()
            .map(record)
            .collect()
    }

    /// Takes back all grants that name exactly this tool of this component. How many there were.
    #[compiled_here]
    pub async fn delete_grants_of(&self, component: &str, tool: &str) -> Result<u64> {
        check::name("the grant's component", component)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM grants WHERE component = $1 AND tool = $2");
        let deleted = transaction
            .execute(delete.bind(component).bind(tool))
            .await?;
        transaction.commit().await?;
        Ok(deleted)
    }

    /// Takes a grant back. Whether it was there.
    #[compiled_here]
    pub async fn revoke_grant(&self, id: &GrantId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let revoke = Statement::new("DELETE FROM grants WHERE id = $1").bind(id.to_string());
        let revoked = transaction.execute(revoke).await? > 0;
        transaction.commit().await?;
        Ok(revoked)
    }
}

fn record(row: &Row) -> Result<Grant> {
    let limits = row.optional_text(4)?;
    let limits = limits
        .map(|limits| serde_json::from_str(&limits))
        .transpose();
    Ok(Grant {
        id: row.parsed(0, "grant id")?,
        component: row.text(1)?,
        tool: row.optional_text(2)?,
        capabilities: row.json(3, "grant capabilities")?,
        limits: limits.map_err(|error| StoreError::corrupt("grant limits", error))?,
        note: row.optional_text(5)?,
        created_at: row.timestamp(6)?,
        expires_at: row.optional_int(7)?.map(Timestamp::from_micros),
    })
}
