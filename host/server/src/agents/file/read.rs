//! Bytes as a document: every part of it has the contract's schema then. Nothing is known of what
//! its ids name.

use bulkhead_domain::EmbeddingConfig;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

use super::{
    AGENTS_MAX, BYTES_MAX, ENTRIES_MAX, MESSAGES_MAX, PIECE_BYTES_MAX,
    agent::{self, Attachment, FileAgent, FileBlock},
    message::FileMessage,
    pieces::{AgentPieces, Lists, Pieces},
    problems::Problems,
    tool::FileTool,
};
use crate::contract::{
    Refusal,
    body::{self, Schema},
};

/// What bytes are that are no document.
const CORRUPTED: &str = "Corrupted agent file format.";
/// What a document is that has another form.
const LEGACY: &str = "Legacy AgentSchema format is deprecated. Please use the new AgentFileSchema \
                      format with 'agents' field.";

/// A document that was read.
pub(crate) struct Document {
    pub(super) agents: Vec<FileAgent>,
    pub(super) blocks: Vec<FileBlock>,
    pub(super) tools: Vec<FileTool>,
    pub(super) groups: Vec<Group>,
    pub(super) sources: Vec<Source>,
    pub(super) files: Vec<File>,
    pub(super) mcp_servers: Vec<McpServer>,
}

/// Agents that work together.
#[derive(Debug, Deserialize)]
pub(super) struct Group {
    pub(super) id: String,
    pub(super) agent_ids: Vec<String>,
    #[serde(default)]
    pub(super) shared_block_ids: Vec<String>,
    pub(super) description: String,
    pub(super) hidden: Option<bool>,
    /// Who leads it, by a local id; none where they take turns.
    pub(super) manager_config: Option<Value>,
}

impl Group {
    /// The agent that leads it.
    pub(super) fn manager(&self) -> Option<&str> {
        self.manager_config.as_ref()?["manager_agent_id"].as_str()
    }
}

/// A folder.
#[derive(Debug, Deserialize)]
pub(super) struct Source {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) instructions: Option<String>,
    pub(super) metadata: Option<Value>,
    pub(super) embedding: Option<String>,
    pub(super) embedding_chunk_size: Option<i64>,
    pub(super) embedding_config: Option<EmbeddingConfig>,
}

/// A file of a folder.
#[derive(Deserialize)]
pub(super) struct File {
    pub(super) id: String,
    pub(super) source_id: String,
    pub(super) file_name: Option<String>,
    pub(super) original_file_name: Option<String>,
    pub(super) file_type: Option<String>,
    pub(super) file_size: Option<i64>,
    pub(super) content: Option<String>,
}

/// A server of tools.
#[derive(Debug, Deserialize)]
pub(super) struct McpServer {
    pub(super) id: String,
    pub(super) server_name: String,
    pub(super) server_url: Option<String>,
}

/// Instructions for clients. They stay in the file.
#[derive(Debug, Deserialize)]
struct Skill {}

macro_rules! schemas {
    ($($name:ident = $schema:literal;)*) => {$(
        impl Schema for $name {
            const NAME: &str = $schema;
        }
    )*};
}

schemas! {
    Group = "AgentFileGroup";
    Source = "AgentFileSource";
    File = "AgentFileFile";
    McpServer = "AgentFileMcpServer";
    Skill = "AgentFileSkill";
}

