//! One question to an agent's model, of which nothing is stored.

use axum::{Json, extract::State};
use bulkhead_agent::expect_active;
use bulkhead_domain::Part;
use bulkhead_llm::{ChatMessage, ChatRequest, ToolChoice};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{
    contract::{Body, Refusal, body::Schema, document::RunRefusals, id::DEFAULT_USER},
    http::{
        AppState,
        agents::{find, instance::expect_not_counted},
        query::Path,
    },
};

/// The question.
#[derive(Deserialize, ToSchema)]
pub(crate) struct GenerateRequest {
    /// what the model is asked
    prompt: String,
    /// what it is told before
    system_prompt: Option<String>,
    /// another model than the agent's
    override_model: Option<String>,
    /// the JSON Schema of the answer
    #[schema(value_type = Option<Object>)]
    response_schema: Option<Value>,
}

impl Schema for GenerateRequest {
    const NAME: &str = "GenerateRequest";
}

/// Asks an agent's model one question, without its tools, memory and history.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/generate",
    operation_id = "generate_completion",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = GenerateRequest,
    responses((status = OK, body = Object, description = "content, model and usage"), RunRefusals)
)]
pub(crate) async fn generate(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Body(body): Body<GenerateRequest>,
) -> Result<Json<Value>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    expect_active(&agent)?;
    expect_not_counted(&app, agent.id).await?;
    let models = app.engine.models();
    let mut config = match &body.override_model {
        Some(handle) => models.resolve(handle).await?,
        None => agent.llm_config,
    };
    if let Some(schema) = body.response_schema {
        config.response_format = Some(json!({
            "type": "json_schema",
            "json_schema": { "name": "response", "schema": schema, "strict": true },
        }));
    }
    let endpoint = models.endpoint(&config).await?;
    let request = ChatRequest {
        endpoint,
        system: body.system_prompt.unwrap_or_default(),
        messages: vec![ChatMessage::User(vec![Part::text(body.prompt)])],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: false,
        user: Some(DEFAULT_USER.to_owned()),
        script: agent
            .metadata
            .and_then(|metadata| metadata.get("script").cloned()),
        config,
    };
    let reply = models.chat(&request, None).await;
    let reply = reply.map_err(bulkhead_agent::AgentError::Llm)?;
    let texts = reply.content.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let usage = &reply.usage;
    Ok(Json(json!({
        "content": texts.collect::<String>(),
        "model": request.config.handle(),
        "usage": {
            "message_type": "usage_statistics",
            "completion_tokens": usage.completion_tokens,
            "prompt_tokens": usage.prompt_tokens,
            "total_tokens": usage.total_tokens,
            "step_count": 1,
            "run_ids": null,
            "cached_input_tokens": usage.cached_input_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
            "context_tokens": null,
        },
    })))
}
