//! The system prompt: instructions, memory, rules, folders and metadata, in the sections that clients know.
//!
//! Tags, their order and the lines `- key: value` are the contract; sentences are ours.

mod base;
mod directories;

use std::fmt::Write as _;

use bulkhead_domain::{Agent, Block, RuleBook, Timestamp, block, id::ConversationId};

use crate::{clock, request::ClientSkill};

use bulkhead_store::Directory;

pub use base::instructions;

/// Where the memory goes in instructions that name a place for it.
const PLACE: &str = "{CORE_MEMORY}";

/// What is said of messages that are stored and not in the context, after their number.
const EARLIER: &str = " earlier messages between you and the user are stored in recall memory (use \
                       tools to search them)";

/// All that a system prompt is made of.
pub struct Parts<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// Its blocks, in their order.
    pub blocks: &'a [Block],
    /// None for the agent's default thread.
    pub conversation: Option<ConversationId>,
    /// Messages that are stored and not in the context.
    pub hidden_messages: u64,
    /// Passages of its archive.
    pub passages: u64,
    /// Tags of those passages.
    pub passage_tags: &'a [String],
    /// Its folders with their files.
    pub directories: &'a [Directory],
    /// Its files that are open.
    pub files_open: usize,
    /// When it was made from memory: shown as "last recompiled".
    pub at: Timestamp,
}

/// The sections of a system prompt, each without a newline at its ends; empty where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sections {
    /// `<base_instructions>`, or whatever the agent's owner wrote.
    pub instructions: String,
    /// `<memory_blocks>`.
    pub memory: String,
    /// `<tool_usage_rules>`.
    pub rules: String,
    /// `<directories>`.
    pub directories: String,
    /// `<memory_metadata>`.
    pub metadata: String,
}

impl Sections {
    /// The sections of these parts.
    pub fn of(parts: &Parts<'_>) -> Self {
        Self {
            instructions: parts.agent.system.clone(),
            memory: memory(parts.blocks),
            rules: rules(&RuleBook::new(&parts.agent.tool_rules)),
            directories: directories::section(parts.agent, parts.directories, parts.files_open),
            metadata: metadata(parts),
        }
    }

    /// The prompt of a thread whose history was dropped.
    pub(crate) fn forget_history(&mut self) {
        let kept = self.metadata.lines();
        let kept: Vec<String> = kept
            .map(|line| match line.split_once(EARLIER) {
                Some(_) => format!("- 0{EARLIER}"),
                None => line.to_owned(),
            })
            .collect();
        self.metadata = kept.join("\n");
    }

    /// The whole prompt.
    pub fn text(&self) -> String {
        let parts = [&self.memory, &self.rules, &self.directories, &self.metadata];
        let mut rest = String::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            if !rest.is_empty() {
                rest.push_str("\n\n");
            }
            rest.push_str(part);
        }
        if self.instructions.contains(PLACE) {
            // Once: each time more would multiply the prompt by its own length.
            return self.instructions.replacen(PLACE, &rest, 1);
        }
        match (self.instructions.is_empty(), rest.is_empty()) {
            (true, _) => rest,
            (_, true) => self.instructions.clone(),
            _ => format!("{}\n\n{rest}", self.instructions),
        }
    }
}

/// The section of memory blocks; empty without blocks.
fn memory(blocks: &[Block]) -> String {
    if blocks.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<memory_blocks>\nThese blocks are always in view. They are what the agent remembers of \
         itself and of others:\n\n",
    );
    for block in blocks {
        let label = &block.label;
        let described = block.description.as_deref();
        let description = described.or_else(|| block::default_description(label));
        let _ = writeln!(
            text,
            "<{label}>\n<description>\n{}\n</description>\n<metadata>",
            description.unwrap_or_default()
        );
        if block.read_only {
            text.push_str("- read_only=true\n");
        }
        let _ = writeln!(
            text,
            "- chars_current={}\n- chars_limit={}\n</metadata>\n<value>\n{}\n</value>\n</{label}>\n",
            block.value.chars().count(),
            block.limit,
            block.value
        );
    }
    text.push_str("</memory_blocks>");
    text
}

/// The section of rules; empty where no rule has a text.
fn rules(book: &RuleBook) -> String {
    let texts = book.texts();
    if texts.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<tool_usage_rules>\nThese rules say which tools may and must be used when:\n",
    );
    for rule in texts {
        let _ = write!(text, "\n<tool_rule>\n{rule}\n</tool_rule>\n");
    }
    text.push_str("</tool_usage_rules>");
    text
}

fn metadata(parts: &Parts<'_>) -> String {
    let agent = parts.agent;
    let conversation = parts
        .conversation
        .map_or_else(|| "default".to_owned(), |id| id.to_string());
    let mut text = format!(
        "<memory_metadata>\n- AGENT_ID: {}\n- CONVERSATION_ID: {conversation}\n- System prompt last \
         recompiled: {}\n- {}{EARLIER}\n",
        agent.id,
        clock::for_model(parts.at, &agent.timezone),
        parts.hidden_messages,
    );
    if parts.passages > 0 {
        let _ = writeln!(
            text,
            "- {} memories are stored in archival memory (use tools to search them)",
            parts.passages
        );
    }
    if !parts.passage_tags.is_empty() {
        let _ = writeln!(
            text,
            "- Tags in archival memory: {}",
            parts.passage_tags.join(", ")
        );
    }
    text.push_str("</memory_metadata>");
    text
}

/// Adds the instructions that a client can read for the agent, for one request.
pub(crate) fn append_skills(text: &mut String, skills: &[ClientSkill]) {
    if skills.is_empty() {
        return;
    }
    text.push_str(
        "\n\n<available_skills>\nInstructions that can be read for you, by name and place:\n",
    );
    for skill in skills {
        let _ = writeln!(
            text,
            "- {} ({}): {}",
            skill.name, skill.location, skill.description
        );
    }
    text.push_str("</available_skills>");
}

#[cfg(test)]
mod tests;
