//! Groups: agents that work together, and how. Of the kinds of groups the server runs one by itself:
//! that of an agent and those that look after its memory while it is idle (sleeptime).

use serde::{Deserialize, Serialize};

use crate::{
    Timestamp,
    id::{AgentId, BlockId, GroupId, MessageId},
};

/// Requests to an agent for each look at its memory, where nobody says otherwise.
pub const FREQUENCY_DEFAULT: i64 = 5;
/// Where the count of requests begins: the first one is looked at.
pub const TURNS_BEGIN: i64 = -1;

/// How the agents of a group work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagerType {
    /// In turn.
    RoundRobin,
    /// One agent asks the others.
    Supervisor,
    /// One agent says who is next.
    Dynamic,
    /// The others look after one agent's memory.
    Sleeptime,
    /// The same for an agent that speaks.
    VoiceSleeptime,
    /// Without a manager. No group of it can be made.
    Swarm,
}

impl ManagerType {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::Supervisor => "supervisor",
            Self::Dynamic => "dynamic",
            Self::Sleeptime => "sleeptime",
            Self::VoiceSleeptime => "voice_sleeptime",
            Self::Swarm => "swarm",
        }
    }
}

/// Who leads a group, and by which rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "manager_type", rename_all = "snake_case")]
pub enum Manager {
    /// Nobody: the agents take turns.
    RoundRobin {
        /// Turns of one request at most.
        #[serde(default)]
        max_turns: Option<i64>,
    },
    /// An agent that asks the others.
    Supervisor {
        /// That agent.
        manager_agent_id: AgentId,
    },
    /// An agent that says who is next.
    Dynamic {
        /// That agent.
        manager_agent_id: AgentId,
        /// By which word it ends.
        #[serde(default)]
        termination_token: Option<String>,
        /// Turns of one request at most.
        #[serde(default)]
        max_turns: Option<i64>,
    },
    /// The agent whose memory the others look after.
    Sleeptime {
        /// That agent.
        manager_agent_id: AgentId,
        /// How many requests to it there are for each time; none for every one.
        #[serde(default)]
        sleeptime_agent_frequency: Option<i64>,
    },
    /// The same of an agent that speaks.
    VoiceSleeptime {
        /// That agent.
        manager_agent_id: AgentId,
        /// Messages in its context at most.
        #[serde(default)]
        max_message_buffer_length: Option<i64>,
        /// Messages that stay in its context.
        #[serde(default)]
        min_message_buffer_length: Option<i64>,
    },
}

impl Manager {
    /// Which kind of group this makes.
    pub fn manager_type(&self) -> ManagerType {
        match self {
            Self::RoundRobin { .. } => ManagerType::RoundRobin,
            Self::Supervisor { .. } => ManagerType::Supervisor,
            Self::Dynamic { .. } => ManagerType::Dynamic,
            Self::Sleeptime { .. } => ManagerType::Sleeptime,
            Self::VoiceSleeptime { .. } => ManagerType::VoiceSleeptime,
        }
    }

    /// The agent that leads the group.
    pub fn agent_id(&self) -> Option<AgentId> {
        match self {
            Self::RoundRobin { .. } => None,
            Self::Supervisor { manager_agent_id }
            | Self::Dynamic {
                manager_agent_id, ..
            }
            | Self::Sleeptime {
                manager_agent_id, ..
            }
            | Self::VoiceSleeptime {
                manager_agent_id, ..
            } => Some(*manager_agent_id),
        }
    }

    /// Where the count of requests of such a group begins; none where nothing is counted.
    pub fn first_turn(&self) -> Option<i64> {
        let counts = matches!(
            self,
            Self::Sleeptime {
                sleeptime_agent_frequency: Some(_),
                ..
            }
        );
        counts.then_some(TURNS_BEGIN)
    }
}

/// Agents that work together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// What it is for.
    pub description: String,
    /// Who leads it.
    pub manager: Manager,
    /// Its agents, in order; the one that leads it need not be one of them.
    #[serde(default)]
    pub agent_ids: Vec<AgentId>,
    /// Blocks that its agents share.
    #[serde(default)]
    pub shared_block_ids: Vec<BlockId>,
    /// The project that it belongs to.
    #[serde(default)]
    pub project_id: Option<String>,
    /// Whether lists leave it out.
    #[serde(default)]
    pub hidden: Option<bool>,
    /// Requests to the agent that leads it, modulo their frequency.
    #[serde(default)]
    pub turns_counter: Option<i64>,
    /// The last message of that agent that the others were shown.
    #[serde(default)]
    pub last_processed_message_id: Option<MessageId>,
    /// Who made it.
    #[serde(default)]
    pub created_by_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Group {
    /// A group without agents, made now.
    pub fn new(description: impl Into<String>, manager: Manager) -> Self {
        let now = Timestamp::now();
        Self {
            id: GroupId::random(),
            description: description.into(),
            turns_counter: manager.first_turn(),
            manager,
            agent_ids: Vec::new(),
            shared_block_ids: Vec::new(),
            project_id: None,
            hidden: None,
            last_processed_message_id: None,
            created_by_id: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Counts a request to the agent that leads the group, and says whether the others are to look at
    /// what was said.
    pub fn count_turn(&mut self) -> bool {
        let Manager::Sleeptime {
            sleeptime_agent_frequency,
            ..
        } = self.manager
        else {
            return false;
        };
        let Some(frequency) = sleeptime_agent_frequency else {
            return true;
        };
        let next = self.turns_counter.unwrap_or(TURNS_BEGIN).saturating_add(1);
        let next = next.rem_euclid(frequency.max(1));
        self.turns_counter = Some(next);
        next == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(frequency: Option<i64>, requests: usize) -> Vec<bool> {
        let manager = Manager::Sleeptime {
            manager_agent_id: AgentId::random(),
            sleeptime_agent_frequency: frequency,
        };
        let mut group = Group::new("", manager);
        (0..requests).map(|_| group.count_turn()).collect()
    }

    #[test]
    fn the_first_request_is_looked_at_and_then_every_so_many() {
        assert_eq!(due(Some(3), 5), [true, false, false, true, false]);
        assert_eq!(due(None, 2), [true, true]);
        assert_eq!(due(Some(1), 2), [true, true]);
    }

    #[test]
    fn a_lower_frequency_counts_from_where_it_was() {
        let manager = |frequency| Manager::Sleeptime {
            manager_agent_id: AgentId::random(),
            sleeptime_agent_frequency: Some(frequency),
        };
        let mut group = Group::new("", manager(5));
        let first: Vec<_> = (0..4).map(|_| group.count_turn()).collect();
        assert_eq!(first, [true, false, false, false]);
        group.manager = manager(2);
        assert!(group.count_turn() && !group.count_turn() && group.count_turn());
    }

    #[test]
    fn other_groups_count_nothing() {
        let mut group = Group::new("", Manager::RoundRobin { max_turns: None });
        assert!(!group.count_turn() && group.turns_counter.is_none());
    }
}
