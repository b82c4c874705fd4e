//! A new block.

use axum::{Json, extract::State};
use bulkhead_domain::{
    Block, Timestamp,
    block::{LIMIT_DEFAULT, default_description},
    id::BlockId,
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::view::BlockView;
use crate::{
    contract::{Body, Refusal, body::Schema, document::Refusals},
    http::{AppState, missing, scope},
};

/// The body of a new block, by itself or of a new agent.
#[derive(Deserialize, ToSchema)]
pub(crate) struct CreateBlock {
    pub(crate) label: String,
    value: String,
    limit: Option<i64>,
    description: Option<String>,
    read_only: Option<bool>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    tags: Option<Vec<String>>,
    hidden: Option<bool>,
    project_id: Option<String>,
    template_name: Option<String>,
    is_template: Option<bool>,
    template_id: Option<String>,
    base_template_id: Option<String>,
    deployment_id: Option<String>,
    entity_id: Option<String>,
    preserve_on_migration: Option<bool>,
}

impl Schema for CreateBlock {
    const NAME: &str = "CreateBlock";
}

impl From<CreateBlock> for Block {
    fn from(body: CreateBlock) -> Self {
        let now = Timestamp::now();
        let default = || default_description(&body.label).map(str::to_owned);
        Self {
            id: BlockId::random(),
            description: body.description.or_else(default),
            label: body.label,
            value: body.value,
            limit: body.limit.unwrap_or(LIMIT_DEFAULT),
            read_only: body.read_only.unwrap_or(false),
            metadata: Some(body.metadata.unwrap_or_else(|| json!({}))),
            tags: body.tags.unwrap_or_default(),
            hidden: body.hidden,
            is_template: body.is_template.unwrap_or(false),
            template_name: body.template_name,
            template_id: body.template_id,
            base_template_id: body.base_template_id,
            deployment_id: body.deployment_id,
            entity_id: body.entity_id,
            preserve_on_migration: Some(body.preserve_on_migration.unwrap_or(false)),
            project_id: body.project_id,
            // Clients of the contract get none.
            created_by_id: scope::user().map(|user| user.to_string()),
            last_updated_by_id: None,
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }
}

/// Makes a block that belongs to no agent yet.
#[utoipa::path(
    post,
    path = "/v1/blocks/",
    operation_id = "create_block",
    tag = "blocks",
    request_body = CreateBlock,
    responses((status = OK, body = BlockView, description = "the block"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<CreateBlock>,
) -> Result<Json<BlockView>, Refusal> {
    let block = Block::from(body);
    let created = app.store.create_block(&block).await;
    created.map_err(missing::stored)?;
    Ok(Json(block.into()))
}
