//! Tools of components in the list of all tools.

use std::collections::BTreeSet;

use bulkhead_store::{ComponentFilter, ComponentStatus, NewTool, PAGE_MAX, ToolFilter, ToolType};
use serde_json::json;

use super::{Registry, builtin::is_builtin, core_tool, description};
use crate::http::error::Rejection;

impl Registry {
    /// Makes the list say which tools the active version of `name` has; none where there is none.
    pub(super) async fn list_tools_of(&self, name: &str) -> Result<(), Rejection> {
        let Some(active) = self.store.component_by_name(name).await? else {
            self.store.delete_component_tools(name).await?;
            return Ok(());
        };
        let description = description(&active)?;
        let built_in = is_builtin(name);
        let tools = description.tools.into_iter().map(|tool| {
            let core = core_tool::tool_type(&tool.info.name).filter(|_| built_in);
            let tool_type = match core {
                Some(core) => core,
                None if built_in => ToolType::LettaBuiltin,
                None => ToolType::Custom,
            };
            let parameters = match core {
                Some(_) => core_tool::plain(&tool.info.input_schema),
                None => tool.info.input_schema,
            };
            // Nothing that reads alone is in the way of another.
            let is_parallel = match core {
                Some(_) => core_tool::is_parallel(&tool.info.name),
                None => tool.info.annotations.read_only,
            };
            let mut new = NewTool::new(tool.info.name.as_str(), tool_type);
            new.source_type = Some("component".to_owned());
            new.source_code = built_in.then(String::new);
            new.json_schema = Some(json!({
                "name": tool.info.name,
                "description": tool.info.description,
                "parameters": parameters,
            }));
            new.description = Some(tool.info.description);
            new.tags = built_in
                .then(|| tool_type.as_str().to_owned())
                .into_iter()
                .collect();
            new.metadata = Some(json!({ "kind": description.kind, "digest": active.digest }));
            new.enable_parallel_execution = Some(is_parallel);
            new
        });
        self.store
            .put_component_tools(name, tools.collect())
            .await?;
        Ok(())
    }

    /// Lists the tools of components that were stored before there was a list. Others are left as
    /// they are: people change what is listed.
    pub(crate) async fn list_missing_tools(&self) -> Result<(), Rejection> {
        let mut listed = BTreeSet::new();
        let mut filter = ToolFilter {
            limit: Some(PAGE_MAX),
            ..ToolFilter::default()
        };
        loop {
            let page = self.store.tools(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some(last.id.clone());
            listed.extend(
                page.into_iter()
                    .filter_map(|tool| Some(tool.component?.component)),
            );
        }
        let mut filter = ComponentFilter {
            status: Some(ComponentStatus::Active),
            limit: Some(PAGE_MAX),
            ..ComponentFilter::default()
        };
        loop {
            let page = self.store.components(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            filter.after = Some(last.digest);
            for component in page
                .iter()
                .filter(|component| !listed.contains(&component.name))
            {
                self.list_tools_of(&component.name).await?;
            }
        }
    }
}
