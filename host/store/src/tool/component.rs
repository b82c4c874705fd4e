//! All tools that a component brings.

use std::collections::{HashMap, HashSet};

use bulkhead_domain::Timestamp;

use super::{
    ComponentTool, NewTool, ToolRecord, limits,
    row::{self, identity, lock, put, record},
};
use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Statement, Transaction},
};

/// Names that are tried for one tool before it is given up. Whoever takes all of them means it.
const NAMES_TRIED: usize = 100;

impl Store {
    /// Makes these the tools of a component: those that it no longer has go, those that it still
    /// has keep their ids and their names, and one that says nothing new is not written again.
    ///
    /// The name of each [`NewTool`] is what the component calls the tool. Where another tool has
    /// that name already, this one is `<component>__<tool>`, and where that is taken too, it ends
    /// in `__2`, and so on. It is decided once, when the tool is first seen. Gives the tools in
    /// the order of `tools`.
    #[compiled_here]
    pub async fn put_component_tools(
        &self,
        component: &str,
        tools: Vec<NewTool>,
    ) -> Result<Vec<ToolRecord>> {
        check::name("the component's name", component)?;
        expect_distinct(&tools)?;
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let mut former = stored(&mut transaction, component).await?;
        let kept: HashSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        // First what goes: its names are free for what comes.
        for (_, gone) in former
            .iter()
            .filter(|(tool, _)| !kept.contains(tool.as_str()))
        {
            let delete = Statement::new("DELETE FROM tools WHERE id = $1");
            transaction.defer(delete.bind(gone.id.as_str())).await?;
        }
        let mut records = Vec::with_capacity(tools.len());
        for new in tools {
            let former = former.remove(&new.name);
            records.push(put_one(&mut transaction, component, new, former, now).await?);
        }
        transaction.commit().await?;
        Ok(records)
    }

    /// Deletes the tools of a component; gives how many there were.
    #[compiled_here]
    pub async fn delete_component_tools(&self, component: &str) -> Result<u64> {
        check::name("the component's name", component)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let delete = Statement::new("DELETE FROM tools WHERE component = $1").bind(component);
        let deleted = transaction.execute(delete).await?;
        transaction.commit().await?;
        Ok(deleted)
    }
}

fn expect_distinct(tools: &[NewTool]) -> Result<()> {
    if tools.len() > limits::COMPONENT_TOOLS_MAX {
        return Err(StoreError::Quota {
            what: "tools of one component",
            limit: limits::COMPONENT_TOOLS_MAX as u64,
        });
    }
    let mut names = HashSet::new();
    for tool in tools {
        check::name("the tool's name", &tool.name)?;
        if !names.insert(tool.name.as_str()) {
            return Err(StoreError::Invalid {
                what: "the component's list of tools",
                reason: "has the same name twice",
            });
        }
    }
    Ok(())
}

/// The tools of a component, by what it calls them.
async fn stored(
    transaction: &mut Transaction,
    component: &str,
) -> Result<HashMap<String, ToolRecord>> {
    let mut query = row::select();
    query.push(" WHERE component = ").push_value(component);
    let rows = transaction.all(query).await?;
    let mut tools = HashMap::with_capacity(rows.len());
    for row in &rows {
        let tool = record(row)?;
        if let Some(origin) = &tool.component {
            tools.insert(origin.tool.clone(), tool);
        }
    }
    Ok(tools)
}

async fn put_one(
    transaction: &mut Transaction,
    component: &str,
    new: NewTool,
    former: Option<ToolRecord>,
    now: Timestamp,
) -> Result<ToolRecord> {
    let origin = ComponentTool {
        component: component.to_owned(),
        tool: new.name.clone(),
    };
    let mut tool = ToolRecord::made(new, Some(origin), now);
    let Some(former) = former else {
        tool.name = free_name(transaction, component, &tool.name).await?;
        put(transaction, &tool).await?;
        return Ok(tool);
    };
    tool.in_place_of(former.identity());
    tool.name.clone_from(&former.name);
    let unchanged = ToolRecord {
        updated_at: former.updated_at,
        last_updated_by_id: former.last_updated_by_id.clone(),
        ..tool.clone()
    };
    if unchanged == former {
        return Ok(former);
    }
    put(transaction, &tool).await?;
    Ok(tool)
}

/// The first of the names for this tool that no tool has.
async fn free_name(transaction: &mut Transaction, component: &str, tool: &str) -> Result<String> {
    let full = format!("{component}__{tool}");
    let numbered = (2..NAMES_TRIED).map(|number| format!("{full}__{number}"));
    let names = [tool.to_owned(), full.clone()].into_iter().chain(numbered);
    for name in names {
        if identity(transaction, &name).await?.is_none() {
            return Ok(name);
        }
    }
    let what = "tool";
    Err(StoreError::NameTaken { what, name: full })
}
