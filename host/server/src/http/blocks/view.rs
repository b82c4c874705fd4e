//! A block in an answer.

use bulkhead_domain::Block;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A memory block with every field of the contract.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Block)]
pub(crate) struct BlockView {
    id: String,
    label: String,
    value: String,
    limit: i64,
    description: Option<String>,
    read_only: bool,
    #[schema(value_type = Object)]
    metadata: Value,
    tags: Vec<String>,
    hidden: Option<bool>,
    project_id: Option<String>,
    template_name: Option<String>,
    is_template: bool,
    template_id: Option<String>,
    base_template_id: Option<String>,
    deployment_id: Option<String>,
    entity_id: Option<String>,
    preserve_on_migration: Option<bool>,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
}

impl From<Block> for BlockView {
    fn from(block: Block) -> Self {
        Self {
            id: block.id.to_string(),
            label: block.label,
            value: block.value,
            limit: block.limit,
            description: block.description,
            read_only: block.read_only,
            metadata: block.metadata.unwrap_or_else(|| json!({})),
            tags: block.tags,
            hidden: block.hidden,
            project_id: block.project_id,
            template_name: block.template_name,
            is_template: block.is_template,
            template_id: block.template_id,
            base_template_id: block.base_template_id,
            deployment_id: block.deployment_id,
            entity_id: block.entity_id,
            preserve_on_migration: block.preserve_on_migration,
            created_by_id: block.created_by_id,
            last_updated_by_id: block.last_updated_by_id,
        }
    }
}
