//! One tool, by its id or its name.

use bulkhead_domain::Timestamp;

use super::{
    NewTool, ToolRecord, limits,
    row::{self, identity, lock, put, record},
};
use crate::{
    Result, Store, StoreError, Upserted, check, compiled_here,
    sql::{Durability, Statement, Transaction},
};

impl Store {
    /// Stores a tool in place of the one with its name, whatever that was: its id stays, and who
    /// made it and when. Where a component brought the former one, this one is no longer the
    /// component's.
    #[compiled_here]
    pub async fn upsert_tool(&self, new: NewTool) -> Result<Upserted<ToolRecord>> {
        let mut tool = ToolRecord::made(new, None, Timestamp::now());
        // Also what `put` does: a name that no database takes must not be asked for.
        limits::name("the tool's name", &tool.name)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let former = identity(&mut transaction, &tool.name).await?;
        let is_new = former.is_none();
        if let Some(former) = former {
            tool.in_place_of(former);
        }
        put(&mut transaction, &tool).await?;
        transaction.commit().await?;
        let record = tool;
        Ok(Upserted { record, is_new })
    }

    /// The tool with this id.
    #[compiled_here]
    pub async fn tool(&self, id: &str) -> Result<Option<ToolRecord>> {
        check::name("the tool's id", id)?;
        let row = self.database().optional(by_id(id)).await?;
        row.as_ref().map(record).transpose()
    }

    /// The tool with this name.
    #[compiled_here]
    pub async fn tool_by_name(&self, name: &str) -> Result<Option<ToolRecord>> {
        limits::name("the tool's name", name)?;
        let mut query = row::select();
        query.push(" WHERE name = ").push_value(name);
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }

    /// Changes a tool; nobody else changes it from before `change` sees it until it is stored.
    ///
    /// Its id, who made it and when, and the component or the MCP server that brings it stay what
    /// they were.
    /// [`StoreError::NameTaken`] where `change` gives it the name of another tool; where it
    /// fails, nothing is stored.
    pub async fn update_tool<E: From<StoreError>>(
        &self,
        id: &str,
        change: impl FnOnce(&mut ToolRecord) -> Result<(), E> + Send,
    ) -> Result<ToolRecord, E> {
        check::name("the tool's id", id)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let mut tool = find(&mut transaction, id).await?;
        let (identity, component, mcp) =
            (tool.identity(), tool.component.clone(), tool.mcp.clone());
        let former_name = tool.name.clone();
        change(&mut tool)?;
        tool.in_place_of(identity);
        tool.component = component;
        tool.mcp = mcp;
        tool.updated_at = Timestamp::now();
        expect_name(&mut transaction, &tool, &former_name).await?;
        put(&mut transaction, &tool).await?;
        transaction.commit().await?;
        Ok(tool)
    }

    /// Deletes a tool. Whether it was there.
    #[compiled_here]
    pub async fn delete_tool(&self, id: &str) -> Result<bool> {
        check::name("the tool's id", id)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let deleted = delete(&mut transaction, id).await?;
        transaction.commit().await?;
        Ok(deleted)
    }

    /// Takes back that a tool was saved: `former` is put in its place, and one that was new is
    /// deleted. A tool that was changed or deleted since stays as it is. Whether it was taken back.
    #[compiled_here]
    pub async fn take_back_tool(
        &self,
        saved: &ToolRecord,
        former: Option<ToolRecord>,
    ) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let there = transaction.optional(by_id(&saved.id)).await?;
        let there = there.as_ref().map(record).transpose()?;
        // Whoever changes a tool changes this.
        if there.is_none_or(|there| there.updated_at != saved.updated_at) {
            return Ok(false);
        }
        match former {
            // Of another tool it is nothing to put back here.
            Some(former) if former.id != saved.id => return Ok(false),
            Some(former) => {
                expect_name(&mut transaction, &former, &saved.name).await?;
                put(&mut transaction, &former).await?;
            }
            None => {
                delete(&mut transaction, &saved.id).await?;
            }
        }
        transaction.commit().await?;
        Ok(true)
    }
}

fn by_id(id: &str) -> Statement {
    let mut query = row::select();
    query.push(" WHERE id = ").push_value(id);
    query
}

async fn find(transaction: &mut Transaction, id: &str) -> Result<ToolRecord> {
    let missing = || StoreError::NotFound {
        what: "tool",
        id: id.to_owned(),
    };
    let row = transaction.optional(by_id(id)).await?;
    record(&row.ok_or_else(missing)?)
}

async fn delete(transaction: &mut Transaction, id: &str) -> Result<bool> {
    let delete = Statement::new("DELETE FROM tools WHERE id = $1").bind(id);
    Ok(transaction.execute(delete).await? > 0)
}

/// Refuses the new name of a tool where another tool has it.
async fn expect_name(
    transaction: &mut Transaction,
    tool: &ToolRecord,
    former_name: &str,
) -> Result<()> {
    if tool.name == former_name {
        return Ok(());
    }
    limits::name("the tool's name", &tool.name)?;
    expect_free(transaction, &tool.name).await
}

async fn expect_free(transaction: &mut Transaction, name: &str) -> Result<()> {
    match identity(transaction, name).await? {
        None => Ok(()),
        Some(_) => Err(StoreError::NameTaken {
            what: "tool",
            name: name.to_owned(),
        }),
    }
}
