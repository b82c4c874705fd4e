//! What a model can do, read from its name: the vendor's list of models does not say.

/// The least that a model's name says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model<'a> {
    name: &'a str,
    /// None for models of other vendors behind the same API.
    claude: Option<Claude<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claude<'a> {
    /// `opus`, `sonnet`, `haiku`, …; empty for the oldest ones.
    family: &'a str,
    /// Major and minor.
    version: (u32, u32),
}

/// A Claude without a version in its name is a preview, newer than all that have one.
const PREVIEW: (u32, u32) = (u32::MAX, 0);

impl<'a> Model<'a> {
    pub(crate) fn of(name: &'a str) -> Self {
        Self {
            name,
            claude: claude(name),
        }
    }

    /// Whether both names mean one model: dates and suffixes count for nothing. What one of them
    /// signed, the other takes.
    pub(crate) fn is_same(&self, other: &str) -> bool {
        match (self.claude, claude(other)) {
            (Some(own), Some(other)) => own == other,
            _ => self.name == other,
        }
    }

    pub(crate) fn is_claude(&self) -> bool {
        self.claude.is_some()
    }

    /// Whether it reasons when it is asked to.
    pub(crate) fn reasons(&self) -> bool {
        self.is_from((3, 7))
    }

    /// Whether it decides by itself how much it reasons, and takes neither a budget nor a
    /// temperature.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.is_from((4, 7))
    }

    /// Whether it can reason between calls of tools within one answer when a beta header says so.
    pub(crate) fn interleaves(&self) -> bool {
        self.is_from((4, 0))
    }

    /// Whether it takes an effort.
    pub(crate) fn takes_effort(&self) -> bool {
        self.is_from((4, 6)) || self.needs_effort_beta()
    }

    /// Whether its effort is behind a beta header.
    pub(crate) fn needs_effort_beta(&self) -> bool {
        self.claude
            .is_some_and(|claude| claude.family == "opus" && claude.version == (4, 5))
    }

    /// Whether it refuses to go on with an answer that the request begins.
    pub(crate) fn refuses_prefill(&self) -> bool {
        self.is_from((4, 6))
    }

    /// Whether it can be held to a schema.
    pub(crate) fn takes_schemas(&self) -> bool {
        self.is_from((4, 5))
    }

    /// Tokens of an answer that the vendor accepts at most, where known.
    pub(crate) fn max_output(&self) -> Option<i64> {
        let Claude { family, version } = self.claude?;
        Some(match version {
            (..3, _) | (3, 0..=4) => 4_096,
            (3, 5..=6) => 8_192,
            (4, 0..=1) if family == "opus" => 32_000,
            (3, _) | (4, 0..=5) => 64_000,
            _ => 128_000,
        })
    }

    fn is_from(&self, version: (u32, u32)) -> bool {
        self.claude.is_some_and(|claude| claude.version >= version)
    }
}

/// Reads `claude-3-7-sonnet-20250219`, `claude-opus-4-1`, `us.anthropic.claude-sonnet-4-5-v1:0`.
fn claude(name: &str) -> Option<Claude<'_>> {
    let (_, rest) = name.split_once("claude")?;
    let words = || {
        rest.split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
    };
    // Longer numbers are dates.
    let mut numbers = words()
        .filter(|word| word.len() <= 2)
        .filter_map(|word| word.parse().ok());
    let family = words()
        .find(|word| word.chars().all(|c| c.is_ascii_alphabetic()))
        .filter(|word| *word != "latest");
    Some(Claude {
        family: family.unwrap_or_default(),
        version: match (numbers.next(), numbers.next()) {
            (Some(major), minor) => (major, minor.unwrap_or(0)),
            (None, _) => PREVIEW,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_family_and_version() {
        for (name, family, version) in [
            ("claude-2.1", "", (2, 1)),
            ("claude-3-opus-20240229", "opus", (3, 0)),
            ("claude-3-7-sonnet-latest", "sonnet", (3, 7)),
            ("claude-sonnet-4-20250514", "sonnet", (4, 0)),
            ("claude-opus-4-1-20250805", "opus", (4, 1)),
            ("us.anthropic.claude-haiku-4-5-v1:0", "haiku", (4, 5)),
            ("claude-mythos-preview", "mythos", PREVIEW),
        ] {
            assert_eq!(claude(name), Some(Claude { family, version }), "{name}");
        }
        assert_eq!(claude("MiniMax-M2"), None);
    }

    #[test]
    fn a_date_makes_no_other_model_and_another_version_does() {
        let model = Model::of("claude-sonnet-4-0");
        assert!(model.is_same("claude-sonnet-4-20250514"));
        assert!(!model.is_same("claude-sonnet-4-5"));
        assert!(!model.is_same("claude-opus-4-0"));
        assert!(Model::of("MiniMax-M2").is_same("MiniMax-M2"));
        assert!(!Model::of("MiniMax-M2").is_same("claude-sonnet-4-0"));
    }
}
