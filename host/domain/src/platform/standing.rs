//! Whether an agent takes messages.

use serde::{Deserialize, Serialize};

use crate::run::{UnknownWord, spelled};

/// Whether an agent takes messages, by a person's decision. Agents that are in no project are
/// always active.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It does.
    #[default]
    Active,
    /// It does not until somebody resumes it.
    Paused,
    /// It never will again.
    Terminated,
}

impl Standing {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Terminated => "terminated",
        }
    }

    /// The standings from which a person may come to this one. There is no way back from
    /// [`Standing::Terminated`].
    pub fn reached_from(self) -> &'static [Self] {
        match self {
            Self::Active => &[Self::Paused],
            Self::Paused => &[Self::Active],
            Self::Terminated => &[Self::Active, Self::Paused],
        }
    }
}

spelled! {
    Standing, "standing of an agent";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_reached_from_the_end_or_from_itself() {
        for standing in [Standing::Active, Standing::Paused, Standing::Terminated] {
            assert_eq!(standing.as_str().parse(), Ok(standing));
            let from = standing.reached_from();
            assert!(!from.contains(&Standing::Terminated) && !from.contains(&standing));
        }
    }
}
