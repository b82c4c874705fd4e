//! Every line of SQL, for SQLite and Postgres: components, grants, credentials, tools, what their
//! sandboxes are given, tool state and receipts. Both databases behave the same and run the same
//! tests.
//!
//! # One set of queries, two drivers
//!
//! Every statement is written once, with `$n` placeholders, and runs on sqlx's own SQLite and
//! Postgres drivers behind one small enum (`sql/`). Decided on the hardest query first: a
//! filter put together at run time with NULLs, blobs, and an upsert with RETURNING.
//!
//! - sqlx's `Any` driver runs that query on both and needs no enum. It was not taken: on
//!   SQLite it copies every value and row once more (20 MB in and out: 600 ms, the own driver
//!   340 ms; 2,000 point reads: 183 ms and 120 ms), it cannot read a BOOLEAN there, and its
//!   query builder writes `?`, which Postgres refuses. Its transactions count their depth,
//!   which on SQLite a full disk leaves wrong for good (see `sql/transaction.rs`).
//! - sea-query writes SQL for either database from a model of it. Nothing here differs
//!   but the types of columns, and those are in the migrations.
//! - The enum costs a `match` in a few functions. For it a NULL keeps its type, SQLite
//!   has a connection of its own for writing, transactions begin as the database needs it, and
//!   errors keep the database's code.
//!
//! What makes both behave the same: text that is compared or sorted has the collation "C"; keys
//! of tool state are bytes; NUL is refused where Postgres could not store it; points in time are
//! microseconds in a BIGINT; documents are JSON as text; uniqueness, locking and versions are
//! rows and constraints that both have.
//!
//! # What a commit survives
//!
//! Postgres does as its server is set. SQLite runs in WAL mode with one connection that writes
//! and a few that read, and syncs by what the commit is about. What a person did (components,
//! grants and above all their revocation, credentials, tools) is synced before it is
//! acknowledged, and survives a loss of power (`synchronous = FULL`); so are secrets of agents and
//! every deletion of an agent, a block or an identity. What calls do (tool state, receipts) and
//! what programs make by the hundred (agents, blocks, identities) survives a crash of this process
//! at once, and a loss of power from the next sync on (`synchronous = NORMAL`): the last ones may
//! be gone then, in order, and the database is whole.
//!
//! # Map
//!
//! - [`store`]: opening; [`key`]: the installation's key; [`error`].
//! - [`component`], [`grant`], [`credential`], [`state`], [`receipt`]: a file a noun, with its
//!   SQL.
//! - [`tool`], [`package_set`]: tools as clients know them, and what their requirements were
//!   resolved to; [`sandbox_type`], [`sandbox_config`], [`sandbox_variable`]: what all tools of
//!   one kind of sandbox are given.
//! - [`agent`], [`block`], [`identity`]: agents with all that hangs on them; [`paging`]: pages of
//!   their lists; [`group`]: agents that work together.
//! - [`receipt_writer`]: many receipts in one commit, off the path of calls.
//! - [`message`], [`conversation`], [`thread`]: what was said, and what of it a model sees;
//!   [`run`], [`step`]: what agents did; the commit of a step ([`Store::commit_step`]).
//! - [`archive`], [`passage`]: texts that agents look up; [`provider`]: providers of models.
//! - [`mcp_server`]: servers of tools that speak MCP, and the tools that they bring.
//! - [`user`], [`session`], [`agent_type`], [`project`], [`instance`]: the platform; [`numbered`]:
//!   pages of its lists; [`usage`]: what agents used; [`owner`]: whose things are.
//! - `sql`: drivers, transactions, migrations; `seal`: encryption; [`check`]: limits; `fold`,
//!   `search`: text as it is searched.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

pub mod agent;
pub mod agent_type;
pub mod archive;
pub mod block;
pub mod check;
pub mod component;
pub mod conversation;
pub mod credential;
pub mod error;
mod fold;
pub mod folder;
pub mod grant;
pub mod group;
pub mod identity;
pub mod instance;
pub mod key;
pub mod mcp_server;
pub mod message;
pub mod numbered;
pub mod owner;
pub mod package_set;
pub mod paging;
pub mod passage;
pub mod project;
pub mod provider;
pub mod receipt;
pub mod receipt_writer;
pub mod run;
pub mod sandbox_config;
pub mod sandbox_type;
pub mod sandbox_variable;
mod seal;
mod search;
pub mod session;
mod sql;
pub mod state;
pub mod step;
pub mod store;
#[doc(hidden)]
pub mod testing;
pub mod thread;
pub mod tool;
mod upserted;
pub mod usage;
pub mod user;

/// Boxes an async function, so that this crate compiles what it does. The body of one that is not
/// boxed is compiled by every crate that awaits it, once more.
pub(crate) use async_recursion::async_recursion as compiled_here;

pub use agent::{AgentFilter, AgentOrder, AgentRelations, EquippedAgent, NewAgent, TagFilter};
pub use agent_type::AgentTypeFilter;
pub use archive::{ArchiveAgentsFilter, ArchiveFilter};
pub use block::BlockFilter;
pub use check::{PAGE_DEFAULT, PAGE_MAX};
pub use component::{ComponentFilter, ComponentRecord, ComponentStatus, NewComponent, Standing};
pub use conversation::{ConversationFilter, ConversationOrder};
pub use credential::{Credential, CredentialSecret, NewCredential};
pub use error::{Result, StoreError};
pub use folder::{
    Added, AgentFileFilter, Directory, DuplicateFile, FilePassageFilter, FilePassageSearch,
    FileWork, FolderAgentsFilter, FolderFileFilter, FolderFilter, FolderSize, NewFile, Opened,
};
pub use grant::{Grant, GrantFilter};
pub use group::{GroupFilter, GroupRelations, NewSleeptime, SleeptimeTurn};
pub use identity::{IdentityFilter, IdentityRelations};
pub use instance::{InstanceFilter, InstanceRecord};
pub use key::{InstallationKey, KeyError};
pub use mcp_server::{
    McpSecrets, McpServerRecord, McpTransport, NewMcpServer, NewMcpTool, SyncedTools,
};
pub use message::{MessageFilter, MessageSearch, ThreadFilter};
pub use numbered::NumberedPage;
pub use package_set::{NewPackageSet, PackageSet, PackageSetFilter};
pub use paging::Paging;
pub use passage::{PassageFilter, PassageSearch};
pub use project::{MemberRecord, ProjectFilter};
pub use provider::{NewProvider, ProviderChange, ProviderFilter, ProviderKeys, ProviderRecord};
pub use receipt::ReceiptFilter;
pub use receipt_writer::ReceiptWriter;
pub use run::{
    Ahead, Asking, Comparison, RunEvent, RunFilter, RunMetrics, RunOrder, RunUpdate, RunWork,
    ToolUsed, Turn, Why,
};
pub use sandbox_config::{NewSandboxConfig, SandboxConfig, SandboxConfigFilter};
pub use sandbox_type::SandboxType;
pub use sandbox_variable::{NewSandboxVariable, SandboxVariable};
pub use session::Rotation;
pub use sql::Options;
pub use state::{StateEntry, StateNamespace};
pub use step::{Committed, ContextChange, StepCommit, StepFilter, SystemContent};
pub use store::Store;
pub use thread::Disagreement;
pub use tool::{ComponentTool, McpTool, NewTool, ToolFilter, ToolRecord, ToolType};
pub use upserted::Upserted;
pub use usage::{AgentUsage, ModelUsage, UsageOf};
pub use user::{PasswordOutcome, UserFilter};
