//! An agent as a file: one JSON document with the agent, its memory, its tools and its history,
//! which any server of the contract reads. Nothing in it has an id of a database: what refers to
//! something else does so by local ids (`tool-0`, `message-12`).
//!
//! - [`message`], `content`, [`tool`], [`agent`]: the shapes that the document is made of.
//! - [`export`]: an agent as a document. [`document`]: what is written;
//!   `folders`: its folders.
//! - [`read`]: bytes as a document whose every part has its schema, or all that is wrong with it;
//!   `pieces`: how it is taken apart, so that no part is built in memory before its size is known.
//!   `problems`: what is wrong. [`references`]: ids, and what they name.
//! - [`import`]: a document as agents of this server.
//!
//! Limits: a file has [`BYTES_MAX`] bytes, [`AGENTS_MAX`] agents, [`ENTRIES_MAX`] entries in every
//! other list, [`MESSAGES_MAX`] messages. Every entry has [`PIECE_BYTES_MAX`] bytes.

pub(crate) mod agent;
mod content;
pub(crate) mod document;
pub(crate) mod export;
mod folders;
pub(crate) mod import;
pub(crate) mod message;
mod pieces;
mod problems;
pub(crate) mod read;
mod references;
pub(crate) mod tool;

/// Bytes of a file: the histories of years, and small enough to be held in memory.
pub(crate) const BYTES_MAX: usize = 64 << 20;
/// Agents of one file. Files of one agent, or of a few that work together, are what is written.
pub(crate) const AGENTS_MAX: usize = 100;
/// Entries of any other list of a file: as many blocks as the store makes at once, and as many
/// tools as an agent may have.
pub(crate) const ENTRIES_MAX: usize = 1_000;
/// Messages of all agents of a file. Each takes some hundred bytes in memory, however short it is.
pub(crate) const MESSAGES_MAX: usize = 100_000;
/// Bytes of one entry: as many as the store takes of a message. An agent is measured without its
/// messages.
pub(crate) const PIECE_BYTES_MAX: usize = 8 << 20;
