//! Messages as they are stored: what a user wrote, what a model answered, what tools gave back.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Timestamp,
    id::{AgentId, ConversationId, MessageId, RunId, StepId},
};

/// Who a stored message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The system prompt, or a message that was sent with this role.
    System,
    /// A person, or a notice to the model in a person's place.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
    /// A request for approval (with `tool_calls`) or the answer to one (with `approvals`).
    Approval,
    /// What is left of messages that were taken out of the context.
    Summary,
}

impl Role {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Approval => "approval",
            Self::Summary => "summary",
        }
    }
}

/// A piece of a message's content. The JSON form is that of the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What a provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// An image.
    Image {
        /// Where it is.
        source: ImageSource,
    },
    /// A model's reasoning in the clear.
    Reasoning {
        /// Whether the model reasons by itself, as opposed to being told to think aloud.
        is_native: bool,
        /// The text.
        reasoning: String,
        /// What the provider wants back with it.
        #[serde(default)]
        signature: Option<String>,
    },
    /// Reasoning that only the provider can read.
    RedactedReasoning {
        /// The provider's own form.
        data: String,
    },
    /// Reasoning that the provider did not show.
    OmittedReasoning {
        /// What the provider wants back.
        #[serde(default)]
        signature: Option<String>,
    },
    /// A summary of reasoning, and the reasoning itself in the provider's own form.
    SummarizedReasoning {
        /// The provider's id of it.
        id: String,
        /// The parts of the summary.
        summary: Vec<SummaryPart>,
        /// What the provider wants back.
        #[serde(default)]
        encrypted_content: Option<String>,
    },
}

impl Part {
    /// A text without a signature.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            signature: None,
        }
    }

    /// Whether it is reasoning of any form.
    pub fn is_reasoning(&self) -> bool {
        !matches!(self, Self::Text { .. } | Self::Image { .. })
    }
}

/// One part of a summary of reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryPart {
    /// Its place, from 0.
    pub index: u32,
    /// The text.
    pub text: String,
}

/// Where an image is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ImageSource {
    /// On the web.
    Url {
        /// Its address.
        url: String,
    },
    /// In the message.
    Base64 {
        /// For example `image/png`.
        media_type: String,
        /// Base64.
        data: String,
        /// `low`, `high` or `auto`.
        #[serde(default)]
        detail: Option<String>,
    },
    /// In this server; the data stands beside the id.
    Letta {
        /// `file-<uuid>`.
        file_id: String,
        /// For example `image/png`.
        #[serde(default)]
        media_type: Option<String>,
        /// Base64.
        #[serde(default)]
        data: Option<String>,
        /// `low`, `high` or `auto`.
        #[serde(default)]
        detail: Option<String>,
    },
}

/// A model's wish to call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON text as the model wrote it; may be no JSON at all.
    pub arguments: String,
    /// What the provider wants back with it (Gemini's thought signature).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The tool by which older types of agents speak.
pub const SPEAKING_TOOL: &str = "send_message";
/// Its argument that has the text.
pub const SPEAKING_ARGUMENT: &str = "message";

impl ToolCall {
    /// The text of a call of [`SPEAKING_TOOL`].
    fn said(&self) -> Option<String> {
        if self.name != SPEAKING_TOOL {
            return None;
        }
        let mut arguments: Map<String, Value> = serde_json::from_str(&self.arguments).ok()?;
        match arguments.remove(SPEAKING_ARGUMENT) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

/// How a tool call ended, for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// It gave a result.
    Success,
    /// It did not.
    Error,
}

/// The result of one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolReturn {
    /// The call that it answers.
    pub tool_call_id: String,
    /// The tool.
    pub name: String,
    /// Whether it succeeded.
    pub status: ToolStatus,
    /// The text that clients are shown, already cut at the tool's limit.
    pub text: String,
    /// What the model reads: JSON text with `status`, `message` and `time`.
    pub packed: String,
    /// What was printed; none for tools that print nothing.
    #[serde(default)]
    pub stdout: Option<Vec<String>>,
    /// What was printed to the error stream.
    #[serde(default)]
    pub stderr: Option<Vec<String>>,
    /// Text and images, where a client computed the result itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<Part>>,
    /// The receipt of the call, where something ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_id: Option<crate::id::ReceiptId>,
}

