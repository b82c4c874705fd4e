//! The names of tools, without all that a tool is.

use crate::{PAGE_MAX, Result, Store, compiled_here, sql::Statement};

impl Store {
    /// The names of the newest tools: at most `limit`, and never over [`PAGE_MAX`].
    #[compiled_here]
    pub async fn tool_names(&self, limit: u32) -> Result<Vec<String>> {
        let mut query = Statement::new("SELECT name FROM tools ORDER BY created_at DESC, id DESC");
        query
            .push(" LIMIT ")
            .push_value(i64::from(limit.min(PAGE_MAX)));
        let rows = self.database().all(query).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }
}
