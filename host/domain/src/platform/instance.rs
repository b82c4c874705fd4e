//! Agents in projects.

use serde::{Deserialize, Serialize};

use super::{AgentTypeId, ProjectId, Standing, UserId};
use crate::{Timestamp, id::AgentId};

/// An agent in a project. It is an agent like any other, with a place, an origin and a standing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// The agent; its id is the instance's id too.
    pub agent_id: AgentId,
    /// Where it is.
    pub project_id: ProjectId,
    /// What it was made from.
    pub agent_type_id: AgentTypeId,
    /// Its name: that of the agent. Several may have the same.
    pub name: String,
    /// Who made it.
    pub created_by: UserId,
    /// Whether it takes messages.
    pub standing: Standing,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its standing or its name changed last.
    pub updated_at: Timestamp,
    /// When it was terminated.
    #[serde(default)]
    pub terminated_at: Option<Timestamp>,
}
