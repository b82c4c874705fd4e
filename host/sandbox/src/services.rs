//! The traits behind the interfaces that reach beyond the sandbox. The sandbox checks grants,
//! caps and records; an implementation only does what it is asked for.

use std::{collections::BTreeMap, fmt, sync::Arc};

use bulkhead_domain::{FuelByPhase, Outcome, Output, ToolError};
use bulkhead_policy::Limits;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::Lineage;

/// The services of one call. Without one, its interface answers `unavailable`.
#[derive(Clone, Default)]
pub struct Services {
    /// Behind `state`.
    pub state: Option<Arc<dyn StateService>>,
    /// Behind `memory`.
    pub memory: Option<Arc<dyn MemoryService>>,
    /// Behind `recall`.
    pub recall: Option<Arc<dyn RecallService>>,
    /// Behind `files`.
    pub files: Option<Arc<dyn FilesService>>,
    /// Behind `agents`.
    pub agents: Option<Arc<dyn AgentsService>>,
    /// Behind `peers`.
    pub peers: Option<Arc<dyn PeersService>>,
    /// Environment variables; the guest sees those that are granted.
    pub env: Arc<BTreeMap<String, String>>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables may hold secrets.
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

/// A value of `state` and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// The value.
    pub value: Vec<u8>,
    /// Changes with every write; never 0.
    pub version: u64,
}

/// Why `state` refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateError {
    /// Another version is there; 0 for none.
    Conflict(u64),
    /// Over a limit; the text says which.
    Quota(String),
    /// The storage failed; the text is for the guest.
    Unavailable(String),
}

/// Small durable state. `namespace` names the tool and the agent; nothing crosses it.
pub trait StateService: Send + Sync {
    /// The value of a key.
    fn get<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StateEntry>, StateError>>;
    /// Writes if the version is the expected one (none: if the key is new). Gives the new version.
    fn put<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, StateError>>;
    /// Deletes if the version is the expected one.
    fn delete<'a>(
        &'a self,
        namespace: &'a Namespace,
        key: &'a str,
        expected: u64,
    ) -> BoxFuture<'a, Result<(), StateError>>;
    /// Keys with a prefix, in the order of their bytes.
    fn keys<'a>(
        &'a self,
        namespace: &'a Namespace,
        prefix: &'a str,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StateError>>;
}

/// Whose state it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace {
    /// The tool, named so that a new version of its component keeps its state: by default
    /// `component/tool`, see [`crate::Authority`].
    pub tool: String,
    /// The agent; empty for calls without one.
    pub agent: String,
}

/// A memory block of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBlock {
    /// Its label, unique within the agent.
    pub label: String,
    /// Its text.
    pub value: String,
    /// What it is for.
    pub description: Option<String>,
    /// The most characters that it may have.
    pub limit: u32,
    /// Whether tools may not change it.
    pub read_only: bool,
    /// Changes with every write.
    pub version: u64,
}

/// Why `memory` refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryError {
    /// No block has this label.
    NotFound,
    /// The block may not be changed by tools.
    ReadOnly,
    /// More characters than this limit.
    TooLong(u32),
    /// The block has this version by now.
    Conflict(u64),
    /// The storage failed; the text is for the guest.
    Unavailable(String),
}

/// The agent's memory blocks. Labels that are not granted never reach it.
pub trait MemoryService: Send + Sync {
    /// All blocks of the agent.
    fn blocks(&self) -> BoxFuture<'_, Result<Vec<MemoryBlock>, MemoryError>>;
    /// One block.
    fn get<'a>(&'a self, label: &'a str) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>>;
    /// Writes if the block still has this version.
    fn put<'a>(
        &'a self,
        label: &'a str,
        value: String,
        version: u64,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>>;
    /// Makes a block.
    fn create<'a>(
        &'a self,
        label: &'a str,
        value: String,
        description: Option<String>,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>>;
    /// Deletes a block.
    fn delete<'a>(&'a self, label: &'a str) -> BoxFuture<'a, Result<(), MemoryError>>;
}

/// A text of the agent's archive.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was written (RFC 3339).
    pub created_at: String,
    /// How well it matches, where it was searched for.
    pub score: Option<f64>,
}

/// A message of the agent's conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// Who wrote it.
    pub role: String,
    /// Its text.
    pub text: String,
    /// When it was written (RFC 3339).
    pub created_at: String,
    /// How well it matches.
    pub score: Option<f64>,
}

/// What a search is limited to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallFilter {
    /// Tags.
    pub tags: Vec<String>,
    /// Whether all tags must be there, or any.
    pub match_all_tags: bool,
    /// Roles of turns.
    pub roles: Vec<String>,
    /// Not before (RFC 3339).
    pub since: Option<String>,
    /// Not after (RFC 3339).
    pub until: Option<String>,
    /// How many at most.
    pub limit: u32,
}

/// Why `recall` refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecallError {
    /// The question is malformed.
    Invalid(String),
    /// The storage failed; the text is for the guest.
    Unavailable(String),
}

