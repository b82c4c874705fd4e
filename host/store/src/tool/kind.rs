//! The types of tools that the API names.

use serde::{Deserialize, Serialize};

/// Where a tool comes from, in the words of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolType {
    /// Saved by a client.
    Custom,
    /// Conversation and archive.
    LettaCore,
    /// Blocks of memory.
    LettaMemoryCore,
    /// Messages to other agents.
    LettaMultiAgentCore,
    /// Memory, for agents that work while others wait.
    LettaSleeptimeCore,
    /// The same for agents that speak.
    LettaVoiceSleeptimeCore,
    /// Code and the web.
    LettaBuiltin,
    /// Files of attached folders.
    LettaFilesCore,
    /// From LangChain; a name that is kept for clients.
    ExternalLangchain,
    /// From Composio; a name that is kept for clients.
    ExternalComposio,
    /// Of an MCP server.
    ExternalMcp,
}

impl ToolType {
    /// Every type.
    pub const ALL: [Self; 11] = [
        Self::Custom,
        Self::LettaCore,
        Self::LettaMemoryCore,
        Self::LettaMultiAgentCore,
        Self::LettaSleeptimeCore,
        Self::LettaVoiceSleeptimeCore,
        Self::LettaBuiltin,
        Self::LettaFilesCore,
        Self::ExternalLangchain,
        Self::ExternalComposio,
        Self::ExternalMcp,
    ];

    /// The stable name, as the database and the API write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Custom => "custom",
            Self::LettaCore => "letta_core",
            Self::LettaMemoryCore => "letta_memory_core",
            Self::LettaMultiAgentCore => "letta_multi_agent_core",
            Self::LettaSleeptimeCore => "letta_sleeptime_core",
            Self::LettaVoiceSleeptimeCore => "letta_voice_sleeptime_core",
            Self::LettaBuiltin => "letta_builtin",
            Self::LettaFilesCore => "letta_files_core",
            Self::ExternalLangchain => "external_langchain",
            Self::ExternalComposio => "external_composio",
            Self::ExternalMcp => "external_mcp",
        }
    }

    /// Whether the server itself provides tools of this type.
    pub fn is_letta(self) -> bool {
        self.as_str().starts_with("letta_")
    }
}

/// What no type of tool is called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tool's type is one of {}", ToolType::ALL.map(ToolType::as_str).join(", "))]
pub struct ParseToolTypeError;

impl std::str::FromStr for ToolType {
    type Err = ParseToolTypeError;

    fn from_str(text: &str) -> Result<Self, ParseToolTypeError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(ParseToolTypeError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_written_the_same_everywhere_and_reads_back() {
        for kind in ToolType::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            let written = serde_json::to_value(kind).unwrap();
            assert_eq!(written, kind.as_str());
            assert_eq!(serde_json::from_value::<ToolType>(written).unwrap(), kind);
        }
        let error = "Custom".parse::<ToolType>().unwrap_err().to_string();
        assert!(error.contains("custom, letta_core"), "{error}");
    }
}
