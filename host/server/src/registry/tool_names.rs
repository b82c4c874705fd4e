//! The names of all tools: what source that may call any tool has in scope.

use std::{sync::Arc, time::Instant};

use bulkhead_store::PAGE_MAX;

use super::Registry;
use crate::http::error::Rejection;

/// The newest tools by name; more than a page of functions is not put into a scope.
pub(crate) struct ToolNames {
    pub(crate) names: Vec<String>,
    made: Instant,
}

impl Registry {
    /// The names of the newest tools.
    pub(crate) async fn tool_names(&self) -> Result<Arc<ToolNames>, Rejection> {
        let generation = {
            let plans = self.plans.read();
            match &plans.names {
                Some(names) if self.is_fresh(names.made) => return Ok(Arc::clone(names)),
                _ => plans.generation,
            }
        };
        let made = Instant::now();
        let names = self.store.tool_names(PAGE_MAX).await?;
        let names = Arc::new(ToolNames { names, made });
        let mut plans = self.plans.write();
        if plans.generation == generation {
            plans.names = Some(Arc::clone(&names));
        }
        Ok(names)
    }
}