/// Reads a file, [`BYTES_MAX`] bytes at most. It takes as long as parsing that much does: not for a
/// thread that others wait for.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, Refusal> {
    let corrupted = || Refusal::bad_request(CORRUPTED);
    let text = std::str::from_utf8(bytes).map_err(|_| corrupted())?;
    let text = text.trim_ascii();
    // Clients that got the document as a text write it as one.
    let unwrapped: String;
    let text = match text.starts_with('"') {
        false => text,
        true => {
            unwrapped = serde_json::from_str(text).map_err(|_| corrupted())?;
            unwrapped.trim_ascii()
        }
    };
    if text.len() > BYTES_MAX {
        return Err(corrupted());
    }
    if !text.starts_with('{') {
        return Err(match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Refusal::bad_request(LEGACY),
            Err(_) => corrupted(),
        });
    }
    let lists: Lists<'_> = serde_json::from_str(text).map_err(|_| corrupted())?;
    let agents = lists.agents.filter(|agents| agents.get().starts_with('['));
    let agents = agents.ok_or_else(|| Refusal::bad_request(LEGACY))?;
    let mut reader = Reader::default();
    let document = Document {
        agents: reader.agents(agents),
        blocks: reader.required("blocks", lists.blocks),
        tools: reader.required("tools", lists.tools),
        groups: reader.required("groups", lists.groups),
        sources: reader.required("sources", lists.sources),
        files: reader.required("files", lists.files),
        mcp_servers: reader.required("mcp_servers", lists.mcp_servers),
    };
    if let Some(skills) = lists.skills {
        reader.list::<Skill>("skills", skills);
    }
    reader.problems.refuse("Invalid agent file")?;
    Ok(document)
}

/// Reads parts of a document, and notes what is wrong with them.
#[derive(Default)]
struct Reader {
    problems: Problems,
    /// Messages of the agents until now.
    messages: usize,
}

impl Reader {
    fn required<T: Schema>(&mut self, name: &str, list: Option<&RawValue>) -> Vec<T> {
        let Some(list) = list else {
            self.problems.add(format!("{name}: Field required"));
            return Vec::new();
        };
        self.list(name, list)
    }