/// One decision on a waiting tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Approval {
    /// A person's word.
    Approval {
        /// The call.
        tool_call_id: String,
        /// Whether it may run.
        approve: bool,
        /// Why.
        #[serde(default)]
        reason: Option<String>,
    },
    /// A result that the client computed itself.
    Tool {
        /// The call.
        tool_call_id: String,
        /// A text, or a list of parts.
        tool_return: Value,
        /// Whether it succeeded.
        status: ToolStatus,
        /// What was printed.
        #[serde(default)]
        stdout: Option<Vec<String>>,
        /// What was printed to the error stream.
        #[serde(default)]
        stderr: Option<Vec<String>>,
    },
}

impl Approval {
    /// The call that it decides.
    pub fn tool_call_id(&self) -> &str {
        match self {
            Self::Approval { tool_call_id, .. } | Self::Tool { tool_call_id, .. } => tool_call_id,
        }
    }
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The agent whose history it is in.
    pub agent_id: AgentId,
    /// None for the agent's default thread.
    #[serde(default)]
    pub conversation_id: Option<ConversationId>,
    /// The request that it belongs to.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// The step that made or consumed it.
    #[serde(default)]
    pub step_id: Option<StepId>,
    /// Who it is from.
    pub role: Role,
    /// Text, images and reasoning.
    #[serde(default)]
    pub content: Vec<Part>,
    /// Calls that the model wants (roles assistant and approval).
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// Results (role tool).
    #[serde(default)]
    pub tool_returns: Vec<ToolReturn>,
    /// Decisions (role approval).
    #[serde(default)]
    pub approvals: Vec<Approval>,
    /// The client's own id of a message that it sent.
    #[serde(default)]
    pub otid: Option<String>,
    /// A name of its author.
    #[serde(default)]
    pub name: Option<String>,
    /// Who sent it: an identity or an agent.
    #[serde(default)]
    pub sender_id: Option<String>,
    /// The group that it was sent to.
    #[serde(default)]
    pub group_id: Option<String>,
    /// The model that wrote it.
    #[serde(default)]
    pub model: Option<String>,
    /// Whether it stands for a failed step.
    #[serde(default)]
    pub is_err: Option<bool>,
    /// When it arrived, or when its step began.
    pub created_at: Timestamp,
}

impl Message {
    /// An empty message of this role, made now.
    pub fn new(agent_id: AgentId, role: Role) -> Self {
        Self {
            id: MessageId::random(),
            agent_id,
            conversation_id: None,
            run_id: None,
            step_id: None,
            role,
            content: Vec::new(),
            tool_calls: Vec::new(),
            tool_returns: Vec::new(),
            approvals: Vec::new(),
            otid: None,
            name: None,
            sender_id: None,
            group_id: None,
            model: None,
            is_err: None,
            created_at: Timestamp::now(),
        }
    }

    /// A message of one text.
    pub fn text(agent_id: AgentId, role: Role, text: impl Into<String>) -> Self {
        Self {
            content: vec![Part::text(text)],
            ..Self::new(agent_id, role)
        }
    }

    /// Its texts, joined by blank lines; no reasoning, no images.
    pub fn plain_text(&self) -> String {
        let mut joined = String::new();
        for part in &self.content {
            if let Part::Text { text, .. } = part {
                if !joined.is_empty() {
                    joined.push_str("\n\n");
                }
                joined.push_str(text);
            }
        }
        joined
    }

    /// What the agent says with it: its texts, and those of its calls of [`SPEAKING_TOOL`], joined by
    /// blank lines. A call that waits has said nothing yet.
    pub fn spoken(&self) -> String {
        let mut spoken = self.plain_text();
        if self.role != Role::Assistant {
            return spoken;
        }
        for text in self.tool_calls.iter().filter_map(ToolCall::said) {
            if !spoken.is_empty() {
                spoken.push_str("\n\n");
            }
            spoken.push_str(&text);
        }
        spoken
    }

    /// Whether it is a request for approval, or for results of tools that the client runs.
    pub fn is_approval_request(&self) -> bool {
        self.role == Role::Approval && !self.tool_calls.is_empty()
    }
}
