//! A block in an answer.

use bulkhead_domain::{AgentFile, Block, Timestamp};
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

/// What an agent sees of a file, as a block that nobody writes.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = FileBlock)]
pub(crate) struct FileBlockView {
    #[serde(flatten)]
    block: BlockView,
    file_id: String,
    /// the id of its folder
    source_id: String,
    is_open: bool,
    #[schema(value_type = Option<String>)]
    last_accessed_at: Option<Timestamp>,
}

impl FileBlockView {
    /// `limit`: the characters that the agent sees of a file at most, where it says so.
    pub(crate) fn new(file: AgentFile, limit: Option<i64>) -> Self {
        let mut block = Block::new(file.path, file.visible.unwrap_or_default());
        block.limit = limit.unwrap_or(block.limit);
        block.read_only = true;
        let mut block = BlockView::from(block);
        // No such block is stored. Its id is the one of the file in the agent, so that it stays.
        block.id = file.id.to_string().replacen("file_agent", "block", 1);
        Self {
            block,
            file_id: file.file_id.to_string(),
            source_id: file.folder_id.to_string(),
            is_open: file.is_open,
            last_accessed_at: Some(file.last_accessed_at),
        }
    }
}