    fn list<T: Schema>(&mut self, name: &str, list: &RawValue) -> Vec<T> {
        match serde_json::from_str::<Pieces<'_, ENTRIES_MAX>>(list.get()) {
            Ok(pieces) => self.pieces(name, &pieces.0),
            Err(error) => {
                self.problems.add(format!("{name}: {error}"));
                Vec::new()
            }
        }
    }

    fn pieces<T: Schema>(&mut self, place: &str, pieces: &[&RawValue]) -> Vec<T> {
        let pieces = pieces.iter().enumerate();
        let read = pieces.filter_map(|(at, piece)| {
            let place = format!("{place}.{at}");
            let value = self.value(&place, piece)?;
            let value = self.checked(&place, T::NAME, &value)?;
            self.typed(&place, serde_json::from_value(value))
        });
        read.collect()
    }

    fn agents(&mut self, list: &RawValue) -> Vec<FileAgent> {
        let pieces = match serde_json::from_str::<Pieces<'_, AGENTS_MAX>>(list.get()) {
            Ok(pieces) => pieces.0,
            Err(error) => {
                self.problems.add(format!("agents: {error}"));
                return Vec::new();
            }
        };
        let agents = pieces.iter().enumerate();
        let read = agents.filter_map(|(at, piece)| self.agent(&format!("agents.{at}"), piece));
        read.collect()
    }

    fn agent(&mut self, place: &str, piece: &RawValue) -> Option<FileAgent> {
        let pieces = serde_json::from_str::<AgentPieces<'_>>(piece.get());
        let pieces = self.typed(place, pieces)?;
        self.messages = self.messages.saturating_add(pieces.messages.0.len());
        if self.messages > MESSAGES_MAX {
            let text = format!("{place}.messages: the file has more than {MESSAGES_MAX} messages");
            self.problems.add(text);
            return None;
        }
        let messages = format!("{place}.messages");
        let messages: Vec<FileMessage> = self.pieces(&messages, &pieces.messages.0);
        let attachments = format!("{place}.files_agents");
        let attachments: Vec<Attachment> = self.pieces(&attachments, &pieces.files_agents.0);
        let value = Value::Object(pieces.fields);
        let value = self.checked(place, agent::SCHEMA, &value)?;
        let read = FileAgent::read(value, messages, attachments);
        self.typed(place, read)
    }

    fn value(&mut self, place: &str, piece: &RawValue) -> Option<Value> {
        if piece.get().len() > PIECE_BYTES_MAX {
            let text = format!("{place}: it has more than {PIECE_BYTES_MAX} bytes");
            self.problems.add(text);
            return None;
        }
        self.typed(place, serde_json::from_str(piece.get()))
    }

    fn checked(&mut self, place: &str, schema: &str, value: &Value) -> Option<Value> {
        match body::checked(schema, value) {
            Ok(value) => Some(value),
            Err(faults) => {
                for fault in faults {
                    self.problems.add(fault.summary(place));
                }
                None
            }
        }
    }

    fn typed<T>(&mut self, place: &str, read: Result<T, serde_json::Error>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(error) => {
                self.problems.add(format!("{place}: {error}"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(bytes: &[u8]) -> String {
        match read(bytes) {
            Err(Refusal::Contract(status, body)) => {
                assert_eq!(status, 400);
                body["detail"].as_str().expect("a text").to_owned()
            }
            Err(Refusal::Native(rejection)) => panic!("{rejection:?}"),
            Ok(_) => panic!("it is refused"),
        }
    }

    fn empty() -> Value {
        json!({
            "agents": [], "groups": [], "blocks": [], "files": [], "sources": [], "tools": [],
            "mcp_servers": [],
        })
    }

    #[test]
    fn what_is_no_document_is_told_in_the_words_that_clients_know() {
        for bytes in [
            &b""[..],
            b"{",
            b"\xff\xfe",
            b"not JSON",
            b"\"{\"",
            b"[1,",
            b"{} {}",
            b"{\"agents\": [], \"agents\": []}",
        ] {
            assert_eq!(refused(bytes), CORRUPTED, "{bytes:?}");
        }
        for text in [
            "{}",
            "[]",
            "[[], [], [], [], [], [], [], []]",
            "7",
            "null",
            "\"{}\"",
            r#"{"agents": null}"#,
            r#"{"agents": {}, "tools": []}"#,
        ] {
            assert_eq!(refused(text.as_bytes()), LEGACY, "{text}");
        }
        assert!(read(empty().to_string().as_bytes()).is_ok());
    }

    #[test]
    fn a_document_that_is_a_text_in_json_is_unwrapped_once() {
        let text = json!(empty().to_string()).to_string();
        assert!(read(text.as_bytes()).is_ok());
        let twice = json!(text).to_string();
        assert_eq!(refused(twice.as_bytes()), LEGACY);
    }

    #[test]
    fn the_messages_of_all_agents_are_counted_together() {
        let mut reader = Reader {
            messages: MESSAGES_MAX - 1,
            ..Reader::default()
        };
        let agent = r#"{ "id": "agent-0", "messages": [7] }"#;
        let agent: &RawValue = serde_json::from_str(agent).expect("a piece");
        let _ = reader.agent("agents.0", agent);
        assert!(reader.agent("agents.1", agent).is_none());
        let Err(Refusal::Contract(_, body)) = reader.problems.refuse("Wrong") else {
            panic!("it is refused in the contract's words");
        };
        let text = body["detail"].as_str().expect("a text");
        assert!(text.starts_with("Wrong: agents.0.messages.0: "), "{text}");
        let expected = "; agents.1.messages: the file has more than 100000 messages";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn everything_that_is_wrong_is_told_with_its_place_and_without_what_was_sent() {
        let mut document = empty();
        if let Some(fields) = document.as_object_mut() {
            fields.remove("groups");
        }
        document["tools"] = json!([{ "id": "tool-0", "secret": "hunter2" }, 5]);
        document["files"] = json!({});
        document["agents"] = json!([
            { "name": "a" },
            { "id": "agent-1", "messages": [{ "id": "message-0", "content": "hunter2" }] },
            { "id": "agent-2", "messages": [
                { "id": "message-0", "role": "function", "content": "" },
            ] },
        ]);
        let text = refused(document.to_string().as_bytes());
        for expected in [
            "Invalid agent file: ",
            "groups: Field required",
            "tools.0.secret: Extra inputs are not permitted",
            "tools.1: Input should be a valid dictionary",
            "files: invalid type: map, expected a list",
            "agents.0.id: Field required",
            "agents.1.messages.0.role: Field required",
            "agents.2.messages.0: unknown variant `function`",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        assert!(!text.contains("hunter2"), "{text}");
    }
}
