//! The ids of a document: their form, that none is there twice, and that what is named is there.

use std::{collections::HashSet, fmt};

use bulkhead_store::thread::CONTEXT_MAX;

use super::{agent::FileAgent, problems::Problems, read::Document};
use crate::contract::Refusal;

/// Digits of the number in an id.
const DIGITS_MAX: usize = 18;

/// The ids of a list.
type Ids<'a> = HashSet<&'a str>;

/// Refuses a document whose ids contradict each other; with all that is wrong, 400.
pub(super) fn check(document: &Document) -> Result<(), Refusal> {
    let mut problems = Problems::default();
    let problem = &mut problems;
    let Document {
        agents,
        blocks,
        tools,
        groups,
        sources,
        files,
        mcp_servers,
    } = document;
    let known = Known {
        agents: ids(problem, "agent", agents.iter().map(|agent| &agent.names.id)),
        blocks: ids(problem, "block", blocks.iter().map(|block| &block.id)),
        tools: ids(problem, "tool", tools.iter().map(|tool| &tool.id)),
        groups: ids(problem, "group", groups.iter().map(|group| &group.id)),
        sources: ids(problem, "source", sources.iter().map(|source| &source.id)),
        files: ids(problem, "file", files.iter().map(|file| &file.id)),
    };
    let servers = mcp_servers.iter().map(|server| &server.id);
    ids(problem, "mcp_server", servers);
    for file in files {
        let names = std::iter::once(file.source_id.as_str());
        let what = Thing("File", &file.id);
        missing(problem, what, "source", names, &known.sources);
    }
    for group in groups {
        let what = Thing("Group", &group.id);
        let of_group = group.agent_ids.iter().map(String::as_str);
        let names = of_group.chain(group.manager());
        missing(problem, what, "agent", names, &known.agents);
        let names = group.shared_block_ids.iter().map(String::as_str);
        missing(problem, what, "block", names, &known.blocks);
    }
    for agent in agents {
        known.agent(problem, agent);
    }
    problems.refuse("Schema validation failed")
}

/// Something of a document, as it is named in a sentence: its kind and its id.
#[derive(Clone, Copy)]
struct Thing<'a>(&'static str, &'a str);

impl fmt::Display for Thing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

/// What a document has, by id.
struct Known<'a> {
    agents: Ids<'a>,
    blocks: Ids<'a>,
    tools: Ids<'a>,
    groups: Ids<'a>,
    sources: Ids<'a>,
    files: Ids<'a>,
}

impl Known<'_> {
    fn agent(&self, problems: &mut Problems, agent: &FileAgent) {
        let names = &agent.names;
        let what = Thing("Agent", &names.id);
        let tools = names.tools().iter().map(String::as_str);
        missing(problems, what, "tool", tools, &self.tools);
        let blocks = names.blocks().iter().map(String::as_str);
        missing(problems, what, "block", blocks, &self.blocks);
        let sources = names.sources().map(String::as_str);
        missing(problems, what, "source", sources, &self.sources);
        let groups = names.group_ids.iter().map(String::as_str);
        missing(problems, what, "group", groups, &self.groups);
        let messages = agent.messages.iter().map(|message| &message.id);
        let messages = ids(problems, "message", messages);
        let context = names.in_context_message_ids.iter().map(String::as_str);
        missing(problems, what, "message", context.clone(), &messages);
        let mut seen = HashSet::new();
        for id in context.filter(|id| !seen.insert(*id)) {
            problems.add(format_args!("{what} has message {id} in context twice"));
        }
        if names.in_context_message_ids.len() > CONTEXT_MAX {
            problems.add(format_args!(
                "{what} has more than {CONTEXT_MAX} messages in context"
            ));
        }
        for message in &agent.messages {
            let what = Thing("Message", &message.id);
            let writer = message.agent_id.iter().map(String::as_str);
            missing(problems, what, "agent", writer, &self.agents);
        }
        let attachments = agent.attachments.iter();
        ids(
            problems,
            "file_agent",
            attachments.clone().map(|attachment| &attachment.id),
        );
        for attachment in attachments {
            let what = Thing("File-agent relationship", &attachment.id);
            for (kind, id, known) in [
                ("agent", &attachment.agent_id, &self.agents),
                ("file", &attachment.file_id, &self.files),
                ("source", &attachment.source_id, &self.sources),
            ] {
                missing(problems, what, kind, std::iter::once(id.as_str()), known);
            }
        }
    }
}

/// The ids of a list, each of its kind's form and once.
fn ids<'a>(
    problems: &mut Problems,
    prefix: &str,
    ids: impl Iterator<Item = &'a String>,
) -> Ids<'a> {
    let mut known = HashSet::new();
    for id in ids {
        match id.strip_prefix(prefix).and_then(|id| id.strip_prefix('-')) {
            None => problems.add(format_args!(
                "Invalid ID format: {id} should start with '{prefix}-'"
            )),
            Some(number) if is_number(number) => {}
            Some(_) => problems.add(format_args!(
                "Invalid ID format: {id} should have integer suffix"
            )),
        }
        if !known.insert(id.as_str()) {
            problems.add(format_args!("Duplicate {prefix} ID found: {id}"));
        }
    }
    known
}

fn is_number(text: &str) -> bool {
    (1..=DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Notes what is named and not there.
fn missing<'a>(
    problems: &mut Problems,
    what: Thing<'_>,
    kind: &str,
    named: impl Iterator<Item = &'a str>,
    known: &Ids<'_>,
) {
    for id in named.filter(|id| !known.contains(id)) {
        problems.add(format_args!("{what} references non-existent {kind} {id}"));
    }
}
