//! What hangs on an agent, and which of it an answer carries.

use super::client::Client;
use crate::contract::query::Query;

/// Which relations an answer carries; the others are empty in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relations(u8);

impl Relations {
    pub(crate) const NONE: Self = Self(0);
    /// Its memory: its blocks, and what it sees of files.
    pub(crate) const BLOCKS: Self = Self(1);
    /// Its tools.
    pub(crate) const TOOLS: Self = Self(1 << 1);
    /// Its tags.
    pub(crate) const TAGS: Self = Self(1 << 2);
    /// What its tools see in their environment.
    pub(crate) const SECRETS: Self = Self(1 << 3);
    /// To whom it belongs.
    pub(crate) const IDENTITIES: Self = Self(1 << 4);
    /// The request that waits for a decision. No answer has it unless it is asked for.
    pub(crate) const PENDING_APPROVAL: Self = Self(1 << 5);
    /// Its folders.
    pub(crate) const FOLDERS: Self = Self(1 << 6);
    /// The group that it leads.
    pub(crate) const GROUP: Self = Self(1 << 7);
    /// What answers to changes carry, and all answers to older clients.
    pub(crate) const ALL: Self = Self(0b1101_1111);

    /// These and those.
    #[must_use]
    pub(crate) fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether all of `others` are among these.
    pub(crate) fn have(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// The words of `include`.
const INCLUDES: &[(&str, Relations)] = &[
    ("agent.blocks", Relations::BLOCKS),
    ("agent.identities", Relations::IDENTITIES),
    ("agent.managed_group", Relations::GROUP),
    ("agent.pending_approval", Relations::PENDING_APPROVAL),
    ("agent.secrets", Relations::SECRETS),
    ("agent.sources", Relations::FOLDERS),
    ("agent.tags", Relations::TAGS),
    ("agent.tools", Relations::TOOLS),
];

/// The words of `include_relationships`; it takes others too, which mean nothing.
const OLDER: &[(&str, Relations)] = &[
    ("blocks", Relations::BLOCKS),
    ("memory", Relations::BLOCKS),
    ("identities", Relations::IDENTITIES),
    ("identity_ids", Relations::IDENTITIES),
    ("managed_group", Relations::GROUP),
    ("multi_agent_group", Relations::GROUP),
    ("pending_approval", Relations::PENDING_APPROVAL),
    ("secrets", Relations::SECRETS),
    ("tool_exec_environment_variables", Relations::SECRETS),
    ("sources", Relations::FOLDERS),
    ("tags", Relations::TAGS),
    ("tools", Relations::TOOLS),
];

/// What a query says of relations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    include: Relations,
    /// None where the client does not know that parameter.
    older: Option<Relations>,
}

impl Asked {
    pub(crate) fn of(query: &mut Query) -> Self {
        let include = query.literals("include", INCLUDES).unwrap_or_default();
        let include = include.into_iter().fold(Relations::NONE, Relations::and);
        let older = query.texts("include_relationships").map(|words| {
            let known = words.iter().filter_map(|word| {
                let entry = OLDER.iter().find(|(name, _)| name == word);
                entry.map(|(_, relations)| *relations)
            });
            known.fold(Relations::NONE, Relations::and)
        });
        Self { include, older }
    }

    /// What the answer carries. Older clients get everything unless they name what they want.
    pub(crate) fn by(self, client: Client) -> Relations {
        let default = match client.is_legacy {
            true => Relations::ALL,
            false => Relations::NONE,
        };
        self.older.unwrap_or(default).and(self.include)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_clients_get_everything_unless_they_name_what_they_want() {
        let current = Client { is_legacy: false };
        let legacy = Client { is_legacy: true };
        let asked = |include, older| Asked { include, older };
        let nothing = asked(Relations::NONE, None);
        assert_eq!(nothing.by(current), Relations::NONE);
        assert_eq!(nothing.by(legacy), Relations::ALL);
        let tools = asked(Relations::NONE, Some(Relations::TOOLS));
        assert_eq!(tools.by(legacy), Relations::TOOLS);
        let waiting = asked(Relations::PENDING_APPROVAL, None).by(legacy);
        assert!(waiting.have(Relations::ALL) && waiting.have(Relations::PENDING_APPROVAL));
        assert!(!Relations::ALL.have(Relations::PENDING_APPROVAL));
    }
}
