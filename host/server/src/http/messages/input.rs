//! What a request brings, made from its body: messages, decisions, images.

use bulkhead_agent::{ClientSkill, Decision, Incoming, Input, RunRequest, RunType, ThreadKey};
use bulkhead_domain::{
    Approval, ImageSource, LlmConfig, Message, Part, Role,
    id::{AgentId, ConversationId},
};
use bulkhead_store::message::expect_storable;
use serde::Deserialize;
use serde_json::Value;

use super::{body::SendBody, images, later};
use crate::{
    app::App,
    contract::{Refusal, id::DEFAULT_USER},
    http::missing,
};

/// Bytes of an answer to a request for approval. A result is stored twice, as text and as what the
/// model reads, in one message of at most 8 MiB.
const DECISIONS_MAX: usize = 3 << 20;

/// An element of `messages`, after its schema was checked.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Element {
    Message(Sent),
    Approval {
        approvals: Option<Vec<Approval>>,
        approve: Option<bool>,
        approval_request_id: Option<String>,
        reason: Option<String>,
    },
    ToolReturn {
        tool_returns: Vec<Approval>,
    },
}

#[derive(Deserialize)]
struct Sent {
    role: Role,
    content: Value,
    otid: Option<String>,
    name: Option<String>,
    sender_id: Option<String>,
    group_id: Option<String>,
}

/// The request that a body means.
pub(crate) async fn request(
    app: &App,
    body: &SendBody,
    agent_id: AgentId,
    conversation_id: Option<ConversationId>,
    run_type: RunType,
) -> Result<RunRequest, Refusal> {
    let input = input(app, body, agent_id).await?;
    let thread = ThreadKey {
        agent_id,
        conversation_id,
    };
    let mut config = body.config();
    if body.callback_url.is_some() {
        later::note_receiver(&mut config);
    }
    let skills = body.client_skills.iter().flatten();
    Ok(RunRequest {
        conversation_id,
        input,
        otids: otids(body),
        max_steps: body.steps(),
        override_model: model(app, body, thread).await?,
        override_system: body.override_system.clone(),
        client_tools: body.client_tools(),
        client_skills: skills
            .map(|skill| ClientSkill {
                name: skill.name.clone(),
                description: skill.description.clone(),
                location: skill.location.clone(),
            })
            .collect(),
        request_config: Some(config),
        callback_url: body.callback_url.clone(),
        user: Some(DEFAULT_USER.to_owned()),
        ..RunRequest::new(agent_id, run_type)
    })
}

/// The client's ids of what a body brings.
fn otids(body: &SendBody) -> Vec<String> {
    let elements = body.messages.iter().flatten();
    let otids = elements.filter_map(|element| element["otid"].as_str());
    otids.map(str::to_owned).collect()
}

/// The model of this request, where it is another than the agent's or asked otherwise.
async fn model(
    app: &App,
    body: &SendBody,
    thread: ThreadKey,
) -> Result<Option<LlmConfig>, Refusal> {
    if body.override_model.is_none() && !body.return_logprobs {
        return Ok(None);
    }
    let mut model = app.engine.model_of(thread).await?;
    if let Some(handle) = &body.override_model {
        model = app.engine.model_instead(&model, handle).await?;
    }
    if body.return_logprobs {
        model.return_logprobs = true;
        model.top_logprobs = body.top_logprobs.or(model.top_logprobs);
    }
    Ok(Some(model))
}

/// What a body brings.
pub(crate) async fn input(app: &App, body: &SendBody, agent_id: AgentId) -> Result<Input, Refusal> {
    let mut input = Input::default();
    let mut images = images::Images::of(app);
    if let Some(content) = &body.input {
        let mut incoming = Incoming::text(Role::User, "");
        incoming.content = parts(content, &mut images).await?;
        input.messages.push(incoming);
    }
    for element in body.messages.iter().flatten() {
        match Element::deserialize(element).map_err(malformed)? {
            Element::Message(sent) => input.messages.push(Incoming {
                role: sent.role,
                content: parts(&sent.content, &mut images).await?,
                otid: sent.otid,
                name: sent.name,
                sender_id: sent.sender_id,
                group_id: sent.group_id,
            }),
            Element::Approval {
                approvals: Some(mut approvals),
                ..
            } => {
                look_at_results(&mut approvals, &mut images).await?;
                decide(&mut input, Decision::Each(approvals))?;
            }
            Element::Approval {
                approve: Some(approve),
                approval_request_id,
                reason,
                ..
            } => decide(
                &mut input,
                Decision::Whole {
                    request_id: approval_request_id,
                    approve,
                    reason,
                },
            )?,
            Element::Approval { .. } => {
                return Err(Refusal::bad_request(
                    "INVALID_ARGUMENT: an approval needs approvals, or approve",
                ));
            }
            Element::ToolReturn { mut tool_returns } => {
                look_at_results(&mut tool_returns, &mut images).await?;
                decide(&mut input, Decision::Each(tool_returns))?;
            }
        }
    }
    check(&input, agent_id)?;
    Ok(input)
}

