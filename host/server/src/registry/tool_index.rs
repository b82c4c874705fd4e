//! Which components have a tool of some name: how one tool finds another.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use bulkhead_store::{ComponentFilter, ComponentStatus, PAGE_MAX};

use super::{Registry, description};
use crate::http::error::Rejection;

/// Names of the components whose active version has a tool, by the tool's name.
pub(crate) struct ToolIndex {
    pub(crate) components: BTreeMap<String, Vec<String>>,
    made: Instant,
}

impl Registry {
    /// Which active components have which tools.
    pub(crate) async fn tool_index(&self) -> Result<Arc<ToolIndex>, Rejection> {
        let generation = {
            let plans = self.plans.read();
            match &plans.tools {
                Some(index) if self.is_fresh(index.made) => return Ok(Arc::clone(index)),
                _ => plans.generation,
            }
        };
        let index = Arc::new(self.make_tool_index().await?);
        let mut plans = self.plans.write();
        if plans.generation == generation {
            plans.tools = Some(Arc::clone(&index));
        }
        Ok(index)
    }

    async fn make_tool_index(&self) -> Result<ToolIndex, Rejection> {
        let made = Instant::now();
        let status = Some(ComponentStatus::Active);
        let mut filter = ComponentFilter {
            status,
            limit: Some(PAGE_MAX),
            ..ComponentFilter::default()
        };
        let mut components = BTreeMap::<_, Vec<String>>::new();
        loop {
            let page = self.store.components(&filter).await?;
            for record in &page {
                for tool in description(record)?.tools {
                    components
                        .entry(tool.info.name)
                        .or_default()
                        .push(record.name.clone());
                }
            }
            if page.len() < PAGE_MAX as usize {
                return Ok(ToolIndex { components, made });
            }
            filter.after = page.last().map(|record| record.digest);
        }
    }
}