/// The agent's archive and conversation.
pub trait RecallService: Send + Sync {
    /// Adds a passage.
    fn insert(
        &self,
        text: String,
        tags: Vec<String>,
    ) -> BoxFuture<'_, Result<Passage, RecallError>>;
    /// Searches the archive.
    fn search_archive(
        &self,
        query: String,
        filter: RecallFilter,
    ) -> BoxFuture<'_, Result<Vec<Passage>, RecallError>>;
    /// Searches the conversation.
    fn search_conversation(
        &self,
        query: Option<String>,
        filter: RecallFilter,
    ) -> BoxFuture<'_, Result<Vec<Turn>, RecallError>>;
}

/// A file that is attached to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedFile {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its media type.
    pub media_type: String,
    /// Whether its text is in the agent's context.
    pub open: bool,
}

/// Lines of a file, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileLines {
    /// None from the start.
    pub first: Option<u32>,
    /// The last one, included; none to the end.
    pub last: Option<u32>,
}

/// How a file was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedFile {
    /// What the agent sees of the file now.
    pub text: String,
    /// The lines that it saw before; none where the file was closed.
    pub previous: Option<FileLines>,
    /// Files that were closed so that no more are open than may be.
    pub closed: Vec<String>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileHit {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The text there.
    pub text: String,
    /// How well it matches.
    pub score: Option<f64>,
}

/// Why `files` refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesError {
    /// No file has this name.
    NotFound,
    /// The question is malformed.
    Invalid(String),
    /// The storage failed; the text is for the guest.
    Unavailable(String),
}

/// The files that are attached to the agent.
pub trait FilesService: Send + Sync {
    /// All files.
    fn listing(&self) -> BoxFuture<'_, Result<Vec<AttachedFile>, FilesError>>;
    /// How many files may be open at once.
    fn open_limit(&self) -> BoxFuture<'_, Result<u32, FilesError>>;
    /// Puts lines of a file into the agent's context.
    fn open<'a>(
        &'a self,
        name: &'a str,
        lines: FileLines,
    ) -> BoxFuture<'a, Result<OpenedFile, FilesError>>;
    /// Closes a file.
    fn close<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), FilesError>>;
    /// Searches by regular expression, in all files where no names are given.
    fn grep(
        &self,
        pattern: String,
        names: Vec<String>,
        context_lines: u32,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<FileHit>, FilesError>>;
    /// Searches by meaning, or by text where there is no embedding model.
    fn search(&self, query: String, limit: u32) -> BoxFuture<'_, Result<Vec<FileHit>, FilesError>>;
}

/// An answer of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReply {
    /// The agent that answered.
    pub agent_id: String,
    /// What it said.
    pub text: String,
}

/// Why `agents` refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentsError {
    /// There is no such agent.
    NotFound,
    /// It did not answer in time.
    Timeout,
    /// It failed.
    Failed(String),
    /// The service failed; the text is for the guest.
    Unavailable(String),
}

/// Messages to other agents. Ids that are not granted never reach it.
pub trait AgentsService: Send + Sync {
    /// Leaves a message and does not wait.
    fn send<'a>(
        &'a self,
        agent_id: &'a str,
        text: String,
    ) -> BoxFuture<'a, Result<(), AgentsError>>;
    /// Asks and waits.
    fn ask<'a>(
        &'a self,
        agent_id: &'a str,
        text: String,
    ) -> BoxFuture<'a, Result<AgentReply, AgentsError>>;
    /// Asks every agent whose tags match.
    fn ask_matching(
        &self,
        text: String,
        match_all: Vec<String>,
        match_some: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<AgentReply>, AgentsError>>;
}

/// A call from one tool to another.
#[derive(Debug, Clone)]
pub struct PeerRequest {
    /// The other tool.
    pub name: String,
    /// Its input, JSON text.
    pub input: String,
    /// What is left of the caller's budget; the call must stay within it.
    pub limits: Limits,
    /// What the call inherits, for [`crate::Call::lineage`]. An implementation applies its
    /// narrowing to what the other tool was granted.
    pub lineage: Lineage,
    /// Cancelled when the caller is.
    pub cancel: CancellationToken,
}

/// How a call from one tool to another ended.
#[derive(Debug, Clone)]
pub struct PeerReply {
    /// What the other tool gave.
    pub result: Result<Output, PeerError>,
    /// What it consumed; the caller pays.
    pub fuel: FuelByPhase,
}

/// Why a call from one tool to another gave no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerError {
    /// There is no such tool.
    Unknown,
    /// Too deep, or a cycle.
    Depth,
    /// The host stopped the other tool.
    Stopped(Outcome, String),
    /// The other tool failed by itself.
    Tool(ToolError),
    /// The service failed; the text is for the guest.
    Unavailable(String),
}

/// Other tools of the same caller. Names that are not granted never reach it. An
/// implementation ends in [`crate::Sandbox::call`] with the lineage and limits that it was given.
pub trait PeersService: Send + Sync {
    /// Calls another tool.
    fn call(&self, request: PeerRequest) -> BoxFuture<'_, PeerReply>;
}
