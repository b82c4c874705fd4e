//! How a conversation begins: with a system message, and with blocks for itself alone.

use bulkhead_agent::{RecompileOptions, start::system_message};
use bulkhead_domain::{
    Agent, Block, Conversation, Timestamp,
    id::{BlockId, MessageId},
};
use bulkhead_llm::catalog::settings;
use serde_json::Value;

use crate::{app::App, contract::Refusal, http::missing};

/// Refuses a model that nobody has, and settings that it can't have.
pub(super) async fn check_model(
    app: &App,
    agent: &Agent,
    model: Option<&str>,
    settings: Option<&Value>,
) -> Result<(), Refusal> {
    let mut config = match model {
        Some(handle) => app.models.find(handle).await?.config,
        None => agent.llm_config.clone(),
    };
    settings.map_or(Ok(()), |settings| {
        settings::apply(&mut config, settings).map_err(|invalid| {
            Refusal::bad_request(format!("INVALID_ARGUMENT: model_settings: {invalid}"))
        })
    })
}

/// Stores a conversation with its system message. Its context goes on with `context`, messages of
/// other threads; of `blocks` it gets copies that stand in the place of the agent's.
pub(super) async fn begin(
    app: &App,
    agent: &Agent,
    mut conversation: Conversation,
    blocks: &[Block],
    context: &[MessageId],
) -> Result<Conversation, Refusal> {
    let copies: Vec<Block> = blocks.iter().map(|block| copy(block, agent)).collect();
    let of_agent = app.store.blocks_of(&[agent.id]).await?;
    let mut seen: Vec<Block> = of_agent.into_values().flatten().collect();
    for copy in &copies {
        if let Some(shared) = seen.iter_mut().find(|block| block.label == copy.label) {
            shared.clone_from(copy);
        }
    }
    let system = system_message(agent, &seen, Some(conversation.id), Timestamp::now());
    conversation.isolated_block_ids = copies.iter().map(|block| block.id).collect();
    conversation.in_context_message_ids = vec![system.id];
    conversation
        .in_context_message_ids
        .extend_from_slice(context);
    if !copies.is_empty() {
        let stored = app.store.create_blocks(&copies).await;
        stored.map_err(missing::stored)?;
    }
    let stored = app
        .store
        .create_conversation(&conversation, &[system])
        .await;
    if let Err(error) = stored {
        forget_blocks(app, &conversation).await?;
        return Err(missing::stored(error));
    }
    // Only the engine knows what the system message says of passages.
    if app.store.archive_of_agent(&agent.id).await?.is_some() {
        let id = Some(conversation.id);
        let anew = app.engine.recompile(agent.id, id, RecompileOptions::ANEW);
        anew.await?;
    }
    Ok(conversation)
}

/// Deletes the blocks that a conversation has for itself.
pub(super) async fn forget_blocks(app: &App, conversation: &Conversation) -> Result<(), Refusal> {
    for id in &conversation.isolated_block_ids {
        app.store.delete_block(id).await?;
    }
    Ok(())
}

/// A copy of a block, which is whose the agent is.
fn copy(block: &Block, agent: &Agent) -> Block {
    let now = Timestamp::now();
    Block {
        id: BlockId::random(),
        version: 1,
        created_by_id: agent.created_by_id.clone(),
        created_at: now,
        updated_at: now,
        ..block.clone()
    }
}