/// Refuses what could not be stored before an agent works on it.
fn check(input: &Input, agent_id: AgentId) -> Result<(), Refusal> {
    for incoming in &input.messages {
        let message = Message {
            content: incoming.content.clone(),
            otid: incoming.otid.clone(),
            name: incoming.name.clone(),
            sender_id: incoming.sender_id.clone(),
            group_id: incoming.group_id.clone(),
            ..Message::new(agent_id, incoming.role)
        };
        expect_storable(&message).map_err(missing::stored)?;
    }
    if let Some(Decision::Each(approvals)) = &input.decision {
        let message = Message {
            approvals: approvals.clone(),
            ..Message::new(agent_id, Role::Approval)
        };
        expect_storable(&message).map_err(missing::stored)?;
        let text = serde_json::to_string(approvals).map_or(0, |text| text.len());
        if text > DECISIONS_MAX {
            return Err(Refusal::bad_request(
                "INVALID_ARGUMENT: the results and decisions of one answer have more than 3 MiB",
            ));
        }
    }
    Ok(())
}

/// Adds a decision. Decisions on single calls may come in several messages.
fn decide(input: &mut Input, decision: Decision) -> Result<(), Refusal> {
    let joined = match (input.decision.take(), decision) {
        (None, decision) => decision,
        (Some(Decision::Each(mut first)), Decision::Each(second)) => {
            first.extend(second);
            Decision::Each(first)
        }
        _ => {
            return Err(Refusal::bad_request(
                "INVALID_ARGUMENT: an approval of the older form can't be sent with others",
            ));
        }
    };
    input.decision = Some(joined);
    Ok(())
}

/// Checks the images in results that the client computed, as those of messages are. They stay as they
/// were sent, but for those of which only the address came.
async fn look_at_results(
    approvals: &mut [Approval],
    images: &mut images::Images<'_>,
) -> Result<(), Refusal> {
    for approval in approvals {
        let Approval::Tool { tool_return, .. } = approval else {
            continue;
        };
        let parts = tool_return.as_array_mut().into_iter().flatten();
        for part in parts.filter(|part| part["type"] == "image") {
            let source = ImageSource::deserialize(&part["source"]).map_err(malformed)?;
            let is_whole = matches!(source, ImageSource::Base64 { .. });
            let kept = images.kept(source).await?;
            if !is_whole {
                part["source"] = serde_json::to_value(kept).map_err(malformed)?;
            }
        }
    }
    Ok(())
}

async fn parts(content: &Value, images: &mut images::Images<'_>) -> Result<Vec<Part>, Refusal> {
    let list = match content {
        Value::String(text) => return Ok(vec![Part::text(text)]),
        Value::Array(list) => list,
        _ => return Ok(Vec::new()),
    };
    let mut parts = Vec::with_capacity(list.len());
    for item in list {
        let kind = item["type"].as_str().unwrap_or_default();
        if matches!(kind, "tool_call" | "tool_return") {
            return Err(Refusal::bad_request(format!(
                "INVALID_ARGUMENT: content of the type {kind} can't be sent; it belongs to a model's \
                 own messages"
            )));
        }
        parts.push(match Part::deserialize(item).map_err(malformed)? {
            Part::Image { source } => Part::Image {
                source: images.kept(source).await?,
            },
            other => other,
        });
    }
    Ok(parts)
}

/// Keeps the images of messages that a new agent begins with, as those of messages that are sent.
pub(crate) async fn keep_images(app: &App, messages: &mut [Incoming]) -> Result<(), Refusal> {
    let mut images = images::Images::of(app);
    for part in messages.iter_mut().flat_map(|message| &mut message.content) {
        if let Part::Image { source } = part {
            *source = images.kept(source.clone()).await?;
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
fn malformed(error: serde_json::Error) -> Refusal {
    Refusal::bad_request(format!("INVALID_ARGUMENT: a message is malformed: {error}"))
}
