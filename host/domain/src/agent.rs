//! Agents as they are stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CompactionSettings, EmbeddingConfig, LlmConfig, StopReason, Timestamp, ToolRule,
    id::{AgentId, AgentSecretId, MessageId},
    platform::Standing,
};

/// Which loop, prompt and tools an agent begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentType {
    /// The first loop: speaks by `send_message`.
    MemgptAgent,
    /// The same with the newer memory tools.
    MemgptV2Agent,
    /// The current loop.
    #[default]
    LettaV1Agent,
    /// No base tools.
    ReactAgent,
    /// No base tools, and no memory from one request to the next.
    WorkflowAgent,
    /// Refused at creation.
    SplitThreadAgent,
    /// Rewrites another agent's memory in the background.
    SleeptimeAgent,
    /// Short answers.
    VoiceConvoAgent,
    /// Its companion.
    VoiceSleeptimeAgent,
}

impl AgentType {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MemgptAgent => "memgpt_agent",
            Self::MemgptV2Agent => "memgpt_v2_agent",
            Self::LettaV1Agent => "letta_v1_agent",
            Self::ReactAgent => "react_agent",
            Self::WorkflowAgent => "workflow_agent",
            Self::SplitThreadAgent => "split_thread_agent",
            Self::SleeptimeAgent => "sleeptime_agent",
            Self::VoiceConvoAgent => "voice_convo_agent",
            Self::VoiceSleeptimeAgent => "voice_sleeptime_agent",
        }
    }

    /// Whether it speaks by calling `send_message`, and goes on only where a call or rule says so.
    pub fn is_legacy(self) -> bool {
        !matches!(self, Self::LettaV1Agent | Self::SleeptimeAgent)
    }
}

/// An agent without its relations (blocks, tools, tags, secrets, identities).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its name; several may have the same.
    pub name: String,
    /// Which loop and prompt it uses.
    pub agent_type: AgentType,
    /// Its base instructions.
    pub system: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Whatever its owner noted.
    #[serde(default)]
    pub metadata: Option<Value>,
    /// The messages that its model sees, in order; the system message is the first.
    #[serde(default)]
    pub message_ids: Vec<MessageId>,
    /// Its model.
    pub llm_config: LlmConfig,
    /// Its embedding model; without one, search is by text.
    #[serde(default)]
    pub embedding_config: Option<EmbeddingConfig>,
    /// How its context is kept within the window.
    #[serde(default)]
    pub compaction_settings: Option<CompactionSettings>,
    /// The form of its answers.
    #[serde(default)]
    pub response_format: Option<Value>,
    /// Which tools it may and must call when.
    #[serde(default)]
    pub tool_rules: Vec<ToolRule>,
    /// Whether it forgets everything before each request.
    #[serde(default)]
    pub message_buffer_autoclear: bool,
    /// Whether another agent rewrites its memory in the background.
    #[serde(default)]
    pub enable_sleeptime: Option<bool>,
    /// The zone of the times that it is told, an IANA name.
    #[serde(default = "utc")]
    pub timezone: String,
    /// Files that may be open at once.
    #[serde(default)]
    pub max_files_open: Option<i64>,
    /// Characters of an open file that it sees.
    #[serde(default)]
    pub per_file_view_window_char_limit: Option<i64>,
    /// Whether lists leave it out.
    #[serde(default)]
    pub hidden: Option<bool>,
    /// Why its last run ended.
    #[serde(default)]
    pub last_stop_reason: Option<StopReason>,
    /// The vendor's cloud: when its last run ended.
    #[serde(default)]
    pub last_run_completion: Option<Timestamp>,
    /// The vendor's cloud: how long its last run took.
    #[serde(default)]
    pub last_run_duration_ms: Option<i64>,
    /// When its system message was made from its memory last.
    pub recompiled_at: Timestamp,
    /// The project that it belongs to.
    #[serde(default)]
    pub project_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub template_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub base_template_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub deployment_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub entity_id: Option<String>,
    /// Handles of the models that are asked in this order where its own one fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback_models: Vec<String>,
    /// Whether it takes messages. No part of the document: it is a column of its own, which
    /// pausing, resuming and terminating alone change.
    #[serde(skip)]
    pub standing: Standing,
    /// Who made it.
    #[serde(default)]
    pub created_by_id: Option<String>,
    /// Who changed it last.
    #[serde(default)]
    pub last_updated_by_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// A variable that the tools of one agent see.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSecret {
    /// Its id.
    pub id: AgentSecretId,
    /// The agent.
    pub agent_id: AgentId,
    /// The variable's name.
    pub key: String,
    /// Its value.
    pub value: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl std::fmt::Debug for AgentSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentSecret")
            .field("agent_id", &self.agent_id)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
