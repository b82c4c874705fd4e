//! Plain types of the agent server and the rules on them: no I/O, no SQL, no HTTP, no wasm.
//!
//! - [`digest`]: SHA-256 content addresses of components, inputs, outputs and grants.
//! - [`id`]: prefixed identifiers such as `receipt-<uuid>`.
//! - [`tool`]: what a tool says of itself: name, description, schemas, hints.
//! - [`content`]: what a tool gives back, or the failure that it reports.
//! - [`outcome`]: how a call ended, as the host saw it; a guest cannot forge one.
//! - [`receipt`]: what one call did and consumed.
//! - [`agent`], [`block`], [`message`], [`model`], [`run`]: agents and what they remember and do.
//! - [`identity`]: to whom agents and blocks belong. [`group`]: agents that work together.
//! - [`tool_rule`]: which tools an agent may and must call when; [`rule_book`]: what that means.
//! - [`conversation`]: further threads of an agent; [`archive`]: texts that agents look up.
//! - [`folder`]: collections of files that agents read.
//! - [`platform`]: people, types of agents, projects and the agents in them.
//! - [`timestamp`]: RFC 3339 points in time, as the API writes them.

pub mod agent;
pub mod archive;
pub mod block;
pub mod content;
pub mod conversation;
pub mod digest;
pub mod folder;
pub mod group;
pub mod id;
pub mod identity;
pub mod message;
pub mod model;
pub mod outcome;
pub mod platform;
pub mod receipt;
pub mod rule_book;
pub mod run;
pub mod timestamp;
pub mod tool;
pub mod tool_rule;

pub use agent::{Agent, AgentSecret, AgentType};
pub use archive::{Archive, Passage};
pub use block::{Block, BlockChange};
pub use content::{Content, Output, Problem, ToolError, Upstream};
pub use conversation::Conversation;
pub use digest::{Digest, Hasher};
pub use folder::{AgentFile, FilePassage, FileStatus, Folder, FolderFile};
pub use group::{Group, Manager, ManagerType};
pub use id::Id;
pub use identity::{Identity, IdentityProperty, IdentityPropertyType, IdentityType};
pub use message::{
    Approval, ImageSource, Message, Part, Role, SPEAKING_ARGUMENT, SPEAKING_TOOL, ToolCall,
    ToolReturn, ToolStatus,
};
pub use model::{CompactionMode, CompactionSettings, EmbeddingConfig, LlmConfig};
pub use outcome::Outcome;
pub use receipt::{Denial, FuelByPhase, HostCall, HostCallOutcome, Receipt};
pub use rule_book::RuleBook;
pub use run::{Run, RunStatus, Step, StepMetrics, StepStatus, StopReason, Trace, Usage};
pub use timestamp::Timestamp;
pub use tool::{Annotations, ToolInfo};
pub use tool_rule::{RuleKind, ToolRule};
